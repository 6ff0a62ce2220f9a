import type { EndRequest } from '@tandem/base/worker/end-worker.ts'
import type { Site } from '@tandem/web/site.ts'
import type { ChainRules } from '../chain/rules.ts'
import type { PriceConfig } from '../price/price-config.ts'
import type { AddressLabel } from '../store/index-query.ts'
import type { IndexDatabase } from '../store/open-index.ts'
import type { IndexerHealth } from './indexer-health.ts'

/* What the main thread and the two threads of the explorer say to each other. */

/** Place in the shared counters: a head was committed. */
export const SIGNAL_HEAD = 0

export interface ExplorerThreadStart {
  /** WebSocket of the node whose chain is shown. */
  readonly nodeUrl: string
  readonly database: IndexDatabase
  /** File of verified contracts, where the index is not in PostgreSQL. */
  readonly contractsPath: string
  /** More compilers. */
  readonly solcDirectory: string | undefined
  readonly rules: ChainRules
  readonly version: string
  readonly site: Site
  readonly labels: readonly AddressLabel[]
  /** Sources of the price of the native token. */
  readonly price: PriceConfig | undefined
  /** Methods of the node that are switched off for the public, which the explorer passes on to nobody. */
  readonly disabledMethods: readonly string[] | undefined
  /** Namespaces of the node's public port; undefined: any. */
  readonly publicNamespaces: readonly string[] | undefined
  /** Int32Array. */
  readonly signals: SharedArrayBuffer
}

export interface ApiCall {
  readonly id: number
  /** Time after which nobody waits for the answer. */
  readonly untilMs: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

export interface ApiAnswer {
  readonly id: number
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

export type ToApiThread = ApiCall | EndRequest

export type FromExplorerThread =
  | { readonly type: 'answer'; readonly answer: ApiAnswer }
  | { readonly type: 'opened' }
  | { readonly type: 'health'; readonly health: IndexerHealth }
  | {
      readonly type: 'log'
      readonly level: 'error' | 'warn' | 'info' | 'debug'
      readonly fields: object
      readonly message: string
    }
