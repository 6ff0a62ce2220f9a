import type { ChainParams } from '../config/networks.ts'
import type { StateChanges } from '../state/changes.ts'
import type { Hex } from '../util/bytes.ts'
import type { Logger } from '../util/logger.ts'
import type { CallRequest, CallService } from './call-types.ts'

/** A BlockEnv that can cross a thread: no functions, no params. */
export interface SerializedEnv {
  readonly number: number
  readonly timestamp: number
  readonly gasLimit: bigint
  readonly baseFeePerGas: bigint
  readonly miner: Hex
  readonly proposerReward: Hex
  readonly foundation: Hex
  readonly prevRandao: Hex
  /** Hashes of number - 1, number - 2, ... as far as known, at most 256. */
  readonly recentHashes: readonly Hex[]
}

export interface CallServiceOptions {
  /** The LevelDB directory, opened again by each worker. */
  readonly storePath: string
  readonly params: ChainParams
  readonly logger: Logger
  /** The environment a call on the state after `request.number` sees: that block's own, or the pending block's. */
  envFor(request: CallRequest): Promise<SerializedEnv>
  /** The pending block's changes, for requests with `pending`. */
  overlayFor?(request: CallRequest): Promise<StateChanges>
}

export declare const createCallService: (options: CallServiceOptions) => CallService
