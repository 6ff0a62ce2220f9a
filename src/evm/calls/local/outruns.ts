import { CALL_LIMITS } from '../../../config/limits/clients.ts'

/**
 * Calls that outran the bound of the main thread. The next ones like them start in a worker, and so do those of a client with many
 * different ones, so that no work is done twice for long.
 */
export class Outruns {
  /** Number of calls that still skip the main thread, by kind of call or client. */
  readonly #skips = new Map<string, number>()
  /** Recent outruns per client. */
  readonly #clients = new Map<string, number>()

  /** Returns true when a call of this kind, or of this client, is to start in a worker. */
  skips(kind: string, client: string): boolean {
    return this.#takeSkip(kind) || this.#takeSkip(clientKey(client))
  }

  /** Records that a call outran its bound. */
  add(kind: string, client: string): void {
    put(this.#skips, kind, CALL_LIMITS.local.skips)
    const count = (this.#clients.get(client) ?? 0) + 1
    put(this.#clients, client, count)
    if (count < CALL_LIMITS.local.clientOutruns) return
    this.#clients.delete(client)
    put(this.#skips, clientKey(client), CALL_LIMITS.local.skips)
  }

  #takeSkip(key: string): boolean {
    const left = this.#skips.get(key)
    if (left === undefined) return false
    if (left === 1) this.#skips.delete(key)
    else this.#skips.set(key, left - 1)
    return true
  }
}

const clientKey = (client: string): string => `client ${client}`

/** Sets an entry; the oldest is dropped beyond CALL_LIMITS.local.remembered. */
const put = (map: Map<string, number>, key: string, value: number): void => {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > CALL_LIMITS.local.remembered && oldest !== undefined) map.delete(oldest)
}
