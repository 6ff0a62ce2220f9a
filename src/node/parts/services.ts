import { signTypedData } from '../../crypto/keys/typed-data.ts'
import { sign } from '../../crypto/signature.ts'
import { NETWORK_PROTOCOL_VERSION } from '../../network/messages.ts'
import type { NodeInfo, Wallet, WalletError } from '../../rpc/ports.ts'
import type { Hex } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import { clientVersion } from '../version.ts'

/** Wallet of the keys the operator unlocked; every other account is unknown (docs/interface.md#authentication). */
export const createWallet = (
  unlocked: readonly { readonly address: Hex; readonly privateKey: Uint8Array }[],
  impersonates: (account: Hex) => boolean = () => false,
): Wallet => {
  const keys = new Map(unlocked.map(({ address, privateKey }) => [address, privateKey]))
  const keyOf = (address: Hex): Uint8Array => {
    const key = keys.get(address)
    if (key === undefined) throw new CodedError<WalletError>({ code: 'UNKNOWN_ACCOUNT', address })
    return key
  }
  return {
    accounts: () => [...keys.keys()],
    impersonates,
    sign: (address, digest) => sign(digest, keyOf(address)),
    signTyped: async (address, data) => signTypedData(data, keyOf(address)),
  }
}

/** `network` is omitted for a node without peers, which listens for clients only. */
export const nodeInfo = (
  coinbase: Hex,
  clientName?: string,
  network?: { readonly peerCount: number; readonly isListening: boolean },
): NodeInfo => ({
  clientVersion,
  ...(clientName !== undefined && { web3ClientVersion: `${clientName}/${clientVersion}` }),
  protocolVersion: NETWORK_PROTOCOL_VERSION,
  coinbase,
  peerCount: () => network?.peerCount ?? 0,
  listening: () => network?.isListening ?? true,
})
