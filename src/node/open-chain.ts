import type { BlockEnvSources } from '../chain/block-env.ts'
import { BlockStore, putBlock } from '../chain/block-store.ts'
import { Council } from '../chain/council.ts'
import { Economy } from '../chain/economy.ts'
import { Seeds } from '../chain/seeds.ts'
import type { ChainBlock } from '../chain/types.ts'
import type { Genesis, GenesisAccount } from '../config/genesis.ts'
import { keccak256 } from '../crypto/hash.ts'
import type { Certificate } from '../primitives/certificate.ts'
import { decodeExtraData } from '../primitives/extra-data.ts'
import { genesisBlock } from '../primitives/genesis-block.ts'
import { encodeRlp } from '../primitives/rlp.ts'
import { EMPTY_ROOT } from '../state/account.ts'
import { stateRootAt } from '../state/state-meta.ts'
import { TrieService } from '../state/trie/service.ts'
import { WorldState } from '../state/world-state.ts'
import { BUCKETS } from '../storage/buckets.ts'
import { storeError } from '../storage/errors.ts'
import { metaKey, putIdentity, readIdentity } from '../storage/schema.ts'
import { Store } from '../storage/store.ts'
import { assert } from '../util/assert.ts'
import { bigintToBytes, bytesToHex, type Hex, hexToBytes } from '../util/bytes.ts'
import type { Logger } from '../util/logger.ts'

export interface OpenChainOptions {
  readonly genesis: Genesis
  readonly storePath: string
  readonly stateHistory: number | 'archive'
  readonly logger: Logger
  readonly onFailure: (error: Error) => void
}

/** The stored chain, opened and checked against the genesis given; written first when the folder is new. */
export interface OpenedChain {
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly economy: Economy
  readonly sources: BlockEnvSources
  readonly genesisHash: Hex
  readonly head: { readonly block: ChainBlock; readonly certificate: Certificate | null }
}

/** Throws what the store throws, NETWORK_MISMATCH and GENESIS_MISMATCH for another chain's folder, STATE_* for a damaged one. */
export const openChain = async (options: OpenChainOptions): Promise<OpenedChain> => {
  const { genesis, storePath, stateHistory, logger, onFailure } = options
  const { store, trie } = await openParts(storePath, onFailure)
  try {
    const blocks = new BlockStore(store)
    await checkChain(store, blocks, genesis)
    const number = await blocks.headNumber()
    const stored = number === undefined ? undefined : await blocks.block(number)
    const head = stored && { number: stored.header.number, stateRoot: await stateRootAt(store, stored.header.number) }
    const world = await WorldState.open({ store, trie, logger: logger.child({ module: 'state' }), head, stateHistory })
    const block = stored ?? (await writeGenesis(store, world, genesis))
    const genesisHash = stored ? ((await blocks.block(0))?.hash as Hex) : block.hash
    const certificate = (await blocks.certificate(block.header.number)) ?? null
    return {
      ...parts(options, store, blocks, genesisHash),
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

/** Both at once, for the start's sake; when one fails the other is given back. */
const openParts = async (storePath: string, onFailure: (error: Error) => void) => {
  const [store, trie] = await Promise.allSettled([Store.open(storePath), TrieService.open({ onFailure })])
  if (store.status === 'fulfilled' && trie.status === 'fulfilled') return { store: store.value, trie: trie.value }
  if (trie.status === 'fulfilled') await trie.value.close()
  if (store.status === 'fulfilled') await store.value.close()
  throw store.status === 'rejected' ? store.reason : (trie as PromiseRejectedResult).reason
}

const parts = ({ genesis }: OpenChainOptions, store: Store, blocks: BlockStore, genesisHash: Hex) => {
  const { params, foundation } = genesis
  const seeds = new Seeds(genesisHash)
  const council = new Council(genesis.council, params, seeds)
  const genesisWei = [...genesis.alloc.values()].reduce((sum, account) => sum + account.balance, 0n)
  const economy = new Economy({ params, foundation, genesisWei, council, store, blocks })
  return { economy, sources: { params, foundation, council, seeds, blocks } }
}

/** Network, header of block 0 and allocation must be those of the genesis given; a new folder has none of them. */
const checkChain = async (store: Store, blocks: BlockStore, genesis: Genesis): Promise<void> => {
  const found = await readIdentity(store)
  if (found === undefined) return
  const network = genesis.params.name
  if (found.network !== network) {
    throw storeError({ code: 'NETWORK_MISMATCH', path: store.path, found: found.network, expected: network })
  }
  const block0 = await blocks.block(0)
  assert(block0, 'a store with an identity has its block 0')
  const expected = genesisBlock(genesis, block0.header.stateRoot).hash
  const digest = await store.get(BUCKETS.meta, ALLOC_KEY)
  const sameAlloc = digest !== undefined && bytesToHex(digest) === bytesToHex(allocDigest(genesis.alloc))
  if (found.genesis === expected && sameAlloc) return
  const given = sameAlloc ? expected : `${expected} with another allocation`
  throw storeError({ code: 'GENESIS_MISMATCH', path: store.path, found: found.genesis, expected: given })
}

const writeGenesis = async (store: Store, world: WorldState, genesis: Genesis): Promise<ChainBlock> => {
  const journal = world.journal()
  for (const [address, account] of genesis.alloc) {
    journal.setBalance(address, account.balance)
    if (account.nonce > 0) journal.setNonce(address, account.nonce)
    if (account.code.byteLength > 0) journal.setCode(address, account.code)
    for (const [slot, word] of account.storage) journal.setStorage(address, slot, word)
  }
  journal.endTransaction()
  const sealed = await world.seal(journal.changes(), EMPTY_ROOT)
  const sealedBlock = genesisBlock(genesis, sealed.root)
  const block = { ...sealedBlock, extra: decodeExtraData(sealedBlock.header.extraData) }
  const batch = store.batch()
  putIdentity(batch, { network: genesis.params.name, genesis: block.hash })
  batch.put(BUCKETS.meta, ALLOC_KEY, allocDigest(genesis.alloc))
  batch.put(BUCKETS.supply, new Uint8Array(8), new Uint8Array(0))
  putBlock(batch, { block, receipts: [], certificate: null })
  await world.write(batch, 0, sealed)
  await batch.write()
  await world.committed(0, sealed)
  return block
}

const ALLOC_KEY = metaKey('genesis-alloc')

/** Identifies an allocation without recomputing its state root at every start. */
const allocDigest = (alloc: ReadonlyMap<Hex, GenesisAccount>): Uint8Array =>
  keccak256(
    encodeRlp(
      [...alloc]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([address, { balance, nonce, code, storage }]) => [
          hexToBytes(address),
          bigintToBytes(balance),
          bigintToBytes(BigInt(nonce)),
          code,
          [...storage].sort(([a], [b]) => (a < b ? -1 : 1)).map(([slot, word]) => [hexToBytes(slot), hexToBytes(word)]),
        ]),
    ),
  )
