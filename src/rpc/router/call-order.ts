import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'

/** Effect of a method on later calls; default: reads. Submissions run side by side, as the pool takes them in order of arrival. */
export type CallEffect = 'change' | 'submission'

/** Place of a message in the order before its calls are known. */
export interface Arrival {
  /** Resolves when the effects before it have ended; undefined: there are none. */
  readonly before: Promise<unknown> | undefined
  /** Lets later calls begin: the message has no effect, or has ended. */
  release(): void
}

/** Order of the calls of one batch or one connection: each sees the effects of those before it; reads run side by side. */
export class CallOrder {
  /** End of the last change, and of all submissions under way. */
  #changes: Promise<unknown> | undefined
  #submissions: Promise<unknown> | undefined

  /** Runs a call once the effects before it have ended. */
  run<T>(effect: CallEffect | undefined, call: () => MaybePromise<T>): MaybePromise<T> {
    const before = this.#before(effect)
    const result = before === undefined ? call() : before.then(call)
    if (effect !== undefined && result instanceof Promise) this.#add(effect, result)
    return result
  }

  /** Takes the place of a message that is read later. */
  arrive(): Arrival {
    const before = this.#before('change')
    const { promise, resolve } = Promise.withResolvers<void>()
    // Reads release their place at once; what comes later waits for the effects before it all the same.
    this.#add('change', before === undefined ? promise : Promise.all([before, promise]))
    return { before, release: resolve }
  }

  #before(effect: CallEffect | undefined): Promise<unknown> | undefined {
    const [changes, submissions] = [this.#changes, this.#submissions]
    if (effect === 'submission' || submissions === undefined) return changes
    return changes === undefined ? submissions : Promise.all([changes, submissions])
  }

  #add(effect: CallEffect, running: Promise<unknown>): void {
    const ended = running.then(nothing, nothing)
    if (effect === 'change') {
      // It ends after everything before it.
      this.#changes = ended
      void ended.then(() => {
        if (this.#changes === ended) this.#changes = undefined
      })
      return
    }
    const all = this.#submissions === undefined ? ended : this.#submissions.then(() => ended)
    this.#submissions = all
    void all.then(() => {
      if (this.#submissions === all) this.#submissions = undefined
    })
  }
}

const nothing = (): void => {}
