import type { Logger } from '@tandem/base/logger.ts'
import type { Chain } from '../../chain/chain.ts'
import type { MemoryShares } from '../../config/limits/storage.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import { type ConsensusMetrics, createConsensusMetrics } from '../../consensus/monitor/metrics.ts'
import { declareEvmMetrics } from '../../evm/engines/metrics.ts'
import { engineNameOf } from '../../evm/engines/select-engine.ts'
import type { ExecutionMode } from '../../evm/executor-types.ts'
import { startMetricsServer } from '../../metrics/metrics-server.ts'
import { collectProcessMetrics } from '../../metrics/process-metrics.ts'
import { Metrics } from '../../metrics/registry.ts'
import type { ProofPool } from '../../powchain/proof-pool.ts'
import type { WorkVerifier } from '../../powchain/work-verifier.ts'
import { declareStateMetrics } from '../../state/world/metrics.ts'
import type { WorldState } from '../../state/world/world-state.ts'
import { declareMemoryMetrics, declareStorageMetrics } from '../../storage/metrics.ts'
import type { Store } from '../../storage/store.ts'
import type { Teardown } from '../teardown.ts'
import { version } from '../version.ts'
import { declareChainMetrics, declareProofMetrics, declareSyncMetrics } from './chain-metrics.ts'

/** Metrics of a node whose operator enabled them. Loaded only then: a devnet saves the time and the memory. */
export interface MetricsObserver {
  readonly metrics: Metrics
  readonly consensus: ConsensusMetrics
  watch(parts: ObservedParts): void
  serve(options: { readonly host: string; readonly port: number; readonly logger: Logger }): Promise<string>
}

interface ObservedParts {
  readonly chain: Chain
  readonly engine: ConsensusEngine
  readonly world: WorldState
  readonly store: Store
  readonly memory: MemoryShares
  readonly proofPool: ProofPool
  readonly proofVerifier: WorkVerifier
  readonly execution: ExecutionMode
  /** Height to reach by the heads of the peers; undefined while none is known. */
  readonly target: () => number | undefined
}

export const createMetricsObserver = (teardown: Teardown): MetricsObserver => {
  const metrics = new Metrics()
  teardown.add(collectProcessMetrics(metrics, version))
  return {
    metrics,
    consensus: createConsensusMetrics(metrics),
    watch({ chain, engine, world, store, memory, execution, proofPool, proofVerifier, target }) {
      declareSyncMetrics(metrics, chain, target)
      declareChainMetrics(metrics, chain, engine)
      declareProofMetrics(metrics, proofPool, proofVerifier)
      declareStateMetrics(metrics, world)
      declareStorageMetrics(metrics, store)
      declareMemoryMetrics(metrics, memory)
      declareEvmMetrics(metrics, engineNameOf(execution))
    },
    async serve(options) {
      const server = await startMetricsServer({ metrics, ...options })
      teardown.add(() => server.close())
      return server.url
    },
  }
}
