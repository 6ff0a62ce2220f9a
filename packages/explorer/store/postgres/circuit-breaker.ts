import { CodedError, isCoded } from '@tandem/base/errors.ts'

/** Thrown as CodedError while the database is away; the caller may retry. */
type DatabaseUnreachable = { readonly code: 'DATABASE_UNREACHABLE'; readonly reason: string }

/** Classes of errors that pass: of the connection and the stream of a copy over it, of resources, of the operator, of the system. */
const PASSING = /^(08|53|57|58)|^(ECONN|EHOST|ENET|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|ENOENT|ERR_STREAM_)/
/** Errors that say that no other query would fare better. */
const GONE = /^(08|57P)|^E/
const LOST =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client (has encountered a connection error|was closed)|^Query read timeout/

const codeOf = (error: unknown): string => {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

const isLost = (error: unknown): boolean => LOST.test((error as { readonly message?: string }).message ?? '')

/** Time from one attempt to the next while the database is away. */
const ATTEMPT_MS = 1_000

/**
 * Circuit breaker of a database: errors that pass become DATABASE_UNREACHABLE. With `failsFast`, once the database is gone queries fail at
 * once, but for one attempt a second: a database that hangs would keep each request until its time limit.
 */
export class CircuitBreaker {
  readonly #failsFast: boolean
  readonly #nowMs: () => number
  #gone: CodedError<DatabaseUnreachable> | undefined
  #attemptMs = 0

  constructor(failsFast: boolean, nowMs: () => number = () => performance.now()) {
    this.#failsFast = failsFast
    this.#nowMs = nowMs
  }

  /** Throws DATABASE_UNREACHABLE. */
  async try<T>(work: () => Promise<T>): Promise<T> {
    if (this.#gone !== undefined) {
      const nowMs = this.#nowMs()
      if (nowMs < this.#attemptMs) throw unreachable(this.#gone.detail.reason, this.#gone)
      this.#attemptMs = nowMs + ATTEMPT_MS
    }
    try {
      const result = await work()
      this.#gone = undefined
      return result
    } catch (error) {
      if (isCoded(error) || !(PASSING.test(codeOf(error)) || isLost(error))) throw error
      const coded = unreachable((error as Error).message || codeOf(error), error)
      if (this.#failsFast && (GONE.test(codeOf(error)) || isLost(error))) {
        this.#gone = coded
        this.#attemptMs = this.#nowMs() + ATTEMPT_MS
      }
      throw coded
    }
  }
}

const unreachable = (reason: string, cause: unknown): CodedError<DatabaseUnreachable> =>
  new CodedError<DatabaseUnreachable>({ code: 'DATABASE_UNREACHABLE', reason }, { cause })
