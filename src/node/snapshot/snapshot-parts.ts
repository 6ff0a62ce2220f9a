import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Chain } from '../../chain/chain.ts'
import { HistoryBackfill } from '../../chain/snapshot/backfill/history-backfill.ts'
import { SnapshotStore } from '../../chain/snapshot/store/snapshot-store.ts'
import { genesisRows } from '../../chain/snapshot/sync/genesis-rows.ts'
import { startHistoryWorker } from '../../chain/snapshot/workers.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'
import { historyStart, isDropPending } from '../../chain/store/segment-mover.ts'
import type { Genesis } from '../../config/genesis/genesis.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import type { Network } from '../../network/network.ts'
import { genesisSupply } from '../../rules/money/genesis-alloc.ts'
import { readMoved } from '../../storage/move-segment.ts'
import type { Store } from '../../storage/store.ts'
import type { NodeOptions } from '../options.ts'
import type { Teardown } from '../teardown.ts'
import { createSnapshotBootstrap, type SnapshotBootstrap } from './bootstrap.ts'
import { dropStaged } from './staged-store.ts'

interface SnapshotPartsOptions {
  readonly options: Pick<NodeOptions, 'sync' | 'checkpoint' | 'snapshotInterval' | 'dataDir' | 'history'>
  readonly genesis: Genesis
  readonly genesisHash: Hex
  readonly store: Store
  readonly blocks: BlockStore
  readonly chain: Chain
  /** A snapshot is complete: the node must be restarted. */
  readonly onSnapshot: () => void
  readonly onFatal: (error: Error) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Snapshot functions of a node: it serves its own, may start from one, and fetches the history before it. */
export type SnapshotParts = Awaited<ReturnType<typeof createSnapshots>>

export const createSnapshots = async (parts: SnapshotPartsOptions, teardown: Teardown) => {
  const { options, genesis, store, blocks, chain, clock, logger } = parts
  const { cycleBlocks } = genesis.params.rewards
  const interval = options.snapshotInterval ?? SNAPSHOT_LIMITS.intervalBlocks
  // At the end of cycles: a council that serves later follows from that state.
  const intervalBlocks = Math.ceil(interval / cycleBlocks) * cycleBlocks
  if (intervalBlocks !== interval)
    logger.info({ interval, intervalBlocks, cycleBlocks }, '--snapshot-interval rounded up to whole cycles')
  const library = await SnapshotStore.open({
    store,
    root: join(options.dataDir, 'snapshots'),
    intervalBlocks,
    logger,
  })
  teardown.add(() => library.close())
  teardown.add(chain.onCommitted(({ block }) => library.onBlock(block.header.number)))
  const begins = options.sync === 'snapshot' && chain.headBlock.header.number === 0
  if (!begins) await dropStaged(options.dataDir)
  return {
    serve: library.serve,
    /** undefined: this chain syncs by blocks. */
    bootstrap: (network: Network) => (begins ? createBootstrap(parts, network) : undefined),
    /** undefined: nothing is missing. */
    history(network: Network) {
      // Dropped blocks are not fetched again.
      const start = () =>
        Math.max(historyStart(store, chain.headBlock.header.number, options.history), readMoved(store).dropped)
      if (blocks.earliest <= start() || isDropPending(store, blocks)) return undefined
      return new HistoryBackfill({ network, thread: startHistoryWorker(store), blocks, start, clock, logger })
    },
  }
}

const createBootstrap = (parts: SnapshotPartsOptions, network: Network): SnapshotBootstrap => {
  const { options, genesis, genesisHash, store, blocks, chain, onSnapshot, onFatal, clock, logger } = parts
  return createSnapshotBootstrap({
    dataDir: options.dataDir,
    network,
    identity: { params: genesis.params, foundation: genesis.foundation, genesisHash },
    genesis: async () => ({
      timestamp: (await blocks.header(0))?.header.timestamp ?? 0,
      validators: genesis.council.map(({ validator }) => validator),
      wei: genesisSupply(genesis),
      rows: await genesisRows(store, genesisHash),
    }),
    checkpoint: options.checkpoint,
    head: () => chain.headBlock.header.number,
    onSnapshot,
    onFatal,
    clock,
    logger,
  })
}
