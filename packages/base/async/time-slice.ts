import { FairQueue } from './fair-queue.ts'

/** Milliseconds of work per event-loop turn before other work runs. */
const TURN_MS = 10
/** Work of one owner in a turn that never waits, so that light requests do not stand behind the heavy work of others. */
const LIGHT_MS = 4
/** Milliseconds of a turn after which light work waits too: owners may be many. */
const LONGEST_MS = 10 * TURN_MS

/** Owner of work that no client asked for. */
const NODE = ''

interface Waiting {
  readonly resume: () => void
  /** It may take the whole of a turn. */
  readonly isLong: boolean
}

/** Shares the time of a thread among owners of work (docs/design/rpc.md#time-of-the-main-thread). */
export class TimeSlices {
  readonly #nowMs: () => number
  readonly #waiting = new FairQueue<Waiting>()
  /** Milliseconds of each owner in the current turn. */
  readonly #spent = new Map<string, number>()
  #isOpen = false
  /** Long work has begun in this turn. */
  #hasLong = false
  #startedMs = 0
  /** Owner at work since `#sinceMs`, as far as owners say. */
  #current = NODE
  #sinceMs = 0
  readonly #onEnd = new Set<() => void>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Calls `listener` at the end of each turn in which there was work. */
  onTurnEnd(listener: () => void): void {
    this.#onEnd.add(listener)
  }

  /**
   * Returns a promise to await before more work in this turn; undefined while there is time. Owners that wait continue in rotation, as far
   * as the next turns have time; an owner that has done next to nothing in a turn does not wait for the others in it. The time until the
   * next call, by any owner, counts as the owner's.
   */
  over(owner: string): Promise<void> | undefined {
    const nowMs = this.#nowMs()
    this.#open(nowMs)
    const hasTime = this.#hasTime(owner, nowMs)
    this.#current = hasTime ? owner : NODE
    return hasTime ? undefined : this.#queued(owner, false)
  }

  /** Resolves in a later turn, in which no other long work begins: for work that may take the whole of it. */
  next(owner: string): Promise<void> {
    this.#open(this.#nowMs())
    return this.#queued(owner, true)
  }

  #queued(owner: string, isLong: boolean): Promise<void> {
    return new Promise(resume => this.#waiting.push(owner, { resume, isLong }))
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

  /** Ends a turn. The next one begins with what has waited. */
  readonly #endTurn = (): void => {
    for (const listener of this.#onEnd) listener()
    this.#spent.clear()
    this.#startedMs = this.#sinceMs = this.#nowMs()
    this.#current = NODE
    this.#hasLong = false
    if (this.#waiting.isEmpty) {
      this.#isOpen = false
      return
    }
    setImmediate(this.#endTurn)
    this.#continueNext()
  }

  /** Lets those that wait continue one after the other, in rotation of owners, as long as the turn has time for any of them. */
  readonly #continueNext = (): void => {
    const nowMs = this.#nowMs()
    this.#open(nowMs)
    const next = this.#waiting.shift((owner, { isLong }) => !(isLong && this.#hasLong) && this.#hasTime(owner, nowMs))
    this.#current = next?.owner ?? NODE
    if (next === undefined) return
    this.#hasLong ||= next.item.isLong
    next.item.resume()
    // After the work of the one that continues, which runs in microtasks.
    queueMicrotask(() => process.nextTick(this.#continueNext))
  }

  #hasTime(owner: string, nowMs: number): boolean {
    const elapsedMs = nowMs - this.#startedMs
    return elapsedMs < TURN_MS || (elapsedMs < LONGEST_MS && (this.#spent.get(owner) ?? 0) < LIGHT_MS)
  }
}

const slices = new TimeSlices(() => performance.now())

/** Returns a promise to await before more work in this turn of the event loop; undefined while there is time (TimeSlices.over). */
export const sliceOver = (owner = NODE): Promise<void> | undefined => slices.over(owner)

/** Resolves in a turn of the event loop that is the owner's (TimeSlices.next). */
export const nextSlice = (owner = NODE): Promise<void> => slices.next(owner)

/** Calls `listener` at the end of each turn of the event loop in which there was work (TimeSlices.onTurnEnd). */
export const onTurnEnd = (listener: () => void): void => slices.onTurnEnd(listener)
