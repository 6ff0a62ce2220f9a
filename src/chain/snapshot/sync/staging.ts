import { rm } from 'node:fs/promises'
import { assert } from '@tandem/base/assert.ts'
import {
  bigintToBytes,
  bytesToBigint,
  bytesToHex,
  concatBytes,
  type Hex,
  hexToBytes,
  ZERO_HASH,
} from '@tandem/base/bytes.ts'
import { COUNCIL_ADDRESS, type NetworkParams } from '../../../config/networks.ts'
import { type CertificateFault, certificateFault, rejectHighS } from '../../../consensus/certificate.ts'
import { keccak256, keccak256Hex } from '../../../crypto/hash.ts'
import { recoverAddress } from '../../../crypto/signature.ts'
import { encodeManifest, manifestCodec, type SnapshotManifest } from '../../../network/wire/snapshot.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../../primitives/consensus/extra-data.ts'
import { decodeHeader, type Header, headerHash } from '../../../primitives/header.ts'
import { decodeRlpList, encodeRlp, encodeRlpList, uintItem } from '../../../primitives/rlp/rlp.ts'
import { commitRecord, RECORDS_SLOT } from '../../../rules/council/council-storage.ts'
import { decodeProofState, PROOF_STATE_SLOT } from '../../../rules/proof/proof-state.ts'
import { decodeAccount, EMPTY_CODE_HASH } from '../../../state/account.ts'
import { hashedKey, readAccount, readSlot } from '../../../state/flat-tables.ts'
import { type AccountRecord, falseSnapshot } from '../../../state/snapshot/records.ts'
import { rootOfParts } from '../../../state/snapshot/sub-trie.ts'
import { verifyAccountChunk, verifySlotChunk } from '../../../state/snapshot/verify-chunk.ts'
import { putStateMeta } from '../../../state/state-meta.ts'
import type { Batch } from '../../../storage/batch.ts'
import { BUCKETS } from '../../../storage/buckets.ts'
import { isStoreError } from '../../../storage/errors.ts'
import { numberKey, readNumber } from '../../../storage/keys.ts'
import { metaKey } from '../../../storage/schema.ts'
import { Store } from '../../../storage/store.ts'
import { Council } from '../../council/council.ts'
import { readRecordRows } from '../../council/council-rows.ts'
import { putProofState } from '../../proof/proof-rows.ts'
import { BlockStore } from '../../store/block-store.ts'
import { readEarliestBlock } from '../../store/earliest-block.ts'
import { putHead, readHead } from '../../store/put-block.ts'
import { type HistoryRange, type HistoryTip, tipBelow, writeHistory } from '../backfill/history-rows.ts'
import { chunkPlaceOf, storageRoots } from './chunk-places.ts'
import { putRecords } from './council-records.ts'

/** Data from which the committees of a chain follow. */
export interface ChainIdentity {
  readonly params: NetworkParams
  readonly foundation: Hex
  readonly genesisHash: Hex
}

/** Rows of the node's own genesis: bucket, key, value. */
export type GenesisRows = readonly (readonly [bucket: number, key: Uint8Array, value: Uint8Array])[]

/** Progress of a snapshot import. */
interface StagingProgress {
  /** True when the staged store is already a chain. */
  readonly isWhole: boolean
  readonly manifest: Uint8Array | null
  readonly done: readonly number[]
  readonly accounts: number
  readonly slots: number
  /** Sum of all imported balances, wei. */
  readonly balance: bigint
  /** Next block below the imported ones; null: none is imported; 'whole': all are. */
  readonly history: HistoryTip | null | 'whole'
}

/** Code hashes of accounts whose code is missing in the store; `last`: last account covered by the list. */
export interface MissingCodes {
  readonly hashes: readonly Hex[]
  readonly last: Uint8Array | null
}

const MANIFEST = metaKey('snapshot-manifest')
const NOTHING_CHANGED = { accounts: new Map(), storage: new Map(), cleared: new Set<Hex>() }

/**
 * Staged store beside that of the running node: every chunk of the snapshot is verified before its rows are written and marked as
 * imported in the same batch, so that the marks are true after any stop. `finish` makes it a chain; until then it is not used as one.
 */
export class Staging {
  #store: Store
  readonly #identity: ChainIdentity
  #manifest: SnapshotManifest | undefined
  #header: Header | undefined
  /** Roots of the storages in the manifest. */
  #storageRoots: ReadonlyMap<Hex, Hex | undefined> = new Map()

  private constructor(store: Store, identity: ChainIdentity) {
    this.#store = store
    this.#identity = identity
  }

  /** `identity`: of the chain whose state is imported. */
  static async open(path: string, identity: ChainIdentity): Promise<Staging> {
    const staging = new Staging(await openStaged(path), identity)
    const row = await staging.#store.get(BUCKETS.meta, MANIFEST)
    if (row !== undefined) staging.#take(manifestOf(row))
    return staging
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** Deletes this snapshot completely, before another one is imported. */
  async reset(): Promise<void> {
    const { path } = this.#store
    await this.close()
    await rm(path, { recursive: true, force: true })
    this.#store = await openStaged(path)
    this.#manifest = undefined
    this.#header = undefined
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
    const isWhole = readHead(this.#store) !== undefined
    return { isWhole, manifest, done, accounts, slots, balance, history: await this.#history() }
  }

  /** Starts a snapshot whose parts match the state root of its header; the store must be empty. */
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
    using batch = this.#store.batch()
    const mark = this.#put(batch, index, chunk)
    batch.put(BUCKETS.snapshotChunk, numberKey(index), encodeMark(mark))
    await batch.write()
    return { accounts: mark.accounts, slots: mark.slots }
  }

  /** Returns the fault of the imported records, or null: the contract's storage commits to all, so none can be changed or left out. */
  recordsFault(): string | null {
    const { cycleBlocks } = this.#identity.params.rewards
    let commitment: Hex = ZERO_HASH
    for (let number = 0; number < this.#ownHeader.number; number += cycleBlocks) {
      const rows = readRecordRows(this.#store, number)
      if (rows === undefined) return `no record of block ${number}`
      commitment = commitRecord(commitment, rows)
    }
    const committed = readSlot(this.#store, hashedKey(COUNCIL_ADDRESS), RECORDS_SLOT)
    if (commitment !== committed) return `they make the commitment ${commitment}, the state holds ${committed}`
    return this.#proofStateFault(this.#whole.proofState)
  }

  /** Returns the fault of the state of the proof chain, to whose hash the contract's storage commits, or null. */
  #proofStateFault(proofState: Uint8Array): string | null {
    const { proofTip } = decodeExtraData(this.#ownHeader.extraData)
    if (proofTip === ZERO_HASH) return proofState.byteLength === 0 ? null : 'a proof state without a proof header'
    const committed = readSlot(this.#store, hashedKey(COUNCIL_ADDRESS), PROOF_STATE_SLOT)
    const hash = keccak256Hex(proofState)
    return hash === committed ? null : `the proof state has the hash ${hash}, the state holds ${committed}`
  }

  /** Fault of a certificate of the snapshot's block, or null. To be asked when the records are proven. */
  certificateFault(certificate: Certificate): CertificateFault | null {
    const { params, genesisHash } = this.#identity
    const { number } = this.#ownHeader
    const committee = this.#council().committee(number)
    assert(committee !== undefined, 'proven records name the committee of the block')
    const sealed = { number, blockHash: headerHash(this.#ownHeader) }
    const domain = { chainId: params.chainId, genesisHash }
    return certificateFault(certificate, sealed, committee, domain, rejectHighS(recoverAddress))
  }

  /** Returns true when the manifest's storages match their accounts. Called when all accounts are imported. */
  hasTrueStorages(): boolean {
    return this.#whole.storages.every(({ owner }) => this.#isTrueStorage(owner))
  }

  /** Searches from the account `after` on; an empty list means that no code is missing. */
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

  /** Returns how many of the codes match the requested hashes; others are not stored. */
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

  /** Stores blocks that end with the snapshot's own, or continue below the imported ones. Throws SNAPSHOT_FALSE. */
  async putBlocks(range: HistoryRange, tip: HistoryTip): Promise<HistoryTip> {
    return writeHistory(this.#store, range, tip)
  }

  /** Completes the import: makes the store a chain whose head is the snapshot's block. `burntWei`: total burnt up to it. */
  async finish(burntWei: bigint): Promise<void> {
    const header = this.#ownHeader
    const batch = this.#store.batch()
    await this.#writeCouncil(batch)
    const { proofState } = this.#whole
    if (proofState.byteLength > 0) putProofState(batch, decodeProofState(proofState))
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
    this.#storageRoots = storageRoots(manifest)
    assert(rootOfParts(manifest.accounts) === this.#header.stateRoot, 'a manifest is verified before it is taken')
  }

  /**
   * Adds the record of the cycle that ends with the snapshot's block to the batch. No state commits to it yet: it follows from the
   * previous record, the contract's storage and the certificates in the cycle's headers. All of them must be imported.
   */
  async #writeCouncil(batch: Batch): Promise<void> {
    const block = await new BlockStore(this.#store).header(this.#ownHeader.number)
    assert(block !== undefined, "the snapshot's block is in")
    await this.#council().write(batch, block, NOTHING_CHANGED)
  }

  #council(): Council {
    const store = this.#store
    return new Council({
      ...this.#identity,
      store,
      blocks: new BlockStore(store),
      state: {
        account: (address: Hex) => readAccount(store, hashedKey(address)),
        storage: (address: Hex, slot: Hex) => readSlot(store, hashedKey(address), slot),
      },
    })
  }

  get #ownHeader(): Header {
    assert(this.#header !== undefined, 'a snapshot is begun')
    return this.#header
  }

  get #whole(): SnapshotManifest {
    assert(this.#manifest !== undefined, 'a snapshot is begun')
    return this.#manifest
  }

  #put(batch: Batch, index: number, chunk: Uint8Array): Mark {
    const chunkPlace = chunkPlaceOf(this.#whole, index)
    if (chunkPlace.kind === 'records') {
      if (keccak256Hex(chunk) !== chunkPlace.hash) throw falseSnapshot('a chunk of records with another hash')
      const { cycleBlocks } = this.#identity.params.rewards
      putRecords(batch, chunk, { below: this.#ownHeader.number, cycleBlocks })
      return NOTHING
    }
    if (chunkPlace.kind === 'accounts')
      return this.#putAccounts(batch, verifyAccountChunk(chunk, chunkPlace.snapshotPart))
    if (!this.#isTrueStorage(chunkPlace.owner)) throw falseSnapshot('a storage that is not that of its account')
    const slots = verifySlotChunk(chunk, chunkPlace.snapshotPart)
    for (const { key, word } of slots) batch.put(BUCKETS.slot, concatBytes(chunkPlace.owner, key), word)
    return { ...NOTHING, slots: slots.length }
  }

  /** True when its account is imported and its parts match the account's storage root. */
  #isTrueStorage(owner: Uint8Array): boolean {
    const root = this.#storageRoots.get(bytesToHex(owner))
    return root !== undefined && readAccount(this.#store, owner)?.storageRoot === root
  }

  #putAccounts(batch: Batch, records: readonly AccountRecord[]): Mark {
    let [slots, balance] = [0, 0n]
    for (const record of records) {
      batch.put(BUCKETS.account, record.key, record.row)
      balance += record.account.balance
      if (record.slots === 'elsewhere') {
        if (this.#storageRoots.get(bytesToHex(record.key)) !== record.account.storageRoot)
          throw falseSnapshot('a storage that the manifest does not list')
        continue
      }
      for (const { key, word } of record.slots) batch.put(BUCKETS.slot, concatBytes(record.key, key), word)
      slots += record.slots.length
    }
    return { accounts: records.length, slots, balance }
  }

  async #history(): Promise<StagingProgress['history']> {
    const earliest = await readEarliestBlock(this.#store)
    if (earliest > 0) return (await tipBelow(this.#store, earliest)) ?? 'whole'
    return (await this.#store.has(BUCKETS.header, numberKey(1))) ? 'whole' : null
  }
}

/** Opens the store; one that is damaged, as when the process ended while it was deleted, is begun anew. */
const openStaged = (path: string): Promise<Store> =>
  Store.open(path).catch(async error => {
    if (!isStoreError(error) || error.code !== 'STORE_CORRUPT') throw error
    await rm(path, { recursive: true })
    return Store.open(path)
  })

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
