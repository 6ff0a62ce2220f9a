/**
 * Persist before send (docs/design/consensus.md#write-ahead-log): outgoing messages wait here until everything logged so far is durable.
 * All records of one event-loop turn share one sync of the log.
 *
 * The watermark follows the log, and messages leave when both are durable: a last batch that cannot be read any more then shows as a log
 * that is behind. Not at the same time: ahead of a log whose batch was never written, the watermark would look like a lost log.
 *
 * Cost: a committee of one proposes, receives its own votes and decides in one turn, so its proposal, prepare, commit and decision are one
 * batch: one wait per height. With others, the proposer's proposal and prepare share one, its commit and the decision take one each.
 */
interface Syncable {
  readonly isDirty: boolean
  /** Takes the waiting records; the returned function writes them and resolves when they are durable. Later records are not part of it. */
  take(): () => Promise<void>
}

export class GroupCommit {
  readonly #log: Syncable
  readonly #watermark: Syncable
  readonly #onError: (error: Error) => void
  #waiting: (() => void)[] = []
  #hold: (() => Promise<void>) | null = null
  #flushing: Promise<void> | null = null
  #closed = false

  constructor(log: Syncable, watermark: Syncable, onError: (error: Error) => void) {
    this.#log = log
    this.#watermark = watermark
    this.#onError = onError
  }

  push(action: () => void): void {
    this.#waiting.push(action)
  }

  /** Delays the waiting actions, and those pushed before the next flush: they are made durable as usual, and then also wait for `until`. */
  hold(until: () => Promise<void>): void {
    this.#hold = until
  }

  /** Called at the end of a turn. Actions run in order; immediately when there is nothing to make durable. */
  flush(): void {
    if (this.#flushing !== null || this.#waiting.length === 0 || this.#closed) return
    if (!this.#log.isDirty && !this.#watermark.isDirty && this.#hold === null) {
      this.#take().release()
      return
    }
    this.#flushing = this.#drain().finally(() => {
      this.#flushing = null
      this.flush()
    })
  }

  /** Drops all waiting actions; resolves when no sync is under way. Logged records stay logged. */
  async close(): Promise<void> {
    this.#closed = true
    this.#waiting = []
    await this.#flushing
  }

  /** Runs once no sync is under way, and prevents others meanwhile. */
  async exclusively(action: () => Promise<void>): Promise<void> {
    while (this.#flushing !== null) await this.#flushing
    this.#flushing = action().finally(() => {
      this.#flushing = null
    })
    await this.#flushing
    this.flush()
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#take()
        const log = this.#log.take()
        const mark = this.#watermark.take()
        await log()
        await mark()
        await batch.held()
        if (this.#closed) return
        batch.release()
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#closed = true
    this.#onError(error instanceof Error ? error : new Error(String(error)))
  }

  #take(): { readonly held: () => Promise<void>; readonly release: () => void } {
    const actions = this.#waiting
    const held = this.#hold ?? (async () => {})
    this.#waiting = []
    this.#hold = null
    return {
      held,
      release: () => {
        for (const action of actions) action()
      },
    }
  }
}
