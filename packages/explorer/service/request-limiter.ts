import { createHash } from 'node:crypto'
import { readLimited } from '@tandem/base/fs/read-limited.ts'
import { EXPLORER_LIMITS } from '../limits.ts'

export interface RequestAllowance {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Until the next request is allowed, or the allowance is whole again. */
  readonly resetSeconds: number
}

export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Reads a file with one key a line; returns their hashes, so that the keys themselves stay nowhere in memory. */
export const readKeys = (file: string | undefined): readonly string[] =>
  file === undefined
    ? []
    : readLimited(file, EXPLORER_LIMITS.listBytes)
        .toString('utf8')
        .split('\n')
        .map(line => line.trim())
        .filter(line => line !== '' && !line.startsWith('#'))
        .map(hashOfKey)

const { windowMs, free, pro, clients } = EXPLORER_LIMITS.rate

/**
 * Requests of the last minute by client: an address has `free` of them, a known key `pro`. The window slides, so no period of a minute has
 * more. An unknown key counts as none, since some tools always send one.
 */
export class RequestLimiter {
  readonly #keys: ReadonlySet<string>
  readonly #nowMs: () => number
  /** Times of allowed requests, oldest first; the client seen longest ago comes first. */
  readonly #times = new Map<string, number[]>()

  /** `keys`: hashes of those that were issued. */
  constructor(keys: readonly string[], nowMs: () => number) {
    this.#keys = new Set(keys)
    this.#nowMs = nowMs
  }

  take(client: string, key: string | undefined): RequestAllowance {
    const hash = key === undefined || this.#keys.size === 0 ? undefined : hashOfKey(key)
    const isKnown = hash !== undefined && this.#keys.has(hash)
    const limit = isKnown ? pro : free
    const name = isKnown ? `key ${hash}` : client
    const nowMs = this.#nowMs()
    const times = this.#timesOf(name, nowMs)
    const allowed = times.length < limit
    if (allowed) times.push(nowMs)
    const oldest = times[0] ?? nowMs
    return {
      allowed,
      limit,
      remaining: limit - times.length,
      resetSeconds: Math.max(1, Math.ceil((oldest + windowMs - nowMs) / 1_000)),
    }
  }

  #timesOf(name: string, nowMs: number): number[] {
    const times = this.#times.get(name) ?? []
    this.#times.delete(name)
    this.#times.set(name, times)
    const first = times.findIndex(at => at > nowMs - windowMs)
    if (first > 0) times.splice(0, first)
    else if (first < 0) times.length = 0
    const [oldest] = this.#times.keys()
    if (this.#times.size > clients && oldest !== undefined) this.#times.delete(oldest)
    return times
  }
}
