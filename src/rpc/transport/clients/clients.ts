import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { subscriberOf } from '@tandem/base/address.ts'
import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import type { Quota } from '@tandem/base/token-bucket.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { Endpoint } from '../../router/method.ts'
import { createClientAddress, type TrustProxy } from './client-address.ts'

/** Returns the client id of an address for limits: IPv4 address, or /64 of an IPv6 address, which has one subscriber. */
export const clientIdOf = (address: string | undefined): string => subscriberOf(address ?? '')

/** Returns the endpoint with the context of a connection of a client, by its id. */
export const endpointForClient = (endpoint: Endpoint, client: string, cancellation: Cancellation): Endpoint => ({
  methods: endpoint.methods,
  context: { ...endpoint.context, client, cancellation },
})

/** Rules by which the client of a request is known. */
export interface ClientRules {
  /** Omitted: the other end of the connection is the client, whatever headers say. */
  readonly trustProxy?: TrustProxy
  /** Secret of the tokens that every call needs; omitted: none does. */
  readonly jwtSecret?: Uint8Array
  /** Keys of clients with limits of their own; calls without a key have the ordinary ones. */
  readonly apiKeys?: readonly ApiKey[]
  /** Refuses calls without a key. */
  readonly needsKey?: boolean
  /** Calls per second of each client without a key, each call of a batch; omitted: no limit. */
  readonly rateLimit?: Quota
}

/** Client of a request, as the limits count it. */
export interface ClientIdentity {
  /** Address, or `key:` and the name of its key: for the log. */
  readonly address: string
  /** Id of the client in limits: that of the subscriber (clientIdOf). */
  readonly id: string
  readonly limiter: RateLimiter | undefined
}

/** Parts of a request that tell its client: its connection, headers as `node:http` reads them, and query. */
type RequestOrigin = Pick<IncomingMessage, 'headers' | 'url'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Creates what knows the client of each request by the connection, headers of trusted proxies, and keys. Throws TypeError for an invalid proxy. */
export const createClients = ({ trustProxy, jwtSecret, apiKeys, needsKey, rateLimit }: ClientRules) => {
  /** True when the connection alone tells the client, and there are no limits by the second. */
  const isByConnection = trustProxy === undefined && jwtSecret === undefined && apiKeys === undefined && !rateLimit
  const proxied = trustProxy && createClientAddress(trustProxy)
  /** API keys by their hashes, so that a lookup tells nothing about how much of a guessed key is right. */
  const keys = apiKeys && new Map(apiKeys.map(apiKey => [hashOf(apiKey.key), apiKey]))
  const commonLimiter = rateLimit && new RateLimiter(rateLimit, RPC_LIMITS.limitedClients)
  const limiterOfKey = new Map<ApiKey, RateLimiter>()
  /** Identities by connection, where the connection alone tells the client. */
  const known = new WeakMap<RequestOrigin['socket'], ClientIdentity>()

  const ofConnection = (socket: RequestOrigin['socket']): ClientIdentity =>
    getOrMake(known, socket, () => identityOf(socket.remoteAddress ?? '', undefined))

  const admit = (request: RequestOrigin): ClientIdentity | undefined => {
    const apiKey = keys && keyOf(request, keys)
    if (apiKey === null || (apiKey === undefined && needsKey)) return undefined
    if (apiKey === undefined) return identityOf(addressOf(request), commonLimiter)
    const { name, perSecond } = apiKey
    const limiter = getOrMake(limiterOfKey, apiKey, () => new RateLimiter({ perSecond, burst: 2 * perSecond }, 1))
    return identityOf(`key:${name}`, limiter)
  }

  const addressOf = (request: RequestOrigin): string => proxied?.of(request) ?? request.socket.remoteAddress ?? ''

  return {
    isByConnection,

    /** Returns true for a connection of a trusted proxy, which is not one client. */
    isProxy: (address: string | undefined): boolean => proxied?.isProxy(address) ?? false,

    /** Returns the client; undefined: its token or key is missing or wrong. */
    identify(request: RequestOrigin): MaybePromise<ClientIdentity | undefined> {
      if (isByConnection) return ofConnection(request.socket)
      if (jwtSecret === undefined) return admit(request)
      return isTokenValid(request, jwtSecret, Date.now()).then(isValid => (isValid ? admit(request) : undefined))
    },

    addressOf,

    /** Returns the id of the client of any request by its address, whatever key it has. */
    idOf: (request: RequestOrigin): string =>
      isByConnection ? ofConnection(request.socket).id : clientIdOf(addressOf(request)),
  }
}

export type Clients = ReturnType<typeof createClients>

const identityOf = (address: string, limiter: RateLimiter | undefined): ClientIdentity => ({
  address,
  id: clientIdOf(address),
  limiter,
})

/** Returns the function that charges a client for calls by weight; undefined: it has no limit. */
export const chargeOf = ({ id, limiter }: ClientIdentity): ((weight: number) => void) | undefined =>
  limiter && (weight => limiter.charge(id, performance.now(), weight))

/** Returns true when a client has a limit and has exceeded it. */
export const isBeyondRate = ({ id, limiter }: ClientIdentity): boolean =>
  limiter?.allows(id, performance.now()) === false

/** Refusal of a request for its client, before anything is called. */
interface ClientRefusal {
  readonly status: 401 | 429
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const UNAUTHORIZED: ClientRefusal = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
  text: 'a token or key is missing or wrong\n',
}
const TOO_MANY: ClientRefusal = { status: 429, headers: { 'retry-after': '1' }, text: 'too many requests\n' }

/** Returns the refusal of a request by what `identify` returned; undefined: it may be handled. */
export const clientRefusal = (identity: ClientIdentity | undefined): ClientRefusal | undefined => {
  if (identity === undefined) return UNAUTHORIZED
  return isBeyondRate(identity) ? TOO_MANY : undefined
}

/** Key of a client with limits of its own. */
interface ApiKey {
  /** Stands for the client in limits and logs, instead of the key. */
  readonly name: string
  readonly key: string
  /** Calls per second, by weight. */
  readonly perSecond: number
}

/** Allowed difference between the time a token was issued and this node's clock, as geth has it. */
const ISSUED_SECONDS = 60
const BEARER = /^bearer ([\w.-]{1,4096})$/i

/** Returns true for a token of geth's scheme: HS256, `iat` within a minute of this clock, not expired where it says when. */
const isTokenValid = async (
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

/** Returns the key of a request; undefined: it brings none; null: it brings an unknown one. */
const keyOf = ({ headers, url }: RequestOrigin, keys: ReadonlyMap<string, ApiKey>): ApiKey | null | undefined => {
  const header = headers['x-api-key']
  // A browser cannot set headers of a WebSocket.
  const text = typeof header === 'string' ? header : queryOf(url).get('apikey')
  return text === null ? undefined : (keys.get(hashOf(text)) ?? null)
}

const queryOf = (url = ''): URLSearchParams => {
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')
