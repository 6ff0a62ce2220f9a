import type { Chain } from '../chain/chain.ts'
import type { SyncStatus } from '../chain/types.ts'
import type { ConsensusEngine, EngineMode } from '../consensus/engine/types.ts'
import type { HealthStatus } from '../rpc/ports.ts'
import type { Clock } from '../util/clock.ts'

/** The node reports itself unhealthy after this many block times without a block, and at least this long. */
const PATIENCE_BLOCKS = 10
const PATIENCE_MS = 15_000

interface HealthOptions {
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'>
  readonly engine: Pick<ConsensusEngine, 'status'>
  /** Milliseconds between blocks; 0: blocks are made on request. */
  readonly blockTimeMs: () => number
  /** Omitted for a node without peers. */
  readonly syncing?: () => SyncStatus | false
  readonly peers?: () => number
  readonly clock: Pick<Clock, 'nowMs'>
}

const LOST_LOG = 'the consensus log is missing or damaged, see the log'

/**
 * Reports health: blocks must advance; in instant mode, where pauses are normal, the engine must be able to make one.
 */
export const createHealth = (options: HealthOptions): (() => HealthStatus) => {
  const { chain, engine, clock, syncing = () => false, peers = () => 0 } = options
  let lastBlockMs = clock.nowMs()
  chain.onCommitted(() => {
    lastBlockMs = clock.nowMs()
  })
  return () => {
    const { header, hash } = chain.headBlock
    const { mode, round } = engine.status()
    const sync = syncing()
    const reason = unhealthyReason({
      mode,
      sync,
      blockMs: options.blockTimeMs(),
      silentMs: clock.nowMs() - lastBlockMs,
    })
    return {
      healthy: reason === undefined,
      ...(reason !== undefined && { reason }),
      number: header.number,
      hash,
      syncing: sync !== false,
      mode,
      round,
      peers: peers(),
    }
  }
}

interface HealthSigns {
  readonly mode: EngineMode
  readonly sync: SyncStatus | false
  readonly blockMs: number
  /** Time since the last block. */
  readonly silentMs: number
}

const unhealthyReason = ({ mode, sync, blockMs, silentMs }: HealthSigns): string | undefined => {
  if (mode === 'failed' || mode === 'stopped') return `consensus is ${mode}`
  if (sync !== false) return `catching up with block ${sync.highestBlock}`
  const isQuarantined = mode === 'quarantined'
  if (blockMs === 0) return isQuarantined ? `consensus is quarantined: ${LOST_LOG}` : undefined
  if (silentMs <= Math.max(PATIENCE_MS, PATIENCE_BLOCKS * blockMs)) return undefined
  return `no block for ${Math.round(silentMs / 1000)} s${isQuarantined ? `: ${LOST_LOG}` : ''}`
}
