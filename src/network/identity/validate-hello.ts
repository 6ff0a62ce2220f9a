import type { Hex } from '@tandem/base/bytes.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import type { ChainDomain, Hello } from '../wire/control.ts'
import type { ForkFilter } from './fork-id.ts'
import { isValidProof } from './validator-proof.ts'

/** Context of this side for the validation of a hello. */
export interface HelloContext {
  readonly domain: ChainDomain
  readonly forks: ForkFilter
  readonly selfId: string
  readonly head: number
  /** Node id that the other end proved. */
  readonly nodeId: string
  /** Id of the dialed node; null: the other side dialed. */
  readonly dialed: string | null
  readonly binding: Uint8Array
}

export interface HelloRefusal {
  readonly reason: DisconnectReason
  readonly detail: string
}

const refuse = (reason: DisconnectReason, detail: string): HelloRefusal => ({ reason, detail })
const differs = (reason: DisconnectReason, got: Hex | number, want: Hex | number): HelloRefusal =>
  refuse(reason, `got ${got}, want ${want}`)

/** Returns the reason for refusing a hello; cheap checks first, the signature last. */
export const validateHello = (hello: Hello, scene: HelloContext): HelloRefusal | undefined => {
  const { domain, forks, selfId, nodeId, dialed, binding, head } = scene
  if (hello.nodeId !== nodeId) return refuse('wrongIdentity', `says ${hello.nodeId}, proved ${nodeId}`)
  if (nodeId === selfId) return refuse('self', 'it is this node')
  if (dialed !== null && dialed !== nodeId) return refuse('wrongIdentity', `dialed ${dialed}, got ${nodeId}`)
  if (hello.chainId !== domain.chainId) return differs('wrongChain', hello.chainId, domain.chainId)
  if (hello.genesisHash !== domain.genesisHash) return differs('wrongGenesis', hello.genesisHash, domain.genesisHash)
  if (!forks.accepts({ hash: hello.forkHash, next: hello.forkNext }, head)) {
    const own = forks.at(head)
    return refuse('wrongForks', `got ${hello.forkHash}/${hello.forkNext}, have ${own.hash}/${own.next}`)
  }
  if (hello.proof !== null && !isValidProof(hello.proof, domain, nodeId, binding)) {
    return refuse('badProof', `not signed by ${hello.proof.address} for this connection`)
  }
  return undefined
}
