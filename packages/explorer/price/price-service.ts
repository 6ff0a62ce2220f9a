import type { NodeRpc } from '../chain/node-rpc.ts'
import { checksumAddress } from '../keccak.ts'
import { askExchange, type ExchangeQuote, medianOf } from './exchange-quote.ts'
import { type OracleRound, oracleRound } from './oracle-price.ts'
import type { PriceConfig } from './price-config.ts'

/** Price of the native token; what is absent is null, never guessed. */
interface PriceView {
  readonly price: number | null
  readonly pair: string
  readonly roundId: number | null
  readonly oracle: string | null
  readonly sources: number
  readonly exchanges: readonly ExchangeQuote[]
}

interface PriceServiceOptions {
  /** undefined: there are no sources. */
  readonly config: PriceConfig | undefined
  readonly symbol: string
  readonly node: NodeRpc
  readonly nowMs: () => number
}

interface PriceReading {
  readonly atMs: number
  readonly round: OracleRound | undefined
  readonly quotes: readonly ExchangeQuote[]
}

/**
 * Price from an oracle contract and from exchanges. The sources are asked when somebody asks for the price, at most once in a while, and
 * all at once. The oracle's price counts before the middle of the exchanges' while it is fresh.
 */
export class PriceService {
  readonly #options: PriceServiceOptions
  #reading: PriceReading | undefined
  #refreshing: Promise<void> | undefined

  constructor(options: PriceServiceOptions) {
    this.#options = options
  }

  async price(): Promise<PriceView> {
    const { config, symbol, nowMs } = this.#options
    const isDue = (this.#reading?.atMs ?? Number.NEGATIVE_INFINITY) + (config?.refreshSeconds ?? 0) * 1_000 <= nowMs()
    if (config !== undefined && isDue) {
      this.#refreshing ??= this.#refresh(config).finally(() => {
        this.#refreshing = undefined
      })
      // The first answer waits for the sources; later ones take what was known.
      if (this.#reading === undefined || this.#isStale(config)) await this.#refreshing
    }
    const pair = config?.pair ?? `${symbol}/USDT`
    const { round, quotes } = this.#fresh(config)
    return {
      price: round?.price ?? medianOf(quotes),
      pair,
      roundId: round?.roundId ?? null,
      oracle: config?.oracle === undefined ? null : checksumAddress(config.oracle),
      sources: quotes.length,
      exchanges: quotes,
    }
  }

  async #refresh({ oracle, exchanges, timeoutMs }: PriceConfig): Promise<void> {
    const { node, nowMs } = this.#options
    const [round, quotes] = await Promise.all([
      oracle === undefined ? undefined : oracleRound(node, oracle).catch(() => undefined),
      Promise.all(exchanges.map(exchange => askExchange(exchange, timeoutMs))),
    ])
    this.#reading = { atMs: nowMs(), round, quotes: quotes.filter(quote => quote !== undefined) }
  }

  #isStale({ maxAgeSeconds }: PriceConfig): boolean {
    return (this.#reading?.atMs ?? 0) + maxAgeSeconds * 1_000 < this.#options.nowMs()
  }

  /** Newest price that is not too old. */
  #fresh(config: PriceConfig | undefined): Omit<PriceReading, 'atMs'> {
    const reading = this.#reading
    if (config === undefined || reading === undefined) return { round: undefined, quotes: [] }
    const nowSeconds = this.#options.nowMs() / 1_000
    const isFresh = (reading.round?.updatedAt ?? 0) + config.maxAgeSeconds >= nowSeconds
    return { round: isFresh ? reading.round : undefined, quotes: this.#isStale(config) ? [] : reading.quotes }
  }
}
