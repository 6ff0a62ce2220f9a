import { bytesToHex, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { readNumber, writeNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import type { RowChange, RowPlace, RowReader } from './trie.ts'

/** State that the rows of the trie have: written with them, so they always fit. */
export interface TrieMark {
  readonly number: number
  readonly root: Hex
  readonly accounts: number
}

/** Trie that is being built from the flat tables of a state. */
interface TrieBuild {
  /** The state that is read. */
  readonly number: number
  readonly root: Hex
  /** Root and accounts of what is there already, and the first account to go on with. */
  readonly partRoot: Hex
  readonly accounts: number
  readonly next: Uint8Array
}

const MARK = metaKey('trie')
const BUILD = metaKey('trieBuild')
const VERSION = 2
const MARK_BYTES = 1 + 8 + 32 + 8

/** undefined: the trie has no rows, or those of another version. */
export const readTrieMark = async (store: Store, snapshot?: Snapshot): Promise<TrieMark | undefined> => {
  const row = await store.get(BUCKETS.meta, MARK, snapshot)
  return row?.[0] === VERSION ? decodeMark(row) : undefined
}

export const readTrieBuild = async (store: Store): Promise<TrieBuild | undefined> => {
  const row = await store.get(BUCKETS.meta, BUILD)
  if (row?.[0] !== VERSION) return undefined
  const partRoot = bytesToHex(row.subarray(MARK_BYTES, MARK_BYTES + 32))
  return { ...decodeMark(row), partRoot, next: row.slice(MARK_BYTES + 32) }
}

const decodeMark = (row: Uint8Array): TrieMark => ({
  number: readNumber(row, 1),
  root: bytesToHex(row.subarray(9, 41)),
  accounts: readNumber(row, 41),
})

const encodeMark = ({ number, root, accounts }: TrieMark): Uint8Array => {
  const row = new Uint8Array(MARK_BYTES)
  row[0] = VERSION
  writeNumber(row, 1, number)
  row.set(hexToBytes(root), 9)
  return writeNumber(row, 41, accounts)
}

const isBuild = (mark: TrieMark | TrieBuild): mark is TrieBuild => 'next' in mark

/** Rows of the trie in a store. */
export class TrieRows implements RowReader {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  read(place: RowPlace): Uint8Array | undefined {
    return this.#store.getSync(bucketOf(place), keyOf(place))
  }

  /** Writes what a flush has changed together with its mark. The changes are read before the first await. */
  async write(changes: readonly RowChange[], mark: TrieMark | TrieBuild): Promise<void> {
    const batch = this.#store.batch()
    const dropped = changes
      .filter(({ kind }) => kind === 'deleteAll')
      .map(({ account }) => Uint8Array.from(account ?? []))
    const rest = dropped.length === 0 ? changes : changes.map(copyOf)
    for (const account of dropped)
      for await (const key of this.#store.keys(BUCKETS.storageTrie, { prefix: account }))
        batch.del(BUCKETS.storageTrie, key)
    for (const change of rest) {
      if (change.kind === 'put') batch.put(bucketOf(change), keyOf(change), change.row)
      else if (change.kind === 'delete') batch.del(bucketOf(change), keyOf(change))
    }
    putMark(batch, mark)
    // Blocks later than the mark are applied again at the start, so nothing waits for the disk.
    await batch.write({ sync: false })
  }

  /** Makes the next start build the rows anew. */
  async forget(): Promise<void> {
    await this.#store.batch().del(BUCKETS.meta, MARK).del(BUCKETS.meta, BUILD).write()
  }

  /** Deletes all rows. */
  async clear(): Promise<void> {
    await this.forget()
    await this.#store.clear(BUCKETS.accountTrie)
    await this.#store.clear(BUCKETS.storageTrie)
  }
}

const putMark = (batch: Batch, mark: TrieMark | TrieBuild): void => {
  if (isBuild(mark)) {
    batch.put(BUCKETS.meta, BUILD, concatBytes(encodeMark(mark), hexToBytes(mark.partRoot), mark.next))
    return
  }
  batch.put(BUCKETS.meta, MARK, encodeMark(mark))
  batch.del(BUCKETS.meta, BUILD)
}

const bucketOf = ({ account }: RowPlace): number => (account === undefined ? BUCKETS.accountTrie : BUCKETS.storageTrie)
const keyOf = ({ account, path }: RowPlace): Uint8Array => (account === undefined ? path : concatBytes(account, path))
const copyOf = ({ kind, account, path, row }: RowChange): RowChange => ({
  kind,
  account: account && Uint8Array.from(account),
  path: Uint8Array.from(path),
  row: Uint8Array.from(row),
})
