import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { readLimited } from '@tandem/base/fs/read-limited.ts'
import { EXPLORER_LIMITS } from '../limits.ts'

/** Exchange whose last price is asked for over HTTP. */
interface ExchangeSource {
  readonly name: string
  readonly url: string
  /** Members on the way to the price in the JSON of the answer, as `data.0.last`. */
  readonly path: readonly string[]
}

/** Sources of the price of the native token (docs/explorer.md#price). */
export interface PriceConfig {
  /** undefined: token and stable-coin of the network. */
  readonly pair: string | undefined
  /** Contract with the interface AggregatorV3. */
  readonly oracle: Hex | undefined
  readonly exchanges: readonly ExchangeSource[]
  readonly timeoutMs: number
  /** Age from which a price counts no more. */
  readonly maxAgeSeconds: number
  /** Between two questions to the sources. */
  readonly refreshSeconds: number
}

/** Thrown as CodedError for a file that cannot be used. */
type PriceConfigError = { readonly code: 'PRICE_CONFIG_INVALID'; readonly path: string; readonly reason: string }

const MAX_EXCHANGES = 20
const DEFAULTS = { timeoutMs: 3_000, maxAgeSeconds: 3_600, refreshSeconds: 30 } as const
const NAMES = new Set(['pair', 'oracle', 'exchanges', ...Object.keys(DEFAULTS)])

/** Reads the sources from a file of JSON. Throws PRICE_CONFIG_INVALID. */
export const readPriceConfig = (path: string): PriceConfig => {
  try {
    return priceConfigOf(JSON.parse(readLimited(path, EXPLORER_LIMITS.listBytes).toString('utf8')) as unknown)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CodedError<PriceConfigError>({ code: 'PRICE_CONFIG_INVALID', path, reason }, { cause: error })
  }
}

const priceConfigOf = (value: unknown): PriceConfig => {
  const given = recordOf(value, 'the file')
  const unknown = Object.keys(given).find(name => !NAMES.has(name))
  if (unknown !== undefined) throw new Error(`${unknown} is no setting; there are ${[...NAMES].join(', ')}`)
  const { pair, oracle, exchanges = [] } = given
  if (pair !== undefined && typeof pair !== 'string') throw new Error('pair is a text')
  if (oracle !== undefined && (typeof oracle !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(oracle)))
    throw new Error('oracle is an address')
  if (!Array.isArray(exchanges) || exchanges.length > MAX_EXCHANGES)
    throw new Error(`exchanges is a list of at most ${MAX_EXCHANGES}`)
  const whole = (name: keyof typeof DEFAULTS): number => {
    const number = given[name] ?? DEFAULTS[name]
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 1)
      throw new Error(`${name} is a whole number above 0`)
    return number
  }
  return {
    pair,
    oracle: oracle?.toLowerCase() as Hex | undefined,
    exchanges: exchanges.map(exchangeOf),
    timeoutMs: whole('timeoutMs'),
    maxAgeSeconds: whole('maxAgeSeconds'),
    refreshSeconds: whole('refreshSeconds'),
  }
}

const exchangeOf = (value: unknown): ExchangeSource => {
  const { name, url, path } = recordOf(value, 'an exchange')
  if (typeof name !== 'string' || typeof url !== 'string' || typeof path !== 'string')
    throw new Error('an exchange has name, url and path')
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error(`${url} is no http address`)
  return { name, url, path: path.split('.') }
}

const recordOf = (value: unknown, what: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is an object`)
  return value as Readonly<Record<string, unknown>>
}
