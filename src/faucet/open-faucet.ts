import { CodedError } from '@tandem/base/errors.ts'
import { DEVNET_FAUCET, type FaucetCaps, PUBLIC_FAUCET } from '../config/limits/faucet.ts'
import { allowsFaucet, type NetworkParams } from '../config/networks.ts'
import { FaucetService, type FaucetServiceOptions } from './faucet-service.ts'
import { GrantStore } from './grant-store.ts'
import { createFaucetAccount } from './transfer.ts'

type OpenFaucetError =
  /** Its tokens are worth something. */
  | { readonly code: 'FAUCET_ON_MAINNET'; readonly chainId: number }
  | { readonly code: 'FAUCET_WRONG_CHAIN'; readonly chainId: number; readonly expected: number }

interface OpenFaucetOptions extends Pick<FaucetServiceOptions, 'node' | 'clock' | 'logger' | 'metrics'> {
  /** Network whose tokens are given away; development chains may have another chain id. */
  readonly params: Pick<NetworkParams, 'faucet' | 'chainId' | 'devHelpers' | 'baseFee'>
  readonly privateKey: Uint8Array
  readonly storePath: string
  /** Caps other than those of the network's policy. */
  readonly caps?: FaucetCaps
  readonly onFatal: (error: Error) => void
}

/** Throws FAUCET_ON_MAINNET. */
export const checkFaucetNetwork = (params: Pick<NetworkParams, 'faucet' | 'chainId'>): void => {
  if (allowsFaucet(params)) return
  throw new CodedError<OpenFaucetError>({ code: 'FAUCET_ON_MAINNET', chainId: params.chainId })
}

/** Opens the store and starts the sender. Throws CodedError<OpenFaucetError>, errors of the store and of the node. */
export const openFaucet = async (options: OpenFaucetOptions): Promise<FaucetService> => {
  const { params, node, privateKey, storePath, caps } = options
  checkFaucetNetwork(params)
  const chainId = await node.chainId()
  checkFaucetNetwork({ faucet: true, chainId })
  if (chainId !== params.chainId)
    throw new CodedError<OpenFaucetError>({ code: 'FAUCET_WRONG_CHAIN', chainId, expected: params.chainId })
  const account = createFaucetAccount(privateKey, chainId)
  const genesisHash = await node.genesisHash()
  const service = new FaucetService({
    ...options,
    account,
    store: new GrantStore({ path: storePath, genesisHash, sender: account.address }),
    policy: { ...(params.devHelpers ? DEVNET_FAUCET : PUBLIC_FAUCET), ...caps },
    floorWei: params.baseFee.lowerBoundWei,
  })
  service.start()
  return service
}
