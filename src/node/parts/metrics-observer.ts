import type { Logger } from '@tandem/base/logger.ts'
import type { Chain } from '../../chain/chain.ts'
import type { MemoryShares } from '../../config/limits/storage.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import { createConsensusMetrics } from '../../consensus/monitor/metrics.ts'
import { declareEvmMetrics } from '../../evm/engines/metrics.ts'
import { engineNameOf } from '../../evm/engines/select-engine.ts'
import type { ExecutionMode } from '../../evm/executor-types.ts'
import { startMetricsServer } from '../../metrics/metrics-server.ts'
import { collectProcessMetrics } from '../../metrics/process-metrics.ts'
import { Metrics } from '../../metrics/registry.ts'
import type { ProofPool } from '../../powchain/proof-pool.ts'
import type { WorkVerifier } from '../../powchain/work-verifier.ts'
import { declareStateMetrics } from '../../state/world/metrics.ts'
import { declareMemoryMetrics, declareStorageMetrics } from '../../storage/metrics.ts'
import type { Teardown } from '../teardown.ts'
import { version } from '../version.ts'
import type { OpenedChain } from './open-chain.ts'

interface ObservedParts extends Pick<OpenedChain, 'world' | 'store' | 'proofPool' | 'proofVerifier'> {
  readonly chain: Chain
  readonly engine: ConsensusEngine
  readonly memory: MemoryShares
  readonly execution: ExecutionMode
  /** Height to reach by the heads of the peers; undefined while none is known. */
  readonly target: () => number | undefined
}

/** Metrics of a node whose operator enabled them. Loaded only then: a devnet saves the time and the memory. */
export const createMetricsObserver = (teardown: Teardown) => {
  const metrics = new Metrics()
  teardown.add(collectProcessMetrics(metrics, version))
  return {
    metrics,
    consensus: createConsensusMetrics(metrics),
    watch({ chain, engine, world, store, memory, execution, proofPool, proofVerifier, target }: ObservedParts): void {
      declareSyncMetrics(metrics, chain, target)
      declareChainMetrics(metrics, chain, engine)
      declareProofMetrics(metrics, proofPool, proofVerifier)
      declareStateMetrics(metrics, world)
      declareStorageMetrics(metrics, store)
      declareMemoryMetrics(metrics, memory)
      declareEvmMetrics(metrics, engineNameOf(execution))
    },
    async serve(options: { readonly host: string; readonly port: number; readonly logger: Logger }): Promise<string> {
      const server = await startMetricsServer({ metrics, ...options })
      teardown.add(() => server.close())
      return server.url
    },
  }
}

/** Declares the metrics of the proof chain: its final tip and what waits for a block. */
const declareProofMetrics = (metrics: Metrics, pool: ProofPool, verifier: WorkVerifier): void => {
  metrics.readGauge('powchain_height', 'Height of the final proof tip', () => pool.head.proofState.tipHeight)
  metrics.readGauge('powchain_pending_headers', 'Valid proof headers that no block includes yet', () => pool.size)
  metrics.readGauge('powchain_difficulty_hashes', 'Expected hashes behind the final proof tip', () =>
    Number(2n ** 256n / (pool.head.proofState.tipTarget + 1n)),
  )
  metrics.readGauge('powchain_tip_age_blocks', 'Main blocks since the anchor of the final proof tip', () =>
    Math.max(0, pool.head.number - pool.head.proofState.tipAnchor),
  )
  metrics.readGauge(
    'powchain_argon2_hashes',
    'Argon2id hashes computed for headers and shares since the start',
    () => verifier.count,
  )
  const admitted = metrics.counter({ name: 'powchain_headers_total', help: 'Proof headers found valid here' })
  pool.onAdded(() => admitted.inc(1))
}

/** Declares the height to sync to, and the distance to it. Without a known head of a peer they are those of the own head. */
const declareSyncMetrics = (
  metrics: Metrics,
  chain: Pick<Chain, 'headBlock'>,
  target: () => number | undefined,
): void => {
  const own = () => chain.headBlock.header.number
  metrics.readGauge('sync_target_number', 'Block number to sync to by the heads of the peers', () =>
    Math.max(own(), target() ?? 0),
  )
  metrics.readGauge(
    'sync_distance_blocks',
    'Blocks between the own head and that number; 0 while no head of a peer is known',
    () => Math.max(0, (target() ?? 0) - own()),
  )
}

/** Declares the metrics of head, blocks and consensus. */
const declareChainMetrics = (metrics: Metrics, chain: Chain, engine: ConsensusEngine): void => {
  /** Exports a count of the engine as a counter; a new engine starts at 0. */
  const counted = (name: string, help: string, read: () => number): void => {
    const counter = metrics.counter({ name, help })
    let last = 0
    metrics.onScrape(() => {
      const now = read()
      counter.inc(now < last ? now : now - last)
      last = now
    })
  }
  metrics.readGauge('chain_head_number', 'Number of the last committed block', () => chain.headBlock.header.number)
  metrics.readGauge('chain_head_age_seconds', 'Age of the last committed block by its own timestamp', () =>
    Math.max(0, Date.now() / 1000 - chain.headBlock.header.timestamp),
  )
  metrics.readGauge('consensus_round', 'Round of the open height', () => engine.status().round)
  metrics.readGauge('consensus_committee_validators', 'Size of the committee', () => engine.status().committeeSize)
  metrics.readGauge(
    'consensus_last_decision_seconds',
    'Proposal to decision of the last block',
    () => engine.status().lastDecisionMs / 1000,
  )
  metrics.readGauge(
    'consensus_missing_validators',
    'Members that keep the height from being decided: unreachable, or not heard from round 2 on',
    () => engine.status().missing.length,
  )
  const voting = () => (engine.status().mode === 'voting' ? 1 : 0)
  metrics.readGauge('consensus_voting_state', '1 while this node votes', voting)
  counted('consensus_decisions_total', 'Blocks decided here since the start', () => engine.status().decided)
  counted('consensus_late_decisions_total', 'Those of them decided above round 0', () => engine.status().decidedLate)
  counted('consensus_round_changes_total', 'Rounds given up by this node', () => engine.status().roundChanges)
  counted('consensus_evidence_total', 'Evidence against validators found by this node', () => engine.status().evidence)
  counted(
    'consensus_rejected_messages_total',
    'Messages that are unsigned, or differ from their claim',
    () => engine.status().rejectedMessages,
  )
  const interval = metrics.histogram({
    name: 'chain_block_interval_seconds',
    help: 'Wall time between committed blocks',
    buckets: [0.05, 0.1, 0.25, 0.5, 0.9, 0.99, 1.01, 1.1, 1.5, 2, 5, 10],
  })
  const transactions = metrics.counter({ name: 'chain_transactions_total', help: 'Transactions in committed blocks' })
  const gas = metrics.counter({ name: 'chain_gas_used_total', help: 'Gas used in committed blocks' })
  let lastMs = performance.now()
  chain.onCommitted(({ block }) => {
    const nowMs = performance.now()
    interval.observe((nowMs - lastMs) / 1000)
    lastMs = nowMs
    transactions.inc(block.transactions.length)
    gas.inc(Number(block.header.gasUsed))
  })
}
