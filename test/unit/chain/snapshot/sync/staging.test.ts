import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EMPTY_BYTES, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeCouncil, readRecordRows } from '../../../../../src/chain/council/council-rows.ts'
import { SNAPSHOT_FORMAT } from '../../../../../src/chain/snapshot/store/snapshot-folder.ts'
import { Staging } from '../../../../../src/chain/snapshot/sync/staging.ts'
import { NETWORKS } from '../../../../../src/config/networks.ts'
import { keccak256, keccak256Hex } from '../../../../../src/crypto/hash.ts'
import { encodeManifest, type SnapshotManifest } from '../../../../../src/network/wire/snapshot.ts'
import { type Block, blockFromParts } from '../../../../../src/primitives/block.ts'
import { encodeHeader } from '../../../../../src/primitives/header.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../../../../src/primitives/rlp/rlp.ts'
import { nextSeed } from '../../../../../src/rules/council/cycle.ts'
import { EMPTY_CODE_HASH } from '../../../../../src/state/account.ts'
import { readStateMeta } from '../../../../../src/state/state-meta.ts'
import { verifyState } from '../../../../../src/state/world/verify-state.ts'
import { BUCKETS } from '../../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../../src/storage/keys.ts'
import { Store } from '../../../../../src/storage/store.ts'
import { GENESIS_HASH } from '../../../../support/consensus/ledger.ts'
import { signerOf } from '../../../../support/consensus/member.ts'
import { sealedChain } from '../../../../support/consensus/sealed-chain.ts'
import { type CutState, cutState, plainState } from '../../../../support/snapshot-state.ts'

const MEMBER = signerOf(0).address
const CHAIN = sealedChain(6, () => [0])
const STATE = plainState(Array.from({ length: 90 }, (_, index) => (index % 30 === 7 ? 90 : index % 10 === 4 ? 3 : 0)))
const CYCLE = 3
const CYCLE_ROW = encodeRlp([uintItem(0), [], [], new Uint8Array(32), [], [], []])
/** The record of the next cycle: the same, with the seed that follows. */
const CYCLE_ROW_AFTER = encodeRlp([uintItem(0), [], [], hexToBytes(nextSeed(ZERO_HASH, ZERO_HASH, 3)), [], [], []])
const COUNCIL_ROW = encodeCouncil([
  { name: 'One', validator: MEMBER, owner: MEMBER, reward: MEMBER, admission: 1, stakeWei: 1n },
])
const RECORDS = encodeRlpList([encodeRlp([uintItem(CYCLE), CYCLE_ROW, new Uint8Array(0)])])
const IDENTITY = {
  params: { ...NETWORKS.devnet, devHelpers: false, rewards: { ...NETWORKS.devnet.rewards, cycleBlocks: CYCLE } },
  foundation: ZERO_ADDRESS,
  genesisHash: GENESIS_HASH,
}
const GENESIS_ROWS = [
  [BUCKETS.supply, numberKey(0), Uint8Array.of(9)],
  [BUCKETS.council, numberKey(0), COUNCIL_ROW],
  [BUCKETS.cycle, numberKey(0), CYCLE_ROW],
] as const
const CODES = [0, 1, 2].map(index => Buffer.from(`code ${index}`))

let folder: string
let path: string
let cut: CutState
let manifest: SnapshotManifest
let chunks: readonly Uint8Array[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tandem-staging-'))
  path = join(folder, 'staged')
  cut = await cutState(STATE)
  const { certificate } = CHAIN[5]!
  const header = encodeHeader(LAST(cut).header)
  manifest = {
    format: SNAPSHOT_FORMAT,
    header,
    certificate,
    records: [keccak256Hex(RECORDS)],
    proofState: EMPTY_BYTES,
    ...cut,
  }
  chunks = [
    RECORDS,
    ...cut.accounts.map(cut.accountChunk),
    ...cut.storages.flatMap(({ parts }) => parts.map(cut.storageChunk)),
  ]
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The snapshot's block, with the state's root and no receipts. */
const LAST = ({ root }: CutState): Block => {
  const { header, ...body } = CHAIN[5]!.block
  const { hash: _, size: __, ...parts } = body
  return blockFromParts({ ...header, stateRoot: root }, parts)
}

const bytesOf = (value: SnapshotManifest): Uint8Array => encodeRlpList([encodeManifest(value)])

/** Another life of the process. */
const reopened = async (staging: Staging): Promise<Staging> => {
  await staging.close()
  return Staging.open(path, IDENTITY)
}

describe('a store in the making', () => {
  test.each(['CURRENT', 'MANIFEST'])(
    'of a store that was deleted in part, %s first, nothing is taken for a snapshot',
    async name => {
      // Rows of a database's last log come back even when all else of it is gone.
      const old = await Staging.open(path, IDENTITY)
      await old.begin(bytesOf(manifest), GENESIS_ROWS)
      await old.close()
      const begun = await Staging.open(path, IDENTITY)
      await begun.import(0, RECORDS)
      await begun.close()
      for (const file of await readdir(path)) if (file.startsWith(name)) await rm(join(path, file))
      const staging = await Staging.open(path, IDENTITY)
      expect(await staging.progress()).toMatchObject({ manifest: null, done: [], isWhole: false })
      await staging.begin(bytesOf(manifest), GENESIS_ROWS)
      await staging.close()
    },
  )

  test('is whole in the end, however often the process ends between two chunks', async () => {
    let staging = await Staging.open(path, IDENTITY)
    expect((await staging.progress()).manifest).toBeNull()
    // The record of the last cycle follows from its headers, which blocks bring.
    const headers = [...CHAIN.slice(0, 5).map(({ block }) => block), LAST(cut)].map(
      ({ header }) => [BUCKETS.header, numberKey(header.number), encodeHeader(header)] as const,
    )
    await staging.begin(bytesOf(manifest), [...GENESIS_ROWS, ...headers])
    for (const [index, chunk] of chunks.entries()) {
      staging = await reopened(staging)
      const { done, manifest: stored } = await staging.progress()
      expect(done).toEqual(Array.from({ length: index }, (_, at) => at))
      expect(stored).toEqual(bytesOf(manifest))
      // Whatever came twice changes nothing.
      if (index > 0) await staging.import(index - 1, chunks[index - 1] as Uint8Array)
      await staging.import(index, chunk)
    }
    expect(staging.hasTrueStorages()).toBe(true)
    const hashes = CODES.map(code => keccak256Hex(code))
    const missing = await staging.missingCodes(null, 10)
    expect([...missing.hashes].sort()).toEqual(hashes.sort())
    expect(await staging.putCodes(hashes, [Buffer.from('no code'), ...CODES])).toBe(0)
    const asked = missing.hashes
    const answers = asked.map(hash => CODES.find(code => keccak256Hex(code) === hash) as Uint8Array)
    expect(await staging.putCodes(asked, answers)).toBe(CODES.length)
    expect((await staging.missingCodes(null, 10)).hashes).toEqual([])

    const { accounts, slots, balance } = await staging.progress()
    expect(accounts).toBe(STATE.accounts.length)
    expect(balance).toBe(STATE.accounts.reduce((sum, [, account]) => sum + account.balance, 0n))
    expect(slots).toBe([...STATE.slots.values()].reduce((sum, own) => sum + own.length, 0))
    expect((await staging.progress()).isWhole).toBe(false)
    // A state of accounts that no chain made commits to nothing.
    expect(staging.recordsFault()).toContain('the state holds')
    await staging.finish(5n)
    staging = await reopened(staging)
    expect(await staging.progress()).toMatchObject({ isWhole: true, manifest: null })
    await staging.close()

    const store = await Store.open(path)
    expect(await readStateMeta(store)).toEqual({ number: 6, oldest: 6, root: cut.root })
    const report = await verifyState(store)
    expect(report.problems).toEqual([])
    expect(readRecordRows(store, 6)).toEqual({ number: 6, cycle: Buffer.from(CYCLE_ROW_AFTER), council: null })
    expect(report).toMatchObject({ root: cut.root, accounts, slots, codes: 3 })
    expect(await store.first(BUCKETS.snapshotChunk)).toBeUndefined()
    await store.close()
  })

  test('takes no false chunk, not one row of it, and no chunk in the place of another', async () => {
    const staging = await Staging.open(path, IDENTITY)
    await staging.begin(bytesOf(manifest), [])
    for (const [index, chunk] of chunks.entries()) {
      const changed = Uint8Array.from(chunk)
      changed[chunk.byteLength >> 1]! ^= 1
      for (const lie of [
        changed,
        chunk.subarray(0, -1),
        chunks[(index + 1) % chunks.length] as Uint8Array,
        new Uint8Array(3),
      ])
        await expect(staging.import(index, lie)).rejects.toMatchObject({ code: 'SNAPSHOT_FALSE' })
    }
    expect(await staging.progress()).toMatchObject({ done: [], accounts: 0, slots: 0 })
    await staging.close()
    const store = await Store.open(path)
    for (const bucket of [BUCKETS.account, BUCKETS.slot, BUCKETS.cycle])
      expect(await store.first(bucket)).toBeUndefined()
    await store.close()
  })

  test('finds storages that the manifest lists for others, leaves out, or adds', async () => {
    const [first, ...rest] = manifest.storages as [
      SnapshotManifest['storages'][number],
      ...SnapshotManifest['storages'],
    ]
    const plain = STATE.accounts.find(([, account]) => account.codeHash === EMPTY_CODE_HASH)![0]
    const lies: readonly SnapshotManifest['storages'][] = [
      [...rest, { owner: plain, parts: first.parts }],
      [...manifest.storages, { owner: keccak256(Uint8Array.of(1)), parts: first.parts }],
    ]
    for (const storages of lies) {
      await rm(path, { recursive: true, force: true })
      const staging = await Staging.open(path, IDENTITY)
      await staging.begin(bytesOf({ ...manifest, storages }), [])
      let refused = 0
      for (const [at] of manifest.accounts.entries())
        await staging.import(1 + at, chunks[1 + at] as Uint8Array).catch(() => void refused++)
      expect(refused > 0 || !staging.hasTrueStorages()).toBe(true)
      await staging.close()
    }
  })
})
