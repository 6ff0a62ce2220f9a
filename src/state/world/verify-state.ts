import { bytesEqual, bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Snapshot, Store, StoreEntry } from '../../storage/store.ts'
import { type Account, decodeAccount, EMPTY_CODE_HASH } from '../account.ts'
import { ACCOUNT_KEY_BYTES } from '../flat-tables.ts'
import { readStateMeta, stateRootAt } from '../state-meta.ts'
import { StackTrie } from '../trie/stack-trie.ts'
import { readTrieMark } from '../trie/trie-rows.ts'
import { type RowProblem, verifyRows } from '../trie/verify-rows.ts'
import { accountLeaf } from '../update/account-leaf.ts'

/** Inconsistency in the state tables. `account` is the hashed address. */
type StateProblem =
  | { readonly kind: 'NO_STATE' }
  | { readonly kind: 'STATE_ROOT'; readonly expected: Hex; readonly found: Hex }
  | { readonly kind: 'HEADER_ROOT'; readonly expected: Hex; readonly found: Hex }
  | { readonly kind: 'STORAGE_ROOT'; readonly account: Hex; readonly expected: Hex; readonly found: Hex }
  | { readonly kind: 'STRAY_SLOT'; readonly account: Hex }
  | { readonly kind: 'MISSING_CODE'; readonly account: Hex; readonly codeHash: Hex }
  | { readonly kind: 'WRONG_CODE'; readonly codeHash: Hex }
  | RowProblem

interface StateVerifyReport {
  readonly number: number
  readonly root: Hex
  readonly accounts: number
  readonly slots: number
  readonly codes: number
  /** Empty: the state is consistent. At most MAX_PROBLEMS. */
  readonly problems: readonly StateProblem[]
}

interface StateVerifyProgress {
  readonly accounts: number
  readonly slots: number
  /** Completed share of the accounts' key space, 0 to 1. */
  readonly done: number
}

const MAX_PROBLEMS = 100
const PROGRESS_ACCOUNTS = 10_000

/** Recomputes every root from the flat tables of one snapshot and checks the rows of the trie, without the batch trie and in bounded memory. */
export const verifyState = async (
  store: Store,
  onProgress: (progress: StateVerifyProgress) => void = () => {},
): Promise<StateVerifyReport> => {
  await using snapshot = store.snapshot()
  return await new Verifier(store, snapshot, onProgress).run()
}

class Verifier {
  readonly #store: Store
  readonly #snapshot: Snapshot
  readonly #onProgress: (progress: StateVerifyProgress) => void
  readonly #problems: StateProblem[] = []
  readonly #slots: AsyncGenerator<StoreEntry>
  #next: IteratorResult<StoreEntry, void> = { done: true, value: undefined }
  #accountCount = 0
  #slotCount = 0
  #codeCount = 0

  constructor(store: Store, snapshot: Snapshot, onProgress: (progress: StateVerifyProgress) => void) {
    this.#store = store
    this.#snapshot = snapshot
    this.#onProgress = onProgress
    this.#slots = store.entries(BUCKETS.slot, { snapshot })
  }

  async run(): Promise<StateVerifyReport> {
    const meta = await readStateMeta(this.#store, this.#snapshot)
    if (meta === undefined) this.#problem({ kind: 'NO_STATE' })
    await this.#codes()
    const found = await this.#accounts()
    if (meta !== undefined) {
      const header = await stateRootAt(this.#store, meta.number, this.#snapshot)
      if (found !== meta.root) this.#problem({ kind: 'STATE_ROOT', expected: meta.root, found })
      if (header !== meta.root) this.#problem({ kind: 'HEADER_ROOT', expected: header, found: meta.root })
      await this.#rows(meta.number)
    }
    return {
      number: meta?.number ?? -1,
      root: found,
      accounts: this.#accountCount,
      slots: this.#slotCount,
      codes: this.#codeCount,
      problems: this.#problems,
    }
  }

  /** Rows of another state, as after a rewind that was cut short, are built anew at the next start. */
  async #rows(number: number): Promise<void> {
    const mark = await readTrieMark(this.#store, this.#snapshot)
    if (mark === undefined || mark.number > number) return
    if ((await stateRootAt(this.#store, mark.number, this.#snapshot)) !== mark.root) return
    await verifyRows(this.#store, this.#snapshot, mark.root, problem => this.#problem(problem))
  }

  async #accounts(): Promise<Hex> {
    const trie = new StackTrie()
    try {
      this.#next = await this.#slots.next()
      for await (const [key, row] of this.#store.entries(BUCKETS.account, { snapshot: this.#snapshot })) {
        const account = decodeAccount(row)
        await this.#strayBefore(key)
        await this.#storage(key, account)
        await this.#code(key, account)
        trie.add(key, accountLeaf(account))
        this.#accountCount++
        if (this.#accountCount % PROGRESS_ACCOUNTS === 0) this.#progress((key[0] ?? 0) / 256)
      }
      await this.#strayBefore(undefined)
    } finally {
      await this.#slots.return(undefined)
    }
    this.#progress(1)
    return trie.root()
  }

  /** Slots of missing accounts are between the existing accounts. */
  async #strayBefore(account: Uint8Array | undefined): Promise<void> {
    while (!this.#next.done) {
      const owner = this.#next.value[0].subarray(0, ACCOUNT_KEY_BYTES)
      if (account !== undefined && Buffer.compare(owner, account) >= 0) return
      this.#problem({ kind: 'STRAY_SLOT', account: bytesToHex(owner) })
      await this.#advance()
    }
  }

  async #storage(account: Uint8Array, { storageRoot }: Account): Promise<void> {
    const trie = new StackTrie()
    while (!this.#next.done) {
      const [key, word] = this.#next.value
      if (!bytesEqual(key.subarray(0, ACCOUNT_KEY_BYTES), account)) break
      trie.add(key.subarray(ACCOUNT_KEY_BYTES), encodeRlp(word))
      this.#slotCount++
      await this.#advance()
    }
    const found = trie.root()
    if (found === storageRoot) return
    this.#problem({ kind: 'STORAGE_ROOT', account: bytesToHex(account), expected: storageRoot, found })
  }

  async #advance(): Promise<void> {
    this.#next = await this.#slots.next()
  }

  async #code(account: Uint8Array, { codeHash }: Account): Promise<void> {
    if (codeHash === EMPTY_CODE_HASH) return
    if (await this.#store.has(BUCKETS.code, hexToBytes(codeHash), this.#snapshot)) return
    this.#problem({ kind: 'MISSING_CODE', account: bytesToHex(account), codeHash })
  }

  async #codes(): Promise<void> {
    for await (const [key, code] of this.#store.entries(BUCKETS.code, { snapshot: this.#snapshot })) {
      this.#codeCount++
      if (!bytesEqual(keccak256(code), key)) this.#problem({ kind: 'WRONG_CODE', codeHash: bytesToHex(key) })
    }
  }

  #problem(problem: StateProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem)
  }

  #progress(done: number): void {
    this.#onProgress({ accounts: this.#accountCount, slots: this.#slotCount, done })
  }
}
