import { asBuffer, bytesEqual, bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../account.ts'
import { compactPath, type NodeReference } from './stack-trie.ts'

/** Row of the trie that is missing, not that of its place, or of no place. `account`: hashed address of a storage trie's row. */
export interface RowProblem {
  readonly kind: 'TRIE_ROW'
  readonly account: Hex | null
  readonly path: string
}

/** Branch with a row of its own. */
interface RowHash {
  readonly path: Uint8Array
  readonly hash: Uint8Array
}

interface AccountStorage {
  readonly account: Uint8Array
  readonly root: Uint8Array
}

/** Checks every row of the tries of a root against the hash in the row above it, without the batch trie. */
export const verifyRows = async (
  store: Store,
  snapshot: Snapshot,
  root: Hex,
  onProblem: (problem: RowProblem) => void,
): Promise<void> => {
  const verifier = new RowsVerifier(store, snapshot, onProblem)
  await verifier.trie(undefined, hexToBytes(root))
  await verifier.strays()
}

class RowsVerifier {
  readonly #store: Store
  readonly #snapshot: Snapshot
  readonly #onProblem: (problem: RowProblem) => void
  #storageRows = 0
  #problems = 0

  constructor(store: Store, snapshot: Snapshot, onProblem: (problem: RowProblem) => void) {
    this.#store = store
    this.#snapshot = snapshot
    this.#onProblem = onProblem
  }

  /** The keys of rows are in the order of a walk: a row, then those below its first branch, then those of the next. */
  async trie(account: Uint8Array | undefined, root: Uint8Array): Promise<void> {
    const bucket = account === undefined ? BUCKETS.accountTrie : BUCKETS.storageTrie
    const waiting: RowHash[] = bytesEqual(root, EMPTY) ? [] : [{ path: EMPTY_BYTES, hash: root }]
    const range = { snapshot: this.#snapshot, ...(account && { prefix: account }) }
    for await (const [key, row] of this.#store.entries(bucket, range)) {
      if (account !== undefined) this.#storageRows++
      const path = account === undefined ? key : key.subarray(account.byteLength)
      while (waiting.length > 0 && Buffer.compare((waiting.at(-1) as RowHash).path, path) < 0)
        this.#problem(account, (waiting.pop() as RowHash).path)
      const expected = waiting.at(-1)
      if (expected === undefined || !bytesEqual(expected.path, path)) {
        this.#problem(account, path)
        continue
      }
      waiting.pop()
      const parsed = parseRow(row, path, account !== undefined)
      if (parsed === undefined || !bytesEqual(parsed.hash, expected.hash)) {
        this.#problem(account, path)
        continue
      }
      waiting.push(...parsed.below.reverse())
      for (const storage of parsed.storages) await this.trie(storage.account, storage.root)
    }
    for (const { path } of waiting) this.#problem(account, path)
  }

  /** Rows of storage tries of accounts that are not there, when nothing else is wrong. */
  async strays(): Promise<void> {
    if (this.#problems > 0) return
    let rows = 0
    for await (const _ of this.#store.keys(BUCKETS.storageTrie, { snapshot: this.#snapshot })) rows++
    if (rows !== this.#storageRows) this.#onProblem({ kind: 'TRIE_ROW', account: null, path: 'stray rows of storage' })
  }

  #problem(account: Uint8Array | undefined, path: Uint8Array): void {
    this.#problems++
    const nibbles = [...path].map(nibble => nibble.toString(16)).join('')
    this.#onProblem({ kind: 'TRIE_ROW', account: account === undefined ? null : bytesToHex(account), path: nibbles })
  }
}

interface ParsedRow {
  readonly hash: Uint8Array
  readonly below: RowHash[]
  readonly storages: AccountStorage[]
}

/** Returns undefined for bytes that are no row. */
const parseRow = (row: Uint8Array, path: Uint8Array, isStorage: boolean): ParsedRow | undefined => {
  try {
    const parser = new RowParser(row, path, isStorage)
    const content = parser.node(path.byteLength)
    if (content instanceof Uint8Array || !parser.isAtEnd) return undefined
    return { hash: keccak256(encodeRlp(content)), below: parser.below, storages: parser.storages }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Reads a row as assembly/rows.ts lays it out. Throws RangeError at its end, and for a hash that is not that of its node. */
class RowParser {
  readonly below: RowHash[] = []
  readonly storages: AccountStorage[] = []
  readonly #row: Buffer
  readonly #isStorage: boolean
  /** Nibbles above the node that is read. */
  readonly #path = new Uint8Array(64)
  #at = 0

  constructor(row: Uint8Array, path: Uint8Array, isStorage: boolean) {
    this.#row = asBuffer(row)
    this.#isStorage = isStorage
    this.#path.set(path)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#row.byteLength
  }

  /** Returns the content of a node, or the hash of a branch with a row. */
  node(depth: number): NodeReference {
    const tag = this.#byte()
    const stored = tag & 16 ? Uint8Array.from(this.#take(32)) : undefined
    const content = this.#content(tag & ~16, depth)
    if (stored === undefined) return content
    if (content instanceof Uint8Array || !bytesEqual(stored, keccak256(encodeRlp(content))))
      throw new RangeError('a node has its hash')
    return stored
  }

  #content(tag: number, depth: number): NodeReference {
    if (tag === 1) return this.#leaf(depth)
    if (tag === 2) return this.#branch(depth)
    if (tag === 3) return this.#extension(depth)
    if (tag !== 4) throw new RangeError('a row has four kinds of nodes')
    const hash = Uint8Array.from(this.#take(32))
    this.below.push({ path: this.#path.slice(0, depth), hash })
    return hash
  }

  #branch(depth: number): NodeReference {
    const mask = this.#byte() | (this.#byte() << 8)
    const children: NodeReference[] = []
    for (let nibble = 0; nibble < 16; nibble++) {
      if (depth > 63) throw new RangeError('a path has 64 nibbles')
      this.#path[depth] = nibble
      children.push((mask >> nibble) & 1 ? referenceOf(this.node(depth + 1)) : EMPTY_BYTES)
    }
    return [...children, EMPTY_BYTES]
  }

  #extension(depth: number): NodeReference {
    const nibbles = this.#take(this.#byte())
    this.#path.set(nibbles, depth)
    return [compactPath(nibbles, 0), referenceOf(this.node(depth + nibbles.byteLength))]
  }

  #leaf(depth: number): NodeReference {
    const rest = this.#take(32 - Math.min(depth >> 1, 31))
    const known = Uint8Array.from(
      { length: 32 - rest.byteLength },
      (_, i) => ((this.#path[2 * i] as number) << 4) | (this.#path[2 * i + 1] as number),
    )
    const key = Buffer.concat([known, rest])
    const nibbles = Uint8Array.from({ length: 64 - depth }, (_, i) => {
      const byte = key[(depth + i) >> 1] as number
      return (depth + i) & 1 ? byte & 15 : byte >> 4
    })
    return [compactPath(nibbles, 0x20), this.#isStorage ? encodeRlp(this.#take(this.#byte())) : this.#account(key)]
  }

  #account(key: Uint8Array): Uint8Array {
    const [nonceBytes, balanceBytes, flags] = [this.#byte(), this.#byte(), this.#byte()]
    const nonce = this.#take(nonceBytes)
    const balance = this.#take(balanceBytes)
    const code = flags & 1 ? this.#take(32) : NO_CODE
    const root = flags & 2 ? this.#take(32) : EMPTY
    if (flags & 2) this.storages.push({ account: Uint8Array.from(key), root: Uint8Array.from(root) })
    return encodeRlp([nonce, balance, root, code])
  }

  #byte(): number {
    return this.#row.readUInt8(this.#at++)
  }

  #take(length: number): Uint8Array {
    this.#at += length
    if (this.#at > this.#row.byteLength) throw new RangeError('a row ends early')
    return this.#row.subarray(this.#at - length, this.#at)
  }
}

const EMPTY = hexToBytes(EMPTY_ROOT)
const NO_CODE = hexToBytes(EMPTY_CODE_HASH)

const referenceOf = (content: NodeReference): NodeReference => {
  if (content instanceof Uint8Array) return content
  const encoded = encodeRlp(content)
  return encoded.byteLength < 32 ? content : keccak256(encoded)
}
