import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { Chain } from '../../chain/chain.ts'
import type { Checkpoint } from '../../chain/snapshot/sync/snapshot-selector.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'
import type { SyncStatus } from '../../chain/store/types.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import { createExecutor } from '../../evm/engines/executor.ts'
import { watchFork } from '../../powchain/fork-notice.ts'
import type { Header } from '../../primitives/header.ts'
import { createDev } from '../dev/dev-parts.ts'
import { createHealth } from '../health.ts'
import type { NodePeers } from '../network/node-peers.ts'
import { cachingBlockCodec, networkCodec, withSenders } from '../parts/consensus/block-codec.ts'
import { type ConsensusPartsOptions, createConsensus, signerOf } from '../parts/consensus/consensus.ts'
import { consensusFolder } from '../parts/consensus/consensus-folder.ts'
import { reportValidatorStatus } from '../parts/consensus/validator-status.ts'
import { createPoolParts, type PoolParts } from '../parts/pool.ts'
import type { StorageStage } from './storage.ts'

/** The chain has another block at the number of the operator's checkpoint: one of them is not the network's. */
type CheckpointError = {
  readonly code: 'CHECKPOINT_CONTRADICTED'
  readonly number: number
  readonly expected: Hex
  readonly found: Hex
}

/** Checks the chain against the checkpoint, at start or once there. Returns the function that ends it. Throws CHECKPOINT_CONTRADICTED. */
export const enforceCheckpoint = async (
  { number, hash }: Checkpoint,
  { blocks, chain }: { readonly blocks: Pick<BlockStore, 'block'>; readonly chain: Pick<Chain, 'onCommitted'> },
  giveUp: (error: Error) => void,
): Promise<() => void> => {
  const contradicted = (found: Hex) =>
    new CodedError<CheckpointError>({ code: 'CHECKPOINT_CONTRADICTED', number, expected: hash, found })
  const stored = await blocks.block(number)
  if (stored !== undefined && stored.hash !== hash) throw contradicted(stored.hash)
  return chain.onCommitted(({ block }) => {
    if (block.header.number === number && block.hash !== hash) giveUp(contradicted(block.hash))
  })
}

/** Core of the node: the chain with its executor and pool, the peers, and the engine. */
export type CoreStage = Awaited<ReturnType<typeof createCoreStage>>

/** Builds the core; nothing is decided before the engine is started. The pool has read its journal. */
export const createCoreStage = async (storage: StorageStage) => {
  const { options, deps, part, observer, memory, opened, devStart, sources, head } = storage
  const executor = createExecutor({
    mode: options.execution,
    logger: part('evm'),
    reproductionDir: join(options.dataDir, 'shadow'),
  })
  const pool = createPool(storage)
  const chain = new Chain({
    ...opened,
    sources,
    head,
    executor,
    pool: pool.side,
    clock: deps.clock,
    logger: part('chain'),
  })
  const tipHeight = () => opened.proofPool.head.proofState.tipHeight
  const watch = watchFork(options.genesis.params, tipHeight(), part('powchain'))
  chain.onCommitted(({ block }) => watch(block.header.number, tipHeight()))
  const peers = await openPeers(storage, chain, pool)
  const consensus = consensusOptions(storage, pool, peers)
  const { genesis, devnet = {}, ephemeral = false } = options
  const dataDir = ephemeral ? undefined : options.dataDir
  const dev = devStart && (await createDev(devStart, { ...consensus, genesis, opened, chain, pool, dataDir, devnet }))
  const engine =
    dev?.engine ??
    (await createConsensus({ ...consensus, execution: chain, folder: dataDir && consensusFolder(dataDir) }))
  // Before any submission: a journal written before it was read would lose its content.
  await pool.service.start()
  if (dev === undefined) pool.service.onPending(() => engine.requestBlock())
  const target = () => peers?.view.proven ?? peers?.view.target
  observer?.watch({ ...opened, chain, engine, memory, execution: options.execution, target })
  const isAlone = isAloneOf(storage, chain)
  const health = createHealth({
    ...{ chain, engine, isAlone, clock: deps.clock, genesisHash: opened.genesisHash },
    blockTimeMs: dev?.blockTimeMs ?? (() => genesis.params.blockTimeMs),
    ...(peers && { syncing: () => peers.syncing, peers: () => peers.view }),
  })
  return { executor, pool, chain, peers, dev, engine, health, syncing: syncingOf(chain, peers, isAlone) }
}

/** Returns true while this node alone makes the blocks: no other node can be ahead. */
const isAloneOf = ({ options: { validatorKey }, sources }: StorageStage, chain: Chain): (() => boolean) => {
  const self = validatorKey && addressFromPrivateKey(validatorKey)
  return () => {
    const members = sources.council.committee(chain.headBlock.header.number + 1)?.members ?? []
    return members.length === 1 && members[0] === self
  }
}

/** Progress of the sync, which has not begun while no peer's head is known; false: at the head, or there are no peers by configuration. */
const syncingOf = (chain: Chain, peers: NodePeers | undefined, isAlone: () => boolean): (() => SyncStatus | false) => {
  let isHeadKnown = false
  return () => {
    if (peers === undefined) return false
    const status = peers.syncing
    if (status !== false) return status
    isHeadKnown ||= peers.view.target !== undefined
    if (isHeadKnown || isAlone()) return false
    const { number } = chain.headBlock.header
    return { startingBlock: number, currentBlock: number, highestBlock: number }
  }
}

const createPool = ({ options, deps, teardown, part, observer, opened, devStart, head }: StorageStage): PoolParts => {
  const pool = createPoolParts({
    params: options.genesis.params,
    head: head.block.header,
    state: opened.world.head,
    dataDir: options.ephemeral ? undefined : options.dataDir,
    allowUnprotected: options.allowUnprotected,
    ...(devStart && { baseFeeAfter: (header: Header) => devStart.choices.baseFeeAfter(header) }),
    ...(observer && { metrics: observer.metrics }),
    clock: deps.clock,
    logger: part('txpool'),
  })
  teardown.add(() => pool.recovery.close())
  teardown.add(() => pool.service.close())
  return pool
}

const openPeers = async (storage: StorageStage, chain: Chain, pool: PoolParts): Promise<NodePeers | undefined> => {
  const { options, deps, part, observer, opened, sources, teardown } = storage
  const { peers, genesis, dataDir, validatorKey, checkpoint } = options
  if (peers === undefined) return undefined
  const { store, blocks, genesisHash } = opened
  if (checkpoint) teardown.add(await enforceCheckpoint(checkpoint, { blocks, chain }, deps.onFatal))
  const { createSnapshots } = await import('../snapshot/snapshot-parts.ts')
  const snapshots = await createSnapshots(
    {
      ...{ options, genesis, genesisHash, store, blocks, chain },
      onSnapshot: deps.onSnapshot ?? (() => {}),
      onFatal: deps.onFatal,
      clock: deps.clock,
      logger: part('snapshot'),
    },
    teardown,
  )
  const { NodePeers } = await import('../network/node-peers.ts')
  return NodePeers.open({
    options: peers,
    params: genesis.params,
    genesisHash,
    dataDir,
    chain,
    blocks,
    snapshots,
    council: sources.council,
    evidencePool: opened.evidence,
    proofPool: opened.proofPool,
    pool: pool.service,
    codec: cachingBlockCodec(networkCodec(pool.blockRecovery)),
    withSenders: block => withSenders(pool.recovery, block),
    signer: validatorKey && signerOf(validatorKey),
    ...(observer && { metrics: observer.metrics }),
    clock: deps.clock,
    part,
  })
}

/** Also logs the status of this node's validator. */
const consensusOptions = (
  { options, deps, part, observer, opened, sources, head }: StorageStage,
  pool: PoolParts,
  peers: NodePeers | undefined,
): Omit<ConsensusPartsOptions, 'execution' | 'folder'> => {
  const { genesis, validatorKey, trustMissingLog } = options
  const logger = part('consensus')
  if (validatorKey)
    reportValidatorStatus(addressFromPrivateKey(validatorKey), sources.council, {
      number: head.block.header.number + 1,
      logger,
    })
  return {
    council: sources.council,
    evidence: peers?.evidence ?? opened.evidence,
    ...(peers && { network: peers.network.consensus }),
    recovery: pool.blockRecovery,
    params: genesis.params,
    genesisHash: opened.genesisHash,
    validatorKey,
    trustMissingLog,
    beganWithSnapshot: sources.blocks.earliest > 0,
    clock: deps.clock,
    ...(observer && { metrics: observer.consensus }),
    logger,
    onFatal: deps.onFatal,
  }
}
