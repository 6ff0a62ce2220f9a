import { asBuffer, bytesToHex, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { keccak256Into } from '../../crypto/hash.ts'
import { loadWasm, type WasmMemory } from '../../crypto/wasm/wasm.ts'
import { ACCOUNT_BYTES, HEADER_BYTES, KIND, SLOT_BYTES } from '../batch.ts'

/** Size of a key of `Trie.prefetch`. */
export const PREFETCH_KEY_BYTES = 65

interface Exports {
  readonly memory: WasmMemory
  setAccountCount(count: number): void
  missingAt(): number
  missingCount(): number
  dirtyBranches(): number
  locate(withSlot: boolean): number
  rowFor(size: number): number
  attach(): void
  attachEmpty(): void
  divideRows(above: number, from: number): void
  expand(index: number, size: number): number
  flush(): number
  outputAt(): number
  trim(bytes: number): void
  inputFor(size: number): number
  apply(size: number, withUndo: number): number
  undoAt(): number
  undoSize(): number
  keysAt(): number
  foundAt(): number
  nodesAt(): number
  nodesSize(): number
  proveAccount(): number
  proveSlot(): number
  root(out: number): void
  accountCount(): number
  usedBytes(): number
  freeBytes(): number
  memoryBytes(): number
}

/** Texts of the result codes of `apply`; 0 is success. */
const FAULTS = [
  '',
  'sizes and counts do not fit the bytes',
  'unknown kind of account record, or slots under a deletion',
  'duplicate account',
  'duplicate slot of an account',
  'the fields of an account that is not there are to be kept',
] as const

const ROWS_MISSING = 6

/** Row of a trie by its place: the account whose storage trie it is of, if any, and its path, a nibble per byte. */
export interface RowPlace {
  readonly account: Uint8Array | undefined
  readonly path: Uint8Array
}

/** Change of a row at a flush: put or delete it, or delete all rows of the account's storage. */
export interface RowChange extends RowPlace {
  readonly kind: 'put' | 'delete' | 'deleteAll'
  readonly row: Uint8Array
}

/** Rows of the trie in a database. */
export interface RowReader {
  /** Returns the row, which may be valid only until the next call; undefined when there is none. */
  read(place: RowPlace): Uint8Array | undefined
}

/** The rows of the trie do not fit together: the data directory is damaged. */
export class DamagedRow extends Error {}

export type Applied =
  | { readonly fault: string }
  | {
      readonly fault: undefined
      readonly root: Uint8Array
      /** 32 bytes for each account whose storage the batch touches, in the order of the batch. */
      readonly storageRoots: Uint8Array<ArrayBuffer>
      /** Batch that undoes this one. */
      readonly undo: Uint8Array<ArrayBuffer> | undefined
    }

interface ProvenAccount {
  readonly nonce: bigint
  readonly balance: Uint8Array
  readonly codeHash: Uint8Array
  readonly storageRoot: Uint8Array
}

/**
 * Account trie and its storage tries as one WebAssembly instance: about 110 bytes of its memory per account. With a reader it holds what was
 * touched lately and reads the rest as rows; without one, everything. Batches are packed as in batch.ts. Everything is synchronous and takes
 * tens of milliseconds for thousands of changes, hence the worker (trie-service.ts).
 */
export class Trie {
  private readonly wasm = loadWasm<Exports>(new URL('./assembly/trie.wasm', import.meta.url))
  private readonly rows: RowReader | undefined
  private rowsRead = 0

  /** `at`: root that the rows have, with its number of accounts; the trie is empty by default. */
  constructor(rows?: RowReader, at?: { readonly root: Uint8Array; readonly accounts: number }) {
    const { wasm } = this
    this.rows = rows
    if (rows === undefined) return
    if (at === undefined) {
      wasm.attachEmpty()
      return
    }
    this.bytes(wasm.rowFor(32), 32).set(at.root)
    wasm.attach()
    wasm.setAccountCount(at.accounts)
  }

  /** Applies a packed batch, wholly or not at all. A WebAssembly trap (4 GiB are full) leaves the trie unusable. Throws DamagedRow. */
  apply(batch: Uint8Array, withUndo: boolean): Applied {
    const { wasm } = this
    const size = batch.byteLength
    const at = wasm.inputFor(size)
    this.bytes(at, size).set(batch)
    let fault = wasm.apply(size, withUndo ? 1 : 0)
    while (fault === ROWS_MISSING) {
      this.readMissing()
      fault = wasm.apply(size, withUndo ? 1 : 0)
    }
    if (fault !== 0) return { fault: FAULTS[fault] ?? `fault ${fault}` }
    const storageRoots = this.storageRoots(at, size)
    const undo = withUndo ? this.copy(wasm.undoAt(), wasm.undoSize()) : undefined
    return { fault: undefined, root: this.root(), storageRoots, undo }
  }

  /** Rows of more than `above` leaves are divided from now on: subtrees of `from` leaves and more get their own. */
  divideRows(above: number, from: number): void {
    this.wasm.divideRows(above, from)
  }

  /** Reads the rows on the way to accounts and slots. Each of `keys` is the account's hash, the slot, and 1 if it is one of a slot. */
  prefetch(keys: Uint8Array): void {
    const { wasm } = this
    for (let at = 0; at < keys.byteLength; at += PREFETCH_KEY_BYTES) {
      const withSlot = keys[at + 64] === 1
      this.bytes(wasm.keysAt(), 32).set(keys.subarray(at, at + 32))
      if (withSlot) keccak256Into(keys.subarray(at + 32, at + 64), this.bytes(wasm.keysAt() + 32, 32))
      while (wasm.locate(withSlot) > 0) this.readMissing()
    }
  }

  /** Returns the number of rows read since the last call. */
  takeRowsRead(): number {
    const { rowsRead } = this
    this.rowsRead = 0
    return rowsRead
  }

  /** Branches changed since the last flush. */
  get changedBranches(): number {
    return this.wasm.dirtyBranches()
  }

  /** Returns the changes of rows since the last flush, in order; the rows are valid until the next call. */
  flush(): RowChange[] {
    const size = this.wasm.flush()
    const bytes = asBuffer(this.bytes(this.wasm.outputAt(), size))
    const changes: RowChange[] = []
    for (let at = 0; at < size; ) {
      const rowBytes = bytes.readUInt32LE(at)
      const flags = bytes.readUInt8(at + 5)
      const path = at + RECORD_PATH
      const row = at + RECORD_BYTES
      changes.push({
        kind: rowBytes > 0 ? 'put' : flags & 2 ? 'deleteAll' : 'delete',
        account: flags & 1 ? bytes.subarray(at + 8, at + 40) : undefined,
        path: bytes.subarray(path, path + bytes.readUInt8(at + 4)),
        row: bytes.subarray(row, row + rowBytes),
      })
      at = row + rowBytes
    }
    return changes
  }

  /** Frees what did not change since the last flush, whose rows are written, until so many bytes of nodes are in use. */
  trim(bytes: number): void {
    this.wasm.trim(bytes)
  }

  root(): Uint8Array {
    const at = this.wasm.foundAt()
    this.wasm.root(at)
    return this.copy(at, 32)
  }

  /** `key` is the hash of the address. undefined account: the nodes prove its absence. */
  proveAccount(key: Uint8Array): { nodes: Uint8Array[]; account: ProvenAccount | undefined } {
    const { wasm } = this
    this.bytes(wasm.keysAt(), 32).set(key)
    while (wasm.locate(false) > 0) this.readMissing()
    const found = wasm.proveAccount() !== 0
    const nodes = this.nodes()
    if (!found) return { nodes, account: undefined }
    const record = asBuffer(this.copy(wasm.foundAt(), 152))
    return {
      nodes,
      account: {
        codeHash: record.subarray(32, 64),
        balance: record.subarray(64, 96),
        nonce: record.readBigUInt64LE(96),
        storageRoot: record.subarray(120, 152),
      },
    }
  }

  /** Both keys are hashes. undefined value: the nodes prove that the slot is zero. */
  proveSlot(account: Uint8Array, slot: Uint8Array): { nodes: Uint8Array[]; value: Uint8Array | undefined } {
    const { wasm } = this
    this.bytes(wasm.keysAt(), 32).set(account)
    this.bytes(wasm.keysAt() + 32, 32).set(slot)
    while (wasm.locate(true) > 0) this.readMissing()
    const found = wasm.proveSlot() !== 0
    return { nodes: this.nodes(), value: found ? this.copy(wasm.foundAt(), 32) : undefined }
  }

  stats(): { accounts: number; usedBytes: number; freeBytes: number; memoryBytes: number } {
    const { wasm } = this
    return {
      accounts: wasm.accountCount(),
      usedBytes: wasm.usedBytes(),
      freeBytes: wasm.freeBytes(),
      memoryBytes: wasm.memoryBytes(),
    }
  }

  /** Reads the rows that the last call has missed. */
  private readMissing(): void {
    const { wasm, rows } = this
    const count = wasm.missingCount()
    this.rowsRead += count
    const entries = asBuffer(this.copy(wasm.missingAt(), count * MISSING_BYTES))
    for (let i = 0; i < count; i++) {
      const place = placeOf(entries.subarray(i * MISSING_BYTES, (i + 1) * MISSING_BYTES), leaf => this.copy(leaf, 32))
      const row = rows?.read(place)
      if (row !== undefined) {
        this.bytes(wasm.rowFor(row.byteLength), row.byteLength).set(row)
        if (wasm.expand(i, row.byteLength) !== 0) continue
      }
      const reason = row === undefined ? 'is missing' : 'is damaged'
      throw new DamagedRow(
        `row ${bytesToHex(place.path)} of the trie of ${bytesToHex(place.account ?? EMPTY_BYTES)} ${reason}`,
      )
    }
  }

  /** The trie writes each storage root in place of the account's balance. */
  private storageRoots(at: number, size: number): Uint8Array<ArrayBuffer> {
    const records = asBuffer(this.bytes(at, size))
    let count = 0
    for (let r = HEADER_BYTES; r < size; r = nextRecord(records, r)) if (touchesStorage(records, r)) count++
    const out = new Uint8Array(count * 32)
    let next = 0
    for (let r = HEADER_BYTES; next < out.byteLength; r = nextRecord(records, r)) {
      if (!touchesStorage(records, r)) continue
      out.set(records.subarray(r + 64, r + 96), next)
      next += 32
    }
    return out
  }

  private nodes(): Uint8Array[] {
    const bytes = asBuffer(this.copy(this.wasm.nodesAt(), this.wasm.nodesSize()))
    const nodes: Uint8Array[] = []
    for (let at = 0; at < bytes.byteLength; ) {
      const end = at + 4 + bytes.readUInt32LE(at)
      nodes.push(new Uint8Array(bytes.subarray(at + 4, end)))
      at = end
    }
    return nodes
  }

  /** Returns a view that the next call into the module may invalidate. Addresses from the module are signed: >>> 0. */
  private bytes(at: number, size: number): Uint8Array {
    return new Uint8Array(this.wasm.memory.buffer, at >>> 0, size)
  }

  private copy(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes(at, size))
  }
}

const slotsOf = (records: Buffer, at: number): number => records.readUInt32LE(at + 104)
const nextRecord = (records: Buffer, at: number): number => at + ACCOUNT_BYTES + slotsOf(records, at) * SLOT_BYTES
const touchesStorage = (records: Buffer, at: number): boolean =>
  slotsOf(records, at) > 0 || records[at + 108] === KIND.putCleared

/** Sizes of entries in assembly/missing.ts and of records in assembly/rows.ts. */
const MISSING_BYTES = 48
const RECORD_PATH = 40
const RECORD_BYTES = 104

const placeOf = (entry: Buffer, keyOf: (leaf: number) => Uint8Array): RowPlace => {
  const leaf = entry.readUInt32LE(4)
  const path = new Uint8Array(entry.readUInt32LE(8))
  for (let i = 0; i < path.byteLength; i++) {
    const byte = entry.readUInt8(16 + (i >> 1))
    path[i] = i & 1 ? byte & 15 : byte >> 4
  }
  return { account: leaf === 0 ? undefined : keyOf(leaf), path }
}
