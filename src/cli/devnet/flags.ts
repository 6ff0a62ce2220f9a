import type { DevnetFork } from '../../config/forks.ts'
import type { Namespace } from '../../config/networks.ts'
import type { MethodFlags } from '../shared/options/method-options.ts'
import type { MiningFlags } from '../shared/options/mining-options.ts'
import type { NodeFlags } from '../shared/options/options.ts'

/** Parsed options of `tandem devnet`. */
export interface DevnetFlags extends NodeFlags, MiningFlags, MethodFlags {
  readonly blockTime: number
  readonly accounts: number
  readonly balance: bigint
  readonly mnemonic?: string
  readonly chainId?: number
  readonly hardfork?: DevnetFork
  readonly ethereum: boolean
  readonly datadir?: string
  readonly httpApi?: readonly Namespace[]
  readonly unlock: boolean
  readonly operatorPort?: number
  readonly clientName?: 'anvil' | 'hardhat'
  readonly sameTimestamps: boolean
  readonly codeSizeLimit?: number
  readonly throwOnRevert: boolean
  readonly state?: string
  readonly predeploys: boolean
  readonly abi?: string
  readonly explorer: boolean
  readonly faucet: boolean
}
