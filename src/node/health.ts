import type { Chain } from '../chain/chain.ts'
import type { SyncStatus } from '../chain/types.ts'
import type { ConsensusEngine } from '../consensus/engine-types.ts'
import type { HealthStatus } from '../rpc/ports.ts'
import type { Clock } from '../util/clock.ts'

/** Blocks may stand still this many block times, and at least this long, before the node calls itself unhealthy. */
const PATIENCE_BLOCKS = 10
const PATIENCE_MS = 15_000

export interface HealthOptions {
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'>
  readonly engine: Pick<ConsensusEngine, 'status'>
  /** Milliseconds between blocks; 0: blocks come when asked for. */
  readonly blockTimeMs: () => number
  /** Left out of a node that stands alone. */
  readonly syncing?: () => SyncStatus | false
  readonly clock: Pick<Clock, 'nowMs'>
}

const LOST_LOG = 'the consensus log is missing or damaged, see the log'

/** Whether blocks advance; in instant mode, where silence says nothing, whether the engine would make one. */
export const createHealth = ({ chain, engine, blockTimeMs, syncing, clock }: HealthOptions): (() => HealthStatus) => {
  let lastBlockMs = clock.nowMs()
  chain.onCommitted(() => {
    lastBlockMs = clock.nowMs()
  })
  return () => {
    const { number } = chain.headBlock.header
    const { mode } = engine.status()
    if (mode === 'failed' || mode === 'stopped') return { healthy: false, reason: `consensus is ${mode}`, number }
    const sync = syncing?.() ?? false
    if (sync !== false)
      return { healthy: false, reason: `catching up with block ${sync.highestBlock}`, number, syncing: true }
    const blockMs = blockTimeMs()
    const patienceMs = Math.max(PATIENCE_MS, PATIENCE_BLOCKS * blockMs)
    const silentMs = clock.nowMs() - lastBlockMs
    if (blockMs === 0 && mode === 'quarantined')
      return { healthy: false, reason: `consensus is quarantined: ${LOST_LOG}`, number }
    if (blockMs > 0 && silentMs > patienceMs) {
      const why = mode === 'quarantined' ? `: ${LOST_LOG}` : ''
      return { healthy: false, reason: `no block for ${Math.round(silentMs / 1000)} s${why}`, number }
    }
    return { healthy: true, number, syncing: false }
  }
}
