import { COUNCIL_ADDRESS, type NetworkParams } from '../../config/networks.ts'
import { type RangeFault, rangeFault } from '../../consensus/verify-range.ts'
import { keccak256, keccak256Hex } from '../../crypto/hash.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import { encodeManifest, manifestCodec, type SnapshotManifest } from '../../network/wire/snapshot.ts'
import { decodeBlock } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/certificate.ts'
import { decodeHeader, type Header, headerHash } from '../../primitives/header.ts'
import { decodeRlpList, encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp.ts'
import { jailedAtSlot, readCouncil } from '../../rules/council-storage.ts'
import { decodeAccount, EMPTY_CODE_HASH } from '../../state/account.ts'
import { hashHex, readSlot } from '../../state/flat.ts'
import { falseSnapshot } from '../../state/snapshot/errors.ts'
import { rootOfParts } from '../../state/snapshot/part.ts'
import type { AccountRecord } from '../../state/snapshot/records.ts'
import { verifyAccountChunk, verifySlotChunk } from '../../state/snapshot/verify-chunk.ts'
import { putStateMeta } from '../../state/state-meta.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import { Store } from '../../storage/store.ts'
import { assert } from '../../util/assert.ts'
import {
  bigintToBytes,
  bytesEqual,
  bytesToBigint,
  bytesToHex,
  concatBytes,
  type Hex,
  hexToBytes,
  ZERO_HASH,
} from '../../util/bytes.ts'
import { BlockStore, putHead } from '../block-store.ts'
import { Council } from '../council.ts'
import { decodeCouncil, decodeCycle, encodeCouncil } from '../council-rows.ts'
import { readEarliest } from '../earliest.ts'
import { Seeds } from '../seeds.ts'
import { type HistoryRange, type HistoryTip, tipBelow, writeHistory } from './history-rows.ts'
import { putRecords } from './records.ts'

/** Rows of the node's own genesis: bucket, key, value. */
export type GenesisRows = readonly (readonly [bucket: number, key: Uint8Array, value: Uint8Array])[]

/** How far a snapshot is in. */
export interface StagingProgress {
  /** It is a chain already. */
  readonly isWhole: boolean
  readonly manifest: Uint8Array | null
  readonly done: readonly number[]
  readonly accounts: number
  readonly slots: number
  /** Sum of all balances that are in, wei. */
  readonly balance: bigint
  /** The block to go on with below those that are in; null: none is in; 'whole': all are. */
  readonly history: HistoryTip | null | 'whole'
}

/** Consecutive blocks after the snapshot, each its RLP, with the certificate of the last. */
export interface SealedTail {
  readonly blocks: readonly Uint8Array[]
  readonly certificate: Certificate
}

/** What the committees of a chain follow from. */
export interface ChainIdentity {
  readonly params: NetworkParams
  readonly foundation: Hex
  readonly genesisHash: Hex
}

/** Code that accounts have and the store has not; `last`: the account up to which that is all. */
export interface MissingCodes {
  readonly hashes: readonly Hex[]
  readonly last: Uint8Array | null
}

/** Committees are drawn from rows alone. */
const NO_BLOCKS = { header: async () => undefined }
const NO_STATE = { account: () => undefined, storage: () => ZERO_HASH }

const MANIFEST = metaKey('snapshot-manifest')

/**
 * A store in the making beside that of the running node: what a snapshot brings, every chunk verified before a row of it is written and
 * marked in the same batch, so that after any stop what is marked is there. It becomes a chain with `finish`; until then nobody takes
 * it for one.
 */
export class Staging {
  readonly #store: Store
  #manifest: SnapshotManifest | undefined
  #header: Header | undefined

  private constructor(store: Store) {
    this.#store = store
  }

  static async open(path: string): Promise<Staging> {
    const staging = new Staging(await Store.open(path))
    const row = await staging.#store.get(BUCKETS.meta, MANIFEST)
    if (row !== undefined) staging.#take(manifestOf(row))
    return staging
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async progress(): Promise<StagingProgress> {
    const done: number[] = []
    let [accounts, slots, balance] = [0, 0, 0n]
    for await (const [key, row] of this.#store.entries(BUCKETS.snapshotChunk)) {
      const mark = decodeMark(row)
      done.push(readNumber(key))
      accounts += mark.accounts
      slots += mark.slots
      balance += mark.balance
    }
    const manifest = this.#manifest === undefined ? null : encodeRlpList([encodeManifest(this.#manifest)])
    const isWhole = (await new BlockStore(this.#store).headNumber()) !== undefined
    return { isWhole, manifest, done, accounts, slots, balance, history: await this.#history() }
  }

  /** Begins with a snapshot whose parts make the state root of its header; the store must be empty. */
  async begin(manifest: Uint8Array, genesis: GenesisRows): Promise<void> {
    assert(this.#manifest === undefined, 'a store holds one snapshot')
    const batch = this.#store.batch()
    for (const [bucket, key, value] of genesis) batch.put(bucket, key, value)
    batch.put(BUCKETS.meta, MANIFEST, manifest)
    await batch.write()
    this.#take(manifestOf(manifest))
  }

  /** Verifies a chunk and stores it. Throws SNAPSHOT_FALSE. */
  async import(index: number, chunk: Uint8Array): Promise<{ readonly accounts: number; readonly slots: number }> {
    const batch = this.#store.batch()
    try {
      const mark = this.#put(batch, index, chunk)
      batch.put(BUCKETS.snapshotChunk, numberKey(index), encodeMark(mark))
      await batch.write()
      return { accounts: mark.accounts, slots: mark.slots }
    } catch (error) {
      await batch.discard()
      throw error
    }
  }

  /**
   * Whether the councils among the records are true as far as can be seen: every block of `tail`, the two cycles after the snapshot,
   * which are known to be of the chain, has its certificate by the committees they draw, and so has the snapshot's own. To be asked
   * when all records are in.
   */
  committeesFault(tail: SealedTail, { params, foundation, genesisHash }: ChainIdentity): RangeFault | null {
    const header = this.#header as Header
    const seeds = new Seeds(genesisHash)
    const council = new Council({ params, foundation, seeds, store: this.#store, blocks: NO_BLOCKS, state: NO_STATE })
    const range = { blocks: tail.blocks.map(decodeBlock), certificate: tail.certificate }
    try {
      return rangeFault(range, {
        parent: { number: header.number, hash: headerHash(header) },
        committees: council,
        domain: { chainId: params.chainId, genesisHash },
        recover: recoverAddress,
        certificates: 'all',
      })
    } catch {
      // Rows that cannot be read, in whatever way: they are a peer's.
      return { number: header.number, reason: 'COMMITTEE_UNKNOWN' }
    }
  }

  /** Whether the council that serves after the snapshot is the one that its state holds. To be asked when all chunks are in. */
  async hasTrueCouncil(): Promise<boolean> {
    const { number } = this.#header as Header
    const owner = hashHex(COUNCIL_ADDRESS)
    const read = (slot: Hex) => readSlot(this.#store, owner, slot)
    const row = await this.#store.get(BUCKETS.cycle, numberKey(number))
    const found = readCouncil(read)
    if (row === undefined || found === undefined) return false
    const { members, jailed } = decodeCycle(number, row, at =>
      decodeCouncil(this.#store.getSync(BUCKETS.council, numberKey(at)) ?? new Uint8Array(0)),
    )
    if (!bytesEqual(encodeCouncil(members), encodeCouncil(found))) return false
    return members.every(({ validator }) => jailed.has(validator) === BigInt(read(jailedAtSlot(validator))) > 0n)
  }

  /** Whether the manifest's storages are those of accounts. To be asked when all accounts are in, before any storage comes. */
  async hasTrueStorages(): Promise<boolean> {
    for (const { owner, parts } of this.#whole.storages) {
      const row = await this.#store.get(BUCKETS.account, owner)
      if (row === undefined || decodeAccount(row).storageRoot !== rootOfParts(parts)) return false
    }
    return true
  }

  /** Looked for from the account `after` on; none: all is there. */
  async missingCodes(after: Uint8Array | null, limit: number): Promise<MissingCodes> {
    const hashes = new Set<Hex>()
    let last = after
    for await (const [key, row] of this.#store.entries(BUCKETS.account, after === null ? {} : { gt: after })) {
      const { codeHash } = decodeAccount(row)
      if (codeHash !== EMPTY_CODE_HASH && !hashes.has(codeHash)) {
        if (!(await this.#store.has(BUCKETS.code, hexToBytes(codeHash)))) hashes.add(codeHash)
        if (hashes.size >= limit) break
      }
      last = key
    }
    return { hashes: [...hashes], last }
  }

  /** Answers how many of the codes are those asked for; the rest is not stored. */
  async putCodes(hashes: readonly Hex[], codes: readonly Uint8Array[]): Promise<number> {
    const batch = this.#store.batch()
    let count = 0
    for (const [at, code] of codes.entries()) {
      const hash = keccak256(code)
      if (bytesToHex(hash) !== hashes[at]) break
      batch.put(BUCKETS.code, hash, code)
      count++
    }
    await batch.write()
    return count
  }

  /** Stores blocks that end with the snapshot's own, or below those that are in. Throws SNAPSHOT_FALSE. */
  async putBlocks(range: HistoryRange, tip: HistoryTip): Promise<HistoryTip> {
    return writeHistory(this.#store, range, tip)
  }

  /** All is in: makes it a chain whose head is the snapshot's block. `burntWei`: what was burnt up to it. */
  async finish(burntWei: bigint): Promise<void> {
    const header = this.#header
    assert(header !== undefined, 'a snapshot is finished')
    const batch = this.#store.batch()
    batch.put(BUCKETS.supply, numberKey(header.number), bigintToBytes(burntWei))
    putStateMeta(batch, { number: header.number, root: header.stateRoot, oldest: header.number })
    batch.del(BUCKETS.meta, MANIFEST)
    putHead(batch, header.number)
    await batch.write()
    await this.#store.clear(BUCKETS.snapshotChunk)
  }

  #take(manifest: SnapshotManifest): void {
    this.#manifest = manifest
    this.#header = decodeHeader(manifest.header)
    assert(rootOfParts(manifest.accounts) === this.#header.stateRoot, 'a manifest is verified before it is taken')
  }

  get #whole(): SnapshotManifest {
    assert(this.#manifest !== undefined, 'a snapshot is begun')
    return this.#manifest
  }

  #put(batch: Batch, index: number, chunk: Uint8Array): Mark {
    const place = placeOf(this.#whole, index)
    if (place.kind === 'records') {
      if (keccak256Hex(chunk) !== place.hash) throw falseSnapshot('a chunk of records with another hash')
      putRecords(batch, chunk, (this.#header as Header).number)
      return NOTHING
    }
    if (place.kind === 'accounts') return this.#putAccounts(batch, verifyAccountChunk(chunk, place.part))
    const slots = verifySlotChunk(chunk, place.part)
    for (const { key, word } of slots) batch.put(BUCKETS.slot, concatBytes(place.owner, key), word)
    return { ...NOTHING, slots: slots.length }
  }

  #putAccounts(batch: Batch, records: readonly AccountRecord[]): Mark {
    let [slots, balance] = [0, 0n]
    for (const record of records) {
      batch.put(BUCKETS.account, record.key, record.row)
      balance += record.account.balance
      if (record.slots === 'elsewhere') {
        if (!this.#isListed(record)) throw falseSnapshot('a storage that the manifest does not list')
        continue
      }
      for (const { key, word } of record.slots) batch.put(BUCKETS.slot, concatBytes(record.key, key), word)
      slots += record.slots.length
    }
    return { accounts: records.length, slots, balance }
  }

  #isListed({ key }: AccountRecord): boolean {
    return this.#whole.storages.some(({ owner }) => bytesEqual(owner, key))
  }

  async #history(): Promise<StagingProgress['history']> {
    const earliest = await readEarliest(this.#store)
    if (earliest > 0) return (await tipBelow(this.#store, earliest)) ?? 'whole'
    return (await this.#store.has(BUCKETS.header, numberKey(1))) ? 'whole' : null
  }
}

type Place =
  | { readonly kind: 'records'; readonly hash: Hex }
  | { readonly kind: 'accounts'; readonly part: SnapshotManifest['accounts'][number] }
  | { readonly kind: 'storage'; readonly owner: Uint8Array; readonly part: SnapshotManifest['accounts'][number] }

/** What a chunk is by its number (network/wire/snapshot.ts). */
const placeOf = ({ records, accounts, storages }: SnapshotManifest, index: number): Place => {
  let at = index
  const hash = records[at]
  if (hash !== undefined) return { kind: 'records', hash }
  at -= records.length
  const account = accounts[at]
  if (account !== undefined) return { kind: 'accounts', part: account }
  at -= accounts.length
  for (const { owner, parts } of storages) {
    const part = parts[at]
    if (part !== undefined) return { kind: 'storage', owner, part }
    at -= parts.length
  }
  throw new RangeError(`no chunk ${index}`)
}

interface Mark {
  readonly accounts: number
  readonly slots: number
  readonly balance: bigint
}
const NOTHING: Mark = { accounts: 0, slots: 0, balance: 0n }

const encodeMark = ({ accounts, slots, balance }: Mark): Uint8Array =>
  encodeRlp([uintItem(accounts), uintItem(slots), bigintToBytes(balance)])

const decodeMark = (row: Uint8Array): Mark => {
  const [accounts, slots, balance] = decodeRlpList(row) as readonly [Uint8Array, Uint8Array, Uint8Array]
  return {
    accounts: Number(bytesToBigint(accounts)),
    slots: Number(bytesToBigint(slots)),
    balance: bytesToBigint(balance),
  }
}

const manifestOf = (bytes: Uint8Array): SnapshotManifest => {
  const manifest = manifestCodec.decode(bytes)
  assert(manifest !== null, 'a store in the making has a manifest')
  return manifest
}
