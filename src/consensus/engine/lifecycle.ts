import { assert } from '@tandem/base/assert.ts'

/** Running state of the engine. A failure in any part ends it, once: a node must not vote on state it cannot trust. */
export class Lifecycle {
  #state: 'stopped' | 'running' | 'failed' = 'stopped'
  #begun = false
  readonly #onFailed: (error: Error) => void

  constructor(onFailed: (error: Error) => void) {
    this.#onFailed = onFailed
  }

  get state(): 'stopped' | 'running' | 'failed' {
    return this.#state
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  begin(): void {
    assert(!this.#begun, 'an engine starts once')
    this.#begun = true
    this.#state = 'running'
  }

  stop(): void {
    if (this.isRunning) this.#state = 'stopped'
  }

  fail(cause: unknown): void {
    if (!this.isRunning) return
    this.#state = 'failed'
    this.#onFailed(cause instanceof Error ? cause : new Error(String(cause)))
  }

  /** Runs an action whose failure ends the engine. */
  guard(action: () => void): void {
    try {
      action()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Like `guard` for asynchronous work; the returned promise never rejects. */
  watch(work: Promise<void>): Promise<void> {
    return work.catch(error => this.fail(error))
  }
}
