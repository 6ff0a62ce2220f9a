import type { Namespace } from '../../config/networks.ts'
import type { DevnetOptions } from '../../devnet/types.ts'
import type { MethodFlags } from '../shared/options/method-options.ts'
import type { MiningFlags } from '../shared/options/mining-options.ts'
import type { NodeFlags } from '../shared/options/options.ts'

/** Parsed options of `tandem devnet`. */
export interface DevnetFlags extends DevnetOptions, NodeFlags, MiningFlags, MethodFlags {
  readonly datadir?: string
  readonly httpApi?: readonly Namespace[]
  readonly operatorPort?: number
  readonly state?: string
  readonly abi?: string
  readonly explorer: boolean
  readonly faucet: boolean
}
