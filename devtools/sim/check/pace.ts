import { CONSENSUS_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import type { Plan } from '../plan/plan.ts'

/** Instant mode has a request so often, and messages and disks take their time. */
const REST_MS = 1_000

/**
 * How long a block may take where slow blocks and transactions are all that is wrong: as many rounds as Byzantine members can be the proposers of in
 * a row, and two rounds for the honest one after them. However long their blocks take to execute, it does not count.
 */
export class Pace {
  readonly #boundMs: number
  #sinceMs = 0

  constructor({ byzantine, blockTimeMs, roundTimeoutMs }: Plan) {
    const { maxTimeoutExponent, timeoutCapMs } = CONSENSUS_BOUNDS
    let boundMs = Math.max(blockTimeMs, 1_000) + REST_MS
    for (let round = 0; round < byzantine.length + 2; round++)
      boundMs += Math.min(roundTimeoutMs * 2 ** Math.min(round, maxTimeoutExponent), timeoutCapMs)
    this.#boundMs = boundMs
  }

  decided(nowMs: number): void {
    this.#sinceMs = nowMs
  }

  /** Returns the fault at this time, if any. */
  lateAt(nowMs: number): string | undefined {
    const tookMs = nowMs - this.#sinceMs
    return tookMs > this.#boundMs ? `${Math.round(tookMs)} ms, the bound is ${this.#boundMs} ms` : undefined
  }
}
