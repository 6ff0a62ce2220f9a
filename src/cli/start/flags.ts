import type { Checkpoint } from '../../chain/snapshot/sync/snapshot-selector.ts'
import type { NetworkName } from '../../config/networks.ts'
import type { MethodFlags } from '../shared/options/method-options.ts'
import type { MiningFlags } from '../shared/options/mining-options.ts'
import type { NodeFlags } from '../shared/options/options.ts'
import type { PeerFlags } from './peer-options.ts'
import type { PublicFlags } from './public-options.ts'

/** Parsed options of `tandem start`. */
export interface StartFlags extends PublicFlags, NodeFlags, PeerFlags, MiningFlags, MethodFlags {
  readonly network: NetworkName
  readonly genesis?: string
  readonly datadir: string
  readonly validatorKey?: string
  readonly passwordFile?: string
  readonly unlock?: readonly string[]
  readonly trustMissingLog: boolean
  readonly operatorPort: number | 'off'
  readonly sync: 'full' | 'snapshot'
  readonly checkpoint?: Checkpoint
  readonly snapshotInterval: number
  readonly explorer: boolean
  readonly faucet: boolean
  readonly faucetKey?: string
  readonly faucetDailyGrants?: number
  readonly faucetClientGrants?: number
}
