/** Rejection of cancelled work. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'

  constructor() {
    super('cancelled')
  }
}

/**
 * Signals that a result is no longer needed. An AbortSignal does the same; this one costs only a set of callbacks, so that each
 * connection and each batch can have one.
 */
export class Cancellation {
  readonly #listeners = new Set<() => void>()
  #isCancelled = false

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  /** Calls back once, immediately when already cancelled. Returns the unsubscribe function. */
  onCancel(listener: () => void): () => void {
    if (this.#isCancelled) {
      listener()
      return () => {}
    }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  cancel(): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener()
  }
}
