import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { SNAPSHOT_BOUNDS } from '../../config/protocol-bounds.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { decodeAccount, EMPTY_ROOT } from '../account.ts'
import type { StoredState } from '../history/stored-state.ts'
import { StackTrie, type SubTrie } from '../trie/stack-trie.ts'
import { accountLeaf } from '../update/account-leaf.ts'
import { accountRecord, slotRecord } from './records.ts'
import { encodeReference, type SnapshotPart } from './sub-trie.ts'

/** Receives bytes in order; it may write them later. */
export interface ByteSink {
  append(bytes: Uint8Array): Promise<void>
}

/** Size of a chunk, and of slots stored with their account. Part of the format. */
export interface ChunkSizes {
  readonly chunkBytes: number
  readonly inlineBytes: number
}

/** Chunk with its range in the bytes of its sink. */
export interface ChunkPlacement extends SnapshotPart {
  readonly start: number
  readonly end: number
}

/** Content of a state. */
export interface SnapshotContents {
  readonly root: Hex
  readonly accounts: readonly ChunkPlacement[]
  /** Storage tries with chunks of their own, by hashed address. */
  readonly storages: readonly { readonly owner: Uint8Array; readonly parts: readonly ChunkPlacement[] }[]
  readonly entries: { readonly accounts: number; readonly slots: number }
}

/**
 * Writes the state as records (records.ts) in key order and returns the sub-tries of its chunks: one pass, in memory of one account.
 * The same state gives the same bytes and parts on every node. The roots are recomputed: the caller compares the total root, and a
 * storage root that differs from its account means a damaged database.
 */
export const makeSnapshot = async (
  state: Pick<StoredState, 'accounts' | 'slots'>,
  sinks: { readonly accounts: ByteSink; readonly storages: ByteSink },
  chunkSizes: ChunkSizes = SNAPSHOT_BOUNDS,
): Promise<SnapshotContents> => {
  const maker = new StorageMaker(state, sinks.storages, chunkSizes)
  const cuts: SubTrie[] = []
  const trie = new StackTrie({ cut: { bytes: chunkSizes.chunkBytes, tell: subTrie => cuts.push(subTrie) } })
  let accounts = 0
  for await (const [key, row] of state.accounts(EMPTY_BYTES)) {
    const account = decodeAccount(row)
    const slots = account.storageRoot === EMPTY_ROOT ? undefined : await maker.storage(key, account.storageRoot)
    const record = accountRecord(key, row, slots)
    await sinks.accounts.append(record)
    trie.add(key, accountLeaf(account), record.byteLength)
    accounts++
  }
  const root = trie.root()
  return { root, accounts: placed(cuts, 0), storages: maker.elsewhere, entries: { accounts, slots: maker.slots } }
}

class StorageMaker {
  readonly elsewhere: { readonly owner: Uint8Array; readonly parts: readonly ChunkPlacement[] }[] = []
  slots = 0
  readonly #state: Pick<StoredState, 'slots'>
  readonly #byteSink: ByteSink
  readonly #chunkSizes: ChunkSizes
  #written = 0

  constructor(state: Pick<StoredState, 'slots'>, byteSink: ByteSink, chunkSizes: ChunkSizes) {
    this.#state = state
    this.#byteSink = byteSink
    this.#chunkSizes = chunkSizes
  }

  /** Returns the slots of one account when they are few; otherwise writes them to the sink. */
  async storage(
    owner: Uint8Array,
    storageRoot: Hex,
  ): Promise<{ readonly count: number; readonly bytes: Uint8Array } | 'elsewhere'> {
    const cuts: SubTrie[] = []
    const trie = new StackTrie({ cut: { bytes: this.#chunkSizes.chunkBytes, tell: subTrie => cuts.push(subTrie) } })
    const first = this.#written
    let gathered: Uint8Array[] = []
    let [count, bytes] = [0, 0]
    for await (const [slot, word] of this.#state.slots(owner, EMPTY_BYTES)) {
      const record = slotRecord(slot, word)
      trie.add(slot, encodeRlp(word), record.byteLength)
      gathered.push(record)
      count++
      bytes += record.byteLength
      if (bytes <= this.#chunkSizes.inlineBytes) continue
      for (const waiting of gathered) await this.#byteSink.append(waiting)
      gathered = []
    }
    assert(trie.root() === storageRoot, 'the slots of an account make its storage root')
    this.slots += count
    if (bytes <= this.#chunkSizes.inlineBytes) return { count, bytes: Buffer.concat(gathered) }
    this.#written += bytes
    this.elsewhere.push({ owner: Uint8Array.from(owner), parts: placed(cuts, first) })
    return 'elsewhere'
  }
}

/** Sorts parts by their bytes, since cuts are reported when their nodes end. */
const placed = (cuts: readonly SubTrie[], offset: number): readonly ChunkPlacement[] =>
  cuts
    .map(({ prefix, reference: nodeReference, start, end }) => ({
      prefix,
      reference: encodeReference(nodeReference),
      start: offset + start,
      end: offset + end,
    }))
    .sort((a, b) => a.start - b.start)
