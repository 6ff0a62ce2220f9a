import { NETWORK_LIMITS } from '../../config/limits/network.ts'

/** Connections closed for another of this node while this process has none: more than one shows a second process with its key. */
export class DisplacedConnections {
  #ends: readonly number[] = []
  #toldMs = Number.NEGATIVE_INFINITY

  /** Adds one, and returns whether it is time to tell a person. */
  add(nowMs: number): boolean {
    const { displaced, displacedMs, displacedNoticeMs } = NETWORK_LIMITS
    this.#ends = [...this.#ends.filter(endMs => nowMs - endMs < displacedMs), nowMs].slice(-displaced)
    if (this.#ends.length < displaced || nowMs - this.#toldMs < displacedNoticeMs) return false
    this.#toldMs = nowMs
    return true
  }
}
/** One of two connections between the same two nodes. */
interface DuplicateConnection {
  /** Opened by the other side. */
  readonly inbound: boolean
  /** Process id of the other side, random at each start. */
  readonly instance: string
}

/**
 * Decides which of two connections between the same nodes stays. When both dialed at once, both keep the one opened by the node
 * with the lower id: both sides see both connections and choose alike. When one side opened both, or the other side restarted, the
 * old connection is dead and the new one stays.
 */
export const keepsNewConnection = (
  ids: { readonly self: string; readonly peer: string },
  old: DuplicateConnection,
  fresh: DuplicateConnection,
): boolean => {
  if (old.instance !== fresh.instance || old.inbound === fresh.inbound) return true
  return fresh.inbound === ids.peer < ids.self
}
