import type { Hex } from '@tandem/base/bytes.ts'
import { type Clock, ForwardTime } from '@tandem/base/clock.ts'
import type { Chain } from '../chain/chain.ts'
import type { SyncStatus } from '../chain/store/types.ts'
import { SYNC_LIMITS } from '../config/limits/sync.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'
import type { ConsensusEngine } from '../consensus/engine/types.ts'
import type { EngineMode } from '../consensus/monitor/stats.ts'
import type { HealthStatus } from '../rpc/ports.ts'

/** The node reports itself unhealthy after this many block times without a block, and at least this long. */
const PATIENCE_BLOCKS = 10
const PATIENCE_MS = 15_000
/** A node that was at the head may lag by the blocks of this time. */
const LAG_MS = 5_000

/** Peers of this node, as far as they concern its health. */
export interface PeersView {
  readonly count: number
  /** Height to sync to by the heads that peers claim; undefined while none is known. It counts at a new node while there is no proven one. */
  readonly target: number | undefined
  /** Height by the heads of members and static peers, or else of peers that have delivered final blocks; undefined while none is known. */
  readonly proven: number | undefined
  /** Genesis hash of a dialed node of another chain; undefined: none. */
  readonly foreignGenesis: Hex | undefined
}

interface HealthOptions {
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'>
  readonly engine: Pick<ConsensusEngine, 'status'>
  readonly genesisHash: Hex
  /** Milliseconds between blocks; 0: blocks are made on request. */
  readonly blockTimeMs: () => number
  readonly syncing?: () => SyncStatus | false
  /** Omitted for a node without peers. */
  readonly peers?: () => PeersView
  /** Returns true when this node alone makes the blocks: no other node can be ahead. */
  readonly isAlone?: () => boolean
  readonly clock: Pick<Clock, 'nowMs'>
}

/** A voting node refuses blocks farther ahead of its clock; a head that far ahead was decided without it. */
const AHEAD_MS = (BLOCK_BOUNDS.futureSeconds + 1) * 1_000

const LOST_LOG = 'the consensus log is missing or damaged, see the log'

/** Reports health: peers' heads are known and reached, and blocks advance; in instant mode the engine must be able to make one. */
export const createHealth = (options: HealthOptions): (() => HealthStatus) => {
  const { chain, engine, clock, syncing = () => false } = options
  const follows = followPeers(options)
  const time = new ForwardTime()
  let lastBlockMs = time.at(clock.nowMs())
  chain.onCommitted(() => {
    lastBlockMs = time.at(clock.nowMs())
  })
  return () => {
    const { header, hash } = chain.headBlock
    const { mode, round } = engine.status()
    const sync = syncing()
    const view = options.peers?.()
    const lag = follows.reason(header.number, view)
    const reason = unhealthyReason({
      mode,
      sync,
      lag,
      isAlone: options.isAlone?.() ?? false,
      blockMs: options.blockTimeMs(),
      silentMs: time.at(clock.nowMs()) - lastBlockMs,
      aheadMs: header.timestamp * 1_000 - clock.nowMs(),
    })
    return {
      healthy: reason === undefined,
      ...(reason !== undefined && { reason }),
      number: header.number,
      hash,
      syncing: sync !== false,
      mode,
      round,
      peers: view?.count ?? 0,
      ...(view && { target: follows.target(view) ?? null }),
    }
  }
}

/** Comparison of the head with those of the peers, which has to be reached once. */
const followPeers = ({ isAlone = () => false, genesisHash, blockTimeMs }: HealthOptions) => {
  let isReached = false
  return {
    /** Returns the height to reach. Strangers may claim any, so proven heads count, and others only until there are some. */
    target: ({ target, proven }: PeersView): number | undefined => (isReached ? proven : (proven ?? target)),

    /** Returns why the node is not at the head of the network; undefined when it is. */
    reason(number: number, view: PeersView | undefined): string | undefined {
      if (view === undefined || isAlone()) return undefined
      const { count, foreignGenesis } = view
      const target = this.target(view)
      if (count === 0 && foreignGenesis !== undefined)
        return `the genesis of this node is ${genesisHash}, that of its peers ${foreignGenesis}: one has the wrong --genesis file`
      const distance = Math.max(0, (target ?? number) - number)
      const blockMs = blockTimeMs()
      if (!isReached) {
        if (target === undefined) return 'no peer is connected, so the head of the network is unknown'
        if (distance > SYNC_LIMITS.nearBlocks) return `${distance} blocks behind the head of the peers`
        isReached = true
      }
      if (blockMs === 0) return count === 0 ? 'no peer is connected' : undefined
      const tolerated = Math.max(SYNC_LIMITS.nearBlocks, Math.ceil(LAG_MS / blockMs))
      return distance > tolerated ? `${distance} blocks behind the head of the peers` : undefined
    },
  }
}

interface HealthSigns {
  readonly mode: EngineMode
  readonly sync: SyncStatus | false
  /** Why the node is not at the head of the network. */
  readonly lag: string | undefined
  readonly isAlone: boolean
  readonly blockMs: number
  /** Time since the last block. */
  readonly silentMs: number
  /** By how much the last block is ahead of the clock. */
  readonly aheadMs: number
}

const unhealthyReason = ({ mode, sync, lag, isAlone, blockMs, silentMs, aheadMs }: HealthSigns): string | undefined => {
  if (mode === 'failed' || mode === 'stopped') return `consensus is ${mode}`
  if (sync !== false) return `catching up with block ${sync.highestBlock}`
  if (lag !== undefined) return lag
  const clock = `the last block is ${Math.round(aheadMs / 1000)} s ahead of this node's clock, check the time service (NTP)`
  if (mode === 'voting' && !isAlone && aheadMs > AHEAD_MS) return `no vote for blocks of others: ${clock}`
  const isQuarantined = mode === 'quarantined'
  if (blockMs === 0) return isQuarantined ? `consensus is quarantined: ${LOST_LOG}` : undefined
  if (silentMs <= Math.max(PATIENCE_MS, PATIENCE_BLOCKS * blockMs)) return undefined
  const silent = `no block for ${Math.round(silentMs / 1000)} s`
  if (isQuarantined) return `${silent}: ${LOST_LOG}`
  return aheadMs > blockMs ? `${silent}: ${clock}` : silent
}
