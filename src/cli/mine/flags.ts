import type { Hex } from '@tandem/base/bytes.ts'
import type { StratumOptions } from '../../node/options.ts'

/** Parsed options of `tandem mine`. */
export interface MineFlags {
  readonly rpc: string
  readonly stratum?: StratumOptions
  readonly coinbase?: Hex
  readonly worker: string
  readonly threads: number
  readonly duty: number
}
