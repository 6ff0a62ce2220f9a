import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import { NETWORK_PROTOCOL_VERSION } from '../../network/messages/messages.ts'
import { openNodeKey } from '../../network/transport/node-key.ts'
import type { NodeInfo } from '../../rpc/ports.ts'
import type { NodeOptions } from '../options.ts'
import { clientVersion } from '../version.ts'

/** Returns what the node states about itself. `network` is omitted for a node without peers, which listens for clients only. */
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

/** Key of the node on the network, in its data folder. */
export const nodeKeyFile = (dataDir: string): string => join(dataDir, 'node-key.pem')

/** Returns the operator's address: the named one, that of the validator key, or one derived from the node key; never zero. */
export const operatorAddress = async ({
  coinbase,
  validatorKey = null,
  dataDir,
}: Pick<NodeOptions, 'dataDir'> & Partial<Pick<NodeOptions, 'coinbase' | 'validatorKey'>>): Promise<Hex> => {
  if (coinbase !== undefined) return coinbase
  if (validatorKey !== null) return addressFromPrivateKey(validatorKey)
  const { publicKey } = await openNodeKey(nodeKeyFile(dataDir))
  // The last 20 bytes of the hash, as for an account. Nobody can spend from it.
  return bytesToHex(keccak256(publicKey).subarray(12))
}
