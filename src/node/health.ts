import type { Chain } from '../chain/chain.ts'
import type { ConsensusEngine } from '../consensus/engine-types.ts'
import type { HealthStatus } from '../rpc/ports.ts'
import type { Clock } from '../util/clock.ts'

/** Blocks may stand still this many block times, and at least this long, before the node calls itself unhealthy. */
const PATIENCE_BLOCKS = 10
const PATIENCE_MS = 15_000

export interface HealthOptions {
  readonly chain: Chain
  readonly engine: ConsensusEngine
  /** Milliseconds between blocks; 0: blocks come when asked for. */
  readonly blockTimeMs: () => number
  readonly clock: Clock
}

/** Whether blocks advance; in instant mode only whether the engine still runs. */
export const createHealth = ({ chain, engine, blockTimeMs, clock }: HealthOptions): (() => HealthStatus) => {
  let lastBlockMs = clock.nowMs()
  chain.onCommitted(() => {
    lastBlockMs = clock.nowMs()
  })
  return () => {
    const { number } = chain.headBlock.header
    const { mode } = engine.status()
    if (mode === 'failed' || mode === 'stopped') return { healthy: false, reason: `consensus is ${mode}`, number }
    const blockMs = blockTimeMs()
    const patienceMs = Math.max(PATIENCE_MS, PATIENCE_BLOCKS * blockMs)
    const silentMs = clock.nowMs() - lastBlockMs
    if (blockMs > 0 && silentMs > patienceMs) {
      const why = mode === 'quarantined' ? ': the consensus log is missing or damaged, see the log' : ''
      return { healthy: false, reason: `no block for ${Math.round(silentMs / 1000)} s${why}`, number }
    }
    return { healthy: true, number, syncing: false }
  }
}
