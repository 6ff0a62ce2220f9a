import { bytesToHex, compareBytes } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { keccak256 } from '../../src/crypto/hash.ts'
import { encodeRlp } from '../../src/primitives/rlp/rlp.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT, encodeAccount } from '../../src/state/account.ts'
import {
  type ChunkPlacement,
  type ChunkSizes,
  makeSnapshot,
  type SnapshotContents,
} from '../../src/state/snapshot/make-snapshot.ts'
import { StackTrie } from '../../src/state/trie/stack-trie.ts'
import type { StoreEntry } from '../../src/storage/store.ts'

/** Small enough that a few hundred accounts fall into many chunks. */
export const SMALL: ChunkSizes = { chunkBytes: 1_500, inlineBytes: 200 }

interface PlainState {
  readonly accounts: readonly (readonly [Uint8Array, Account])[]
  readonly slots: ReadonlyMap<string, readonly StoreEntry[]>
}

const byKey = <T>(entries: readonly (readonly [Uint8Array, T])[]) => entries.toSorted(([a], [b]) => compareBytes(a, b))

/** `storages`: how many slots each account has. Keys are hashes, as those of a real state. */
export const plainState = (storages: readonly number[], salt = ''): PlainState => {
  const slots = new Map<string, readonly StoreEntry[]>()
  const accounts = storages.map((count, index): readonly [Uint8Array, Account] => {
    const key = keccak256(Buffer.from(`account ${salt} ${index}`))
    const own = byKey(
      Array.from(
        { length: count },
        (_, slot): StoreEntry => [keccak256(Buffer.from(`slot ${slot}`)), Uint8Array.of(1 + ((slot + index) % 255))],
      ),
    )
    const trie = new StackTrie()
    for (const [slot, word] of own) trie.add(slot, encodeRlp(word))
    slots.set(bytesToHex(key), own)
    const storageRoot = count === 0 ? EMPTY_ROOT : trie.root()
    const codeHash = count === 0 ? EMPTY_CODE_HASH : bytesToHex(keccak256(Buffer.from(`code ${index % 3}`)))
    return [key, { nonce: index % 5, balance: BigInt(index) ** 3n, codeHash, storageRoot }]
  })
  return { accounts: byKey(accounts), slots }
}

/** Mostly plain accounts, some contracts, few of them large. */
export const storagesArbitrary = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.nat(6) },
    { weight: 1, arbitrary: fc.integer({ min: 7, max: 120 }) },
  ),
  { minLength: 1, maxLength: 120 },
)

export interface CutState extends SnapshotContents {
  accountChunk(part: ChunkPlacement): Uint8Array
  storageChunk(part: ChunkPlacement): Uint8Array
}

const readerOf = ({ accounts, slots }: PlainState) => ({
  async *accounts() {
    for (const [key, account] of accounts) yield [key, encodeAccount(account)] as StoreEntry
  },
  async *slots(owner: Uint8Array) {
    yield* slots.get(bytesToHex(owner)) ?? []
  },
})

export const cutState = async (state: PlainState, chunkSizes: ChunkSizes = SMALL): Promise<CutState> => {
  const files = { accounts: [] as Uint8Array[], storages: [] as Uint8Array[] }
  const sink = (name: keyof typeof files) => ({ append: async (bytes: Uint8Array) => void files[name].push(bytes) })
  const made = await makeSnapshot(
    readerOf(state),
    { accounts: sink('accounts'), storages: sink('storages') },
    chunkSizes,
  )
  const [accounts, storages] = [Buffer.concat(files.accounts), Buffer.concat(files.storages)]
  return {
    ...made,
    accountChunk: ({ start, end }) => accounts.subarray(start, end),
    storageChunk: ({ start, end }) => storages.subarray(start, end),
  }
}
