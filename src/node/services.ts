import { sign } from '../crypto/signature.ts'
import type { NodeInfo, Wallet, WalletError } from '../rpc/ports.ts'
import type { Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import { clientVersion } from './version.ts'

/** Version of the protocol between nodes, answered by native_protocolVersion. */
export const PROTOCOL_VERSION = 1

/** Keys the operator unlocked; every other account is unknown (SPEC 4.1, point 7). */
export const createWallet = (
  unlocked: readonly { readonly address: Hex; readonly privateKey: Uint8Array }[],
  impersonates: (account: Hex) => boolean = () => false,
): Wallet => {
  const keys = new Map(unlocked.map(({ address, privateKey }) => [address, privateKey]))
  return {
    accounts: () => [...keys.keys()],
    impersonates,
    sign(address, digest) {
      const key = keys.get(address)
      if (key === undefined) throw new CodedError<WalletError>({ code: 'UNKNOWN_ACCOUNT', address })
      return sign(digest, key)
    },
  }
}

export const nodeInfo = (coinbase: Hex, clientName?: string): NodeInfo => ({
  clientVersion,
  ...(clientName !== undefined && { web3ClientVersion: `${clientName}/${clientVersion}` }),
  protocolVersion: PROTOCOL_VERSION,
  coinbase,
  // Peers come with the network; until then a node stands alone and listens for clients only.
  peerCount: () => 0,
  listening: () => true,
})
