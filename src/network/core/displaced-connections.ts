import { NETWORK_LIMITS } from '../../config/limits/network.ts'

/**
 * Connections that peers closed for another one of this node, while this process has none: another process runs with the node's
 * key. A single one may have another cause.
 */
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
