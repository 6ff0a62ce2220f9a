import type { Hex } from '@tandem/base/bytes.ts'
import type { NodeFlags } from '../shared/options/options.ts'

/** Parsed options of `tandem localnet`. */
export interface LocalnetFlags
  extends Pick<
    NodeFlags,
    'host' | 'port' | 'execution' | 'stateHistory' | 'cors' | 'allowHosts' | 'logLevel' | 'json'
  > {
  readonly validators?: number
  readonly full: number
  readonly blockTime?: number
  readonly accounts?: number
  readonly balance?: bigint
  readonly mnemonic?: string
  readonly chainId?: number
  readonly datadir?: string
  readonly metrics: boolean
  readonly mine?: Hex
  readonly stratum: boolean
  readonly trustMissingLog: boolean
  readonly chaos: boolean
  readonly seed?: number
  readonly chaosDown?: number
  readonly untilBlock?: number
}
