import type { StratumOptions } from '../../node/options.ts'
import type { Hex } from '../../util/bytes.ts'

/** Parsed options of `tandem mine`. */
export interface MineFlags {
  readonly rpc: string
  readonly stratum?: StratumOptions
  readonly coinbase?: Hex
  readonly worker: string
  readonly threads: number
  readonly duty: number
}
