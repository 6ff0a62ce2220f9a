import type { PriceConfig } from './price-config.ts'

/** Price that an exchange answered with. */
export interface ExchangeQuote {
  readonly name: string
  readonly price: number
}

const ANSWER_BYTES = 256 * 1_024

/** Asks one exchange; undefined when it does not answer in time, or with no price. */
export const askExchange = async (
  { name, url, path }: PriceConfig['exchanges'][number],
  timeoutMs: number,
): Promise<ExchangeQuote | undefined> => {
  try {
    const response = await fetch(url, {
      redirect: 'error',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok || response.body === null) return undefined
    const price = priceAt(JSON.parse(await boundedText(response.body)), path)
    return price === undefined ? undefined : { name, price }
  } catch {
    // A source that fails is a source less: the others count.
    return undefined
  }
}

/** Reads a body; rejects one that is too long. */
const boundedText = async (body: ReadableStream<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_BYTES) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Number, or text of a number, above 0 at a path of own members. */
const priceAt = (answer: unknown, path: readonly string[]): number | undefined => {
  let value = answer
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  const price = typeof value === 'string' && /^[0-9.]{1,40}$/.test(value) ? Number(value) : value
  return typeof price === 'number' && Number.isFinite(price) && price > 0 ? price : undefined
}

/** Middle of the prices; null without any. */
export const medianOf = (quotes: readonly ExchangeQuote[]): number | null => {
  const prices = quotes.map(({ price }) => price).sort((a, b) => a - b)
  const middle = Math.floor(prices.length / 2)
  const [low, high] = [prices[prices.length % 2 === 0 ? middle - 1 : middle], prices[middle]]
  return low === undefined || high === undefined ? null : (low + high) / 2
}
