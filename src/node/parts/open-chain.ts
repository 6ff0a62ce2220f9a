import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { BlockEnvSources } from '../../chain/block/block-env.ts'
import { Economy } from '../../chain/block/economy.ts'
import { Council } from '../../chain/council/council.ts'
import { EvidencePool } from '../../chain/council/evidence-pool.ts'
import { BlockProofs } from '../../chain/proof/block-proofs.ts'
import { ProofRows } from '../../chain/proof/proof-rows.ts'
import { BlockStore } from '../../chain/store/block-store.ts'
import { readEarliestBlock } from '../../chain/store/earliest-block.ts'
import { readHead } from '../../chain/store/put-block.ts'
import { keepForks } from '../../chain/store/stored-forks.ts'
import type { ChainBlock } from '../../chain/store/types.ts'
import { checkUnsynced } from '../../chain/store/unsynced-blocks.ts'
import { genesisBlock, isAllocOf, writeGenesis } from '../../chain/write-genesis.ts'
import type { Genesis } from '../../config/genesis/genesis.ts'
import { type MemoryShares, memoryShares, STORAGE_LIMITS } from '../../config/limits/storage.ts'
import { argon2Provider } from '../../crypto/argon2.ts'
import { ProofPool } from '../../powchain/proof-pool.ts'
import { createWorkVerifier } from '../../powchain/work-verifier.ts'
import { decodeExtraData } from '../../primitives/consensus/extra-data.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import { genesisAlloc, genesisSupply } from '../../rules/money/genesis-alloc.ts'
import { stateRootAt } from '../../state/state-meta.ts'
import { TrieService } from '../../state/trie/trie-service.ts'
import { WorldState, type WorldStateOptions } from '../../state/world/world-state.ts'
import { storeError } from '../../storage/errors.ts'
import { checkSegments } from '../../storage/move-segment.ts'
import { readIdentity, upgradeSchema } from '../../storage/schema.ts'
import { Store } from '../../storage/store.ts'

interface OpenChainOptions {
  readonly genesis: Genesis
  readonly storePath: string
  readonly stateHistory: number | 'archive'
  readonly segmentBlocks?: number | undefined
  /** Shares of the default memory when omitted. */
  readonly memory?: MemoryShares
  readonly logger: Logger
  /** The chain ends with the process: nothing is synced. */
  readonly ephemeral?: boolean
  readonly onFailure: (error: Error) => void
}

/** Stored chain, opened and checked against the given genesis; created when the folder is new. */
export type OpenedChain = Awaited<ReturnType<typeof openChain>>

/** Throws the errors of the store, NETWORK_MISMATCH and GENESIS_MISMATCH for another chain's folder, STATE_* for a damaged one. */
export const openChain = async (options: OpenChainOptions) => {
  const { genesis, storePath, stateHistory, logger, onFailure, ephemeral = false, memory = memoryShares() } = options
  const { store, trie } = await openChainParts(storePath, onFailure, ephemeral, memory.database, options.segmentBlocks)
  try {
    const blocks = new BlockStore(store, { cacheBytes: memory.blocks })
    await checkChain(store, blocks, genesis)
    await upgradeSchema(store)
    const number = readHead(store)
    if (number !== undefined) await checkUnsynced(store, number)
    const stored = number === undefined ? undefined : await blocks.block(number)
    const head = stored && { number: stored.header.number, stateRoot: await stateRootAt(store, stored.header.number) }
    const world = await WorldState.open({
      ...{ store, trie, logger: logger.child({ module: 'state' }), head, stateHistory, memory },
      preimages: DevelopmentRules.of(genesis.params) !== null,
      onProgress: buildLog(logger),
    })
    const block = stored ?? (await writeFirst(store, world, genesis))
    // After the genesis: a store with rows and no identity is taken for another program's.
    await keepForks(store, genesis.params.forks, block.header.number)
    const genesisHash = stored ? ((await blocks.block(0))?.hash as Hex) : block.hash
    blocks.earliest = await readEarliestBlock(store)
    const certificate = (await blocks.certificate(block.header.number)) ?? null
    return {
      ...(await parts({ genesis, genesisHash, store, blocks, world, head: block, logger })),
      store,
      blocks,
      world,
      genesisHash,
      head: { block, certificate },
    }
  } catch (error) {
    await trie.close()
    await store.close()
    throw error
  }
}

/** Logs how far the trie is built, which takes minutes where the state is large. */
const buildLog = (logger: Logger): NonNullable<WorldStateOptions['onProgress']> => {
  let toldMs = Number.NEGATIVE_INFINITY
  return ({ accounts, slots, done }) => {
    if (performance.now() - toldMs < STORAGE_LIMITS.progressMs) return
    toldMs = performance.now()
    logger.info({ accounts, slots, percent: Math.floor(done * 100) }, 'building the state trie')
  }
}

/** Opens store and trie concurrently for a faster start; when one fails the other is closed. */
export const openChainParts = async (
  storePath: string,
  onFailure: (error: Error) => void,
  ephemeral = false,
  memoryBytes?: number,
  segmentBlocks?: number,
) => {
  const [store, trie] = await Promise.allSettled([
    Store.open(storePath, {
      ephemeral,
      onWriteFailed: onFailure,
      ...(memoryBytes && { memoryBytes }),
      ...(segmentBlocks && { segmentBlocks }),
    }),
    // The state of a temporary chain is small: a worker would save less than the messages cost.
    TrieService.open({ onFailure, worker: !ephemeral }),
  ])
  if (store.status === 'fulfilled' && trie.status === 'fulfilled') return { store: store.value, trie: trie.value }
  if (trie.status === 'fulfilled') await trie.value.close()
  if (store.status === 'fulfilled') await store.value.close()
  throw store.status === 'rejected' ? store.reason : (trie as PromiseRejectedResult).reason
}

interface PartsOf {
  readonly genesis: Genesis
  readonly genesisHash: Hex
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly head: ChainBlock
  readonly logger: Logger
}

const parts = async ({ genesis, genesisHash, store, blocks, world, head, logger }: PartsOf) => {
  const { params, foundation } = genesis
  const council = new Council({ params, foundation, genesisHash, store, blocks, state: world.head })
  const { number } = head.header
  const evidence = await EvidencePool.open(
    { params, genesisHash, council, store, logger: logger.child({ module: 'chain' }) },
    number,
  )
  const genesisWei = genesisSupply(genesis)
  const proofRows = new ProofRows(params, store)
  const economy = new Economy({ params, foundation, genesisWei, council, store, blocks, proofs: proofRows })
  const sources: BlockEnvSources = { params, foundation, council, blocks, proofs: proofRows }
  const verifier = createWorkVerifier(params.chainId, argon2Provider)
  const tip = { number, hash: head.hash, proofState: proofRows.stateAt(head.extra.proofTip) }
  const pool = new ProofPool({ params, head: tip, hashOf: at => blocks.hashOf(at), verifier })
  const options = { params, rows: proofRows, blocks, verifier, pool, logger: logger.child({ module: 'powchain' }) }
  const proofs = new BlockProofs(options)
  return { economy, evidence, sources, proofRows, proofs, proofPool: pool, proofVerifier: verifier }
}

const writeFirst = (store: Store, world: WorldState, genesis: Genesis): Promise<ChainBlock> => {
  const { params, council } = genesis
  const blockOf = (stateRoot: Hex): ChainBlock => {
    const block = genesisBlock(genesis, stateRoot)
    return { ...block, extra: decodeExtraData(block.header.extraData) }
  }
  return writeGenesis({ store, world, network: params.name, alloc: genesisAlloc(genesis), council, blockOf })
}

/** Checks network, segments, header of block 0 and allocation against the given genesis; a new folder has none of them. */
const checkChain = async (store: Store, blocks: BlockStore, genesis: Genesis): Promise<void> => {
  const found = await readIdentity(store)
  if (found === undefined) return
  const network = genesis.params.name
  if (found.network !== network) {
    throw storeError({ code: 'NETWORK_MISMATCH', path: store.path, found: found.network, expected: network })
  }
  await checkSegments(store)
  const block0 = await blocks.block(0)
  assert(block0, 'a store with an identity has its block 0')
  const expected = genesisBlock(genesis, block0.header.stateRoot).hash
  const sameAlloc = await isAllocOf(store, genesis)
  if (found.genesis === expected && sameAlloc) return
  // With another allocation the stored state root does not belong to the given header: the caller computes the hash.
  const given = sameAlloc ? expected : 'with another allocation'
  throw storeError({ code: 'GENESIS_MISMATCH', path: store.path, found: found.genesis, expected: given })
}
