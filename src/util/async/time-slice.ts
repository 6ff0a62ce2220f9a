import { FairQueue } from './fair-queue.ts'

/** Milliseconds of work per event-loop turn before other work runs. */
const TURN_MS = 10
/** Work of one owner in a turn that never waits, so that light requests do not stand behind the heavy work of others. */
const LIGHT_MS = 1
/** Milliseconds of a turn after which light work waits too: owners may be many. */
const LONGEST_MS = 3 * TURN_MS

/** Owner of work that no client asked for. */
const NODE = ''

/** Shares the time of a thread among owners of work (docs/design/rpc.md#time-of-the-main-thread). */
export class TimeSlices {
  readonly #nowMs: () => number
  readonly #waiting = new FairQueue<() => void>()
  /** Milliseconds of each owner in the current turn. */
  readonly #spent = new Map<string, number>()
  #isOpen = false
  #startedMs = 0
  /** Owner at work since `#sinceMs`, as far as owners say. */
  #current = NODE
  #sinceMs = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /**
   * Returns a promise to await before more work in this turn; undefined while there is time. Owners that wait continue in rotation, one in
   * each turn of the event loop; an owner that has done next to nothing in this turn does not wait. The time until the next call, by any
   * owner, counts as the owner's.
   */
  over(owner: string): Promise<void> | undefined {
    const nowMs = this.#nowMs()
    this.#open(nowMs)
    const elapsedMs = nowMs - this.#startedMs
    const hasTime = elapsedMs < TURN_MS || (elapsedMs < LONGEST_MS && (this.#spent.get(owner) ?? 0) < LIGHT_MS)
    this.#current = hasTime ? owner : NODE
    return hasTime ? undefined : this.#queued(owner)
  }

  /** Resolves in a later turn, the owner's: for work that may take the whole of it. */
  next(owner: string): Promise<void> {
    this.#open(this.#nowMs())
    return this.#queued(owner)
  }

  #queued(owner: string): Promise<void> {
    return new Promise(resolve => this.#waiting.push(owner, resolve))
  }

  #open(nowMs: number): void {
    if (this.#isOpen) this.#spent.set(this.#current, (this.#spent.get(this.#current) ?? 0) + nowMs - this.#sinceMs)
    else {
      this.#isOpen = true
      this.#startedMs = nowMs
      setImmediate(this.#endTurn)
    }
    this.#sinceMs = nowMs
  }

  /** Ends a turn. The next one begins with the owner that has waited longest, if any. */
  readonly #endTurn = (): void => {
    this.#spent.clear()
    this.#startedMs = this.#sinceMs = this.#nowMs()
    const next = this.#waiting.shift(() => true)
    this.#current = next?.owner ?? NODE
    if (next === undefined) {
      this.#isOpen = false
      return
    }
    setImmediate(this.#endTurn)
    next.item()
  }
}

const slices = new TimeSlices(() => performance.now())

/** Returns a promise to await before more work in this turn of the event loop; undefined while there is time (TimeSlices.over). */
export const sliceOver = (owner = NODE): Promise<void> | undefined => slices.over(owner)

/** Resolves in a turn of the event loop that is the owner's (TimeSlices.next). */
export const nextSlice = (owner = NODE): Promise<void> => slices.next(owner)
