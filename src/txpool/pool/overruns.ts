import type { Hex } from '@tandem/base/bytes.ts'
import { Lru } from '@tandem/base/lru.ts'
import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import { POOL_LIMITS } from '../../config/limits/pool.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'

/** Sender of a heavy transaction that was stopped. */
interface Overrun {
  /** Time with which its next heavy transaction may run at once, milliseconds. */
  readonly neededMs: number
  /** Time from which a block tries it in any case, unix milliseconds. */
  readonly untilMs: number
}

/** True for a transaction that may take much of a block's time: only these wait after an overrun of their sender. */
export const isHeavy = ({ gasLimit }: Transaction): boolean => gasLimit > BUILD_LIMITS.lightGas

/** True for a transaction that its gas does not end in the time of a block: it may be stopped each time, and then never pays. */
export const mayNeverPay = ({ gasLimit }: Transaction): boolean =>
  Number(gasLimit) * BUILD_LIMITS.msPerMillionGas > BUILD_LIMITS.buildMs * 1e6

/**
 * Senders whose heavy transactions were stopped while this node built a block. After a stop the sender's next one needs twice the time, and
 * waits in proportion to it: so a sender costs a small share of the builds, whatever hashes, nonces and prices it uses. A block that can give
 * the time tries it at once: nobody waits because the time of a block had shrunk, or was used up by others.
 */
export class Overruns {
  readonly #senders = new Lru<Hex, Overrun>(POOL_LIMITS.overrunSenders)

  /** Number of senders that are remembered. */
  get size(): number {
    return this.#senders.size
  }

  /** The sender's transaction was stopped after so much processor time. */
  add(sender: Hex, ranMs: number, nowMs: number): void {
    const neededMs = 2 * Math.max(ranMs, this.neededMs(sender, nowMs))
    const waitMs = Math.min(neededMs * POOL_LIMITS.overrunWait, POOL_LIMITS.overrunWaitMs)
    this.#senders.set(sender, { neededMs, untilMs: nowMs + waitMs })
  }

  /** Returns the least time with which a heavy transaction of the sender may run now, milliseconds. */
  neededMs(sender: Hex, nowMs: number): number {
    const overrun = this.#senders.get(sender)
    return overrun === undefined || overrun.untilMs <= nowMs ? 0 : overrun.neededMs
  }

  clear(): void {
    this.#senders.clear()
  }
}
