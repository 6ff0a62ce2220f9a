import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Key of a client with limits of its own. */
export interface ApiKey {
  /** Stands for the client in limits and logs, instead of the key. */
  readonly name: string
  readonly key: string
  /** Calls per second, by weight. */
  readonly perSecond: number
}

/** Allowed difference between the time a token was issued and this node's clock, as geth has it. */
const ISSUED_SECONDS = 60
const BEARER = /^bearer ([\w.-]{1,4096})$/i

/**
 * Returns true for a valid token of geth's scheme: HS256 over the shared secret, with an `iat` within a minute of this node's clock, and not
 * expired if it says when it does.
 */
export const isTokenValid = async (
  { headers }: Pick<IncomingMessage, 'headers'>,
  secret: Uint8Array,
  nowMs: number,
): Promise<boolean> => {
  const token = BEARER.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return false
  // Loaded with the first token: most nodes have no secret, and all start sooner.
  const { jwtVerify } = await import('jose')
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: ['HS256'],
      requiredClaims: ['iat'],
      currentDate: new Date(nowMs),
      clockTolerance: ISSUED_SECONDS,
    })
    return Math.abs((payload.iat as number) - nowMs / 1_000) <= ISSUED_SECONDS
  } catch {
    return false
  }
}

/** API keys by their hashes, so that a lookup tells nothing about how much of a guessed key is right. */
export class ApiKeys {
  readonly #keys: ReadonlyMap<string, ApiKey>

  constructor(keys: readonly ApiKey[]) {
    this.#keys = new Map(keys.map(apiKey => [hashOf(apiKey.key), apiKey]))
  }

  /** Returns the key of a request; undefined: it brings none; null: it brings an unknown one. */
  of({ headers, url }: Pick<IncomingMessage, 'headers' | 'url'>): ApiKey | null | undefined {
    const header = headers['x-api-key']
    // A browser cannot set headers of a WebSocket.
    const text = typeof header === 'string' ? header : queryOf(url).get('apikey')
    if (text === null) return undefined
    return this.#keys.get(hashOf(text)) ?? null
  }
}

const queryOf = (url = ''): URLSearchParams => {
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')
