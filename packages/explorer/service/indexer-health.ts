import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { EXPLORER_LIMITS } from '../limits.ts'

/** State of an index as its thread reports it. */
export interface IndexerHealth {
  readonly state: 'starting' | 'filling' | 'at the head' | 'waiting' | 'failing'
  /** Service that is away. */
  readonly waitsFor: 'database' | 'node' | null
  /** Wall clock at the beginning of the state, milliseconds. */
  readonly sinceMs: number
}

const AWAY: Readonly<Record<string, 'database' | 'node'>> = {
  DATABASE_UNREACHABLE: 'database',
  NODE_UNREACHABLE: 'node',
}

interface IndexerRetriesOptions {
  readonly logger: Logger
  readonly nowMs: () => number
  readonly onHealth: (health: IndexerHealth) => void
}

const { firstRetryMs, lastRetryMs } = EXPLORER_LIMITS.index

/**
 * Attempts of the indexer while something is away: at growing intervals, with one line of the log when the wait begins and one, with its
 * length, when it is over. Other failures are each logged.
 */
export class IndexerRetries {
  readonly #options: IndexerRetriesOptions
  #delayMs: number = firstRetryMs
  #health: IndexerHealth

  constructor(options: IndexerRetriesOptions) {
    this.#options = options
    this.#health = { state: 'starting', waitsFor: null, sinceMs: options.nowMs() }
    options.onHealth(this.#health)
  }

  /** Returns the milliseconds to wait before the next attempt. */
  failed(error: unknown): number {
    const { logger } = this.#options
    const waitsFor = isCoded(error) ? (AWAY[error.code] ?? null) : null
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error))
    if (waitsFor === null) logger.error({ err: stack }, 'indexing failed; it is tried again')
    else if (this.#health.waitsFor !== waitsFor) {
      this.#tellEnd()
      logger.warn({ waitsFor, reason: waitReason(error) ?? message }, 'indexing waits and goes on by itself')
    }
    this.#enter(waitsFor === null ? 'failing' : 'waiting', waitsFor)
    const delayMs = this.#delayMs
    this.#delayMs = Math.min(lastRetryMs, 2 * delayMs)
    return delayMs
  }

  /** A step succeeded. */
  passed(state: 'filling' | 'at the head'): void {
    this.#delayMs = firstRetryMs
    this.#tellEnd()
    this.#enter(state, null)
  }

  #tellEnd(): void {
    const { waitsFor, sinceMs } = this.#health
    if (waitsFor === null) return
    const seconds = Math.round((this.#options.nowMs() - sinceMs) / 1_000)
    this.#options.logger.info({ waitedFor: waitsFor, seconds }, 'indexing goes on')
  }

  #enter(state: IndexerHealth['state'], waitsFor: IndexerHealth['waitsFor']): void {
    if (state === this.#health.state && waitsFor === this.#health.waitsFor) return
    this.#health = { state, waitsFor, sinceMs: this.#options.nowMs() }
    this.#options.onHealth(this.#health)
  }
}

/** Reason in an error of a service that is away; undefined: it names none. */
export const waitReason = (error: unknown): string | undefined =>
  isCoded(error) ? (error.detail as { readonly reason?: string }).reason : undefined

/** For everybody: messages of errors name hosts and users, and are only logged. */
const reasonOf = ({ state, waitsFor }: IndexerHealth): string | undefined => {
  if (waitsFor !== null) return `the ${waitsFor} does not answer`
  return state === 'failing' ? 'indexing fails; the log has the reason' : undefined
}

/** Body of /health, of which only an index that cannot be read makes the answer 503. */
export const healthBody = (health: IndexerHealth, nowMs: number) => {
  const { state, waitsFor, sinceMs } = health
  const reason = reasonOf(health)
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / 1_000))
  const healthy = waitsFor !== 'database' && state !== 'failing' && state !== 'starting'
  return { healthy, ...(reason !== undefined && { reason }), index: state, waitsFor, seconds }
}
