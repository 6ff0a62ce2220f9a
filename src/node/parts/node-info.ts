import type { Hex } from '@tandem/base/bytes.ts'
import { NETWORK_PROTOCOL_VERSION } from '../../network/messages/messages.ts'
import type { NodeInfo } from '../../rpc/ports.ts'
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
