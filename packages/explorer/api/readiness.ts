import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { IndexPosition } from '../store/records.ts'
import type { ApiRefusal } from './api-error.ts'
import type { ApiContext } from './api-route.ts'

/** Waits of a development chain for the index to take in the head that the request saw. */
const CATCH_UP_MS = 5_000
const CATCH_UP_STEP_MS = 10

/** Nearness of the index to the head of the chain: what reads the index asks before it answers. */
export class Readiness {
  readonly #context: ApiContext
  #waiting: Promise<void> | undefined

  constructor(context: ApiContext) {
    this.#context = context
  }

  /** Throws INDEX_NOT_READY. On a development chain it waits a moment for the block that the client has just seen. */
  async check(): Promise<void> {
    if ((await this.#lag()) > 0 && this.#context.rules.isDevelopment) {
      this.#waiting ??= this.#wait().finally(() => {
        this.#waiting = undefined
      })
      await this.#waiting
    }
    const lag = await this.#lag()
    if (lag > EXPLORER_LIMITS.api.maxLag) throw new CodedError<ApiRefusal>({ code: 'INDEX_NOT_READY', lag })
  }

  async #wait(): Promise<void> {
    const target = (await this.#context.source.headNumber()) ?? 0
    for (let waited = 0; waited < CATCH_UP_MS; waited += CATCH_UP_STEP_MS) {
      const position = await this.#context.index.position()
      if (position !== undefined && position.number >= target && (await this.#isCurrent(position))) return
      await new Promise(resolve => setTimeout(resolve, CATCH_UP_STEP_MS))
    }
  }

  async #lag(): Promise<number> {
    const { source, index } = this.#context
    const position = await index.position()
    if (position === undefined) return Number.POSITIVE_INFINITY
    const lag = ((await source.headNumber()) ?? 0) - position.number
    return lag > 0 || (await this.#isCurrent(position)) ? lag : 1
  }

  /** Returns false for an index whose last block a development chain took back; lists are served while the node is away. */
  async #isCurrent({ number, hash }: IndexPosition): Promise<boolean> {
    const { source, rules } = this.#context
    if (!rules.isDevelopment) return true
    return source.includes(number, hash).catch((error: unknown) => {
      if (isCoded(error) && error.code === 'NODE_UNREACHABLE') return true
      throw error
    })
  }
}
