import { asBuffer } from '@tandem/base/bytes.ts'
import { loadWasm, type WasmMemory } from '../../crypto/wasm/wasm.ts'
import { ACCOUNT_BYTES, HEADER_BYTES, KIND, SLOT_BYTES } from './batch.ts'

interface Exports {
  readonly memory: WasmMemory
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
 * Account trie and its storage tries as one WebAssembly instance, with all nodes in its memory: about 110 bytes per account. Batches are
 * packed as in batch.ts. Everything is synchronous and takes tens of milliseconds for thousands of changes, hence the worker
 * (trie-service.ts).
 */
export class Trie {
  private readonly wasm = loadWasm<Exports>(new URL('./assembly/trie.wasm', import.meta.url))

  /** Applies a packed batch. With a fault nothing was changed. A WebAssembly trap (4 GiB are full) leaves the trie unusable. */
  apply(batch: Uint8Array, withUndo: boolean): Applied {
    const { wasm } = this
    const size = batch.byteLength
    const at = wasm.inputFor(size)
    this.bytes(at, size).set(batch)
    const fault = wasm.apply(size, withUndo ? 1 : 0)
    if (fault !== 0) return { fault: FAULTS[fault] ?? `fault ${fault}` }
    const storageRoots = this.storageRoots(at, size)
    const undo = withUndo ? this.copy(wasm.undoAt(), wasm.undoSize()) : undefined
    return { fault: undefined, root: this.root(), storageRoots, undo }
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
