import { mkdir, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { listSnapshotFolders, SnapshotFolder } from '../../../../../src/chain/snapshot/store/snapshot-folder.ts'
import { SnapshotStore } from '../../../../../src/chain/snapshot/store/snapshot-store.ts'
import { writeSnapshot } from '../../../../../src/chain/snapshot/store/write-snapshot.ts'
import { offeredSnapshots } from '../../../../../src/chain/snapshot/sync/choose-snapshot.ts'
import { SNAPSHOT_LIMITS } from '../../../../../src/config/limits/sync.ts'
import { keccak256Hex } from '../../../../../src/crypto/hash.ts'
import { chunksOf, type SnapshotManifest } from '../../../../../src/network/wire/snapshot.ts'
import { encodeCertificate } from '../../../../../src/primitives/consensus/certificate.ts'
import { encodeHeader } from '../../../../../src/primitives/header.ts'
import { encodeRlp } from '../../../../../src/primitives/rlp/rlp.ts'
import { encodeAccount } from '../../../../../src/state/account.ts'
import { verifyAccountChunk, verifySlotChunk } from '../../../../../src/state/snapshot/verify-chunk.ts'
import { putStateMeta } from '../../../../../src/state/state-meta.ts'
import { BUCKETS } from '../../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../../src/storage/keys.ts'
import { sealedChain } from '../../../../support/consensus/sealed-chain.ts'
import { cutState, plainState } from '../../../../support/snapshot-state.ts'
import { temporaryDirectory, temporaryStore } from '../../../storage/temp-store.ts'

const CHAIN = sealedChain(30, () => [0])
/** One storage is larger than what stands beside its account. */
const STATE = plainState([0, 3, 0, 2_500, 0, 0, 12])

const CYCLE_ROW = encodeRlp([new Uint8Array(0), [], []])

/** A store whose state stands after a block. */
const storeAt = async (number: number) => {
  const store = await temporaryStore()
  const { root } = await cutState(STATE)
  const batch = store.batch()
  for (const [key, account] of STATE.accounts) batch.put(BUCKETS.account, key, encodeAccount(account))
  for (const [owner, slots] of STATE.slots)
    for (const [slot, word] of slots) batch.put(BUCKETS.slot, Buffer.concat([hexToBytes(owner as Hex), slot]), word)
  for (const at of [0, 6, 12]) batch.put(BUCKETS.cycle, numberKey(at), CYCLE_ROW)
  const { block, certificate } = CHAIN[number - 1]!
  batch.put(BUCKETS.header, numberKey(number), encodeHeader({ ...block.header, stateRoot: root }))
  batch.put(BUCKETS.certificate, numberKey(number), encodeCertificate(certificate))
  putStateMeta(batch, { number, root, oldest: number })
  await batch.write()
  return store
}

test('a snapshot in its folder holds the chunks that its manifest names', async () => {
  const root = await temporaryDirectory()
  const report = await writeSnapshot(await storeAt(12), root, 12)
  expect(report).toMatchObject({ number: 12, accounts: 7, slots: 2_515 })
  const folder = await SnapshotFolder.open(root, 12)
  const { manifest } = folder
  expect(manifest.storages).toHaveLength(1)
  const chunks = await Promise.all(Array.from({ length: chunksOf(manifest) }, (_, index) => folder.chunk(index)))
  const [records, ...others] = chunks as Uint8Array[]
  expect(keccak256Hex(records!)).toBe(manifest.records[0])
  const accounts = others.splice(0, manifest.accounts.length)
  expect(accounts.flatMap((chunk, at) => verifyAccountChunk(chunk, manifest.accounts[at]!))).toHaveLength(7)
  const slots = others.flatMap((chunk, at) => verifySlotChunk(chunk, manifest.storages[0]!.parts[at]!))
  expect(slots).toHaveLength(2_500)
  expect(await folder.chunk(chunks.length)).toBeUndefined()
})

test('the newest two are kept, and nothing that was not finished', async () => {
  const root = await temporaryDirectory()
  await mkdir(join(root, 'new-6'))
  for (const number of [6, 12, 18]) await writeSnapshot(await storeAt(number), root, number)
  expect(await listSnapshotFolders(root)).toEqual([18, 12])
  expect(await readdir(root)).toHaveLength(2)
  // One that goes while somebody holds it answers nothing.
  const held = await SnapshotFolder.open(root, 12)
  await writeSnapshot(await storeAt(24), root, 24)
  expect(await held.chunk(0)).toBeUndefined()
  expect(await listSnapshotFolders(join(root, 'nowhere'))).toEqual([])
})

/** Names of open files below a folder. */
const openFiles = async (folder: string): Promise<readonly string[]> => {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return links.filter(link => link.startsWith(folder))
}

test('of one that fails nothing is left, neither files nor handles', async () => {
  const root = await temporaryDirectory()
  const store = await storeAt(12)
  // Entries that do not make the root of the block are found after the files are written.
  const [[key]] = STATE.accounts as unknown as [[Uint8Array]]
  await store.batch().del(BUCKETS.account, key).write()
  await expect(writeSnapshot(store, root, 12)).rejects.toThrow('the entries of the state make the root')
  expect(await readdir(root)).toEqual([])
  expect(await openFiles(root)).toEqual([])
})

test('the disk keeps room for consensus: one that would leave too little is not made, and nothing of it is left', async () => {
  const root = await temporaryDirectory()
  const { freeBytes } = SNAPSHOT_LIMITS
  const refused = { code: 'SNAPSHOT_NO_SPACE' }
  const store = await storeAt(12)
  await expect(writeSnapshot(store, root, 12, [], async () => freeBytes - 1)).rejects.toMatchObject(refused)
  // Room at first, used up by others while it is written.
  let looks = 0
  await expect(
    writeSnapshot(store, root, 12, [], async () => (++looks === 1 ? 2 * freeBytes : freeBytes)),
  ).rejects.toMatchObject(refused)
  expect(looks).toBeGreaterThan(1)
  expect(await readdir(root)).toEqual([])
  expect(await openFiles(root)).toEqual([])
  const { bytes } = await writeSnapshot(store, root, 12, [], async () => 2 * freeBytes)
  // The next one is as large as the newest.
  const next = await storeAt(18)
  await expect(writeSnapshot(next, root, 18, [], async () => freeBytes + bytes)).rejects.toMatchObject(refused)
  expect(await listSnapshotFolders(root)).toEqual([12])
})

test('the remains of a process that ended are deleted at the next start', async () => {
  const root = await temporaryDirectory()
  await mkdir(join(root, 'new-6'))
  const store = await storeAt(12)
  const options = { store, storePath: store.path, root, intervalBlocks: 6, logger: silentLogger }
  const snapshots = await SnapshotStore.open(options)
  expect(await readdir(root)).toEqual([])
  await snapshots.close()
})

test('a snapshot that a peer fetches stays until it no longer does', async () => {
  const root = await temporaryDirectory()
  for (const number of [6, 12, 18]) await writeSnapshot(await storeAt(number), root, number, [6])
  expect(await listSnapshotFolders(root)).toEqual([18, 12, 6])
  await writeSnapshot(await storeAt(24), root, 24, [6])
  expect(await listSnapshotFolders(root)).toEqual([24, 18, 6])
  await writeSnapshot(await storeAt(30), root, 30)
  expect(await listSnapshotFolders(root)).toEqual([30, 24])
})

test('a manifest that does not make its state root names its sender, and is not chosen', async () => {
  const root = await temporaryDirectory()
  await writeSnapshot(await storeAt(12), root, 12)
  const { manifest } = await SnapshotFolder.open(root, 12)
  const choose = async (...answers: readonly SnapshotManifest[]) => {
    const liars: string[] = []
    const left = answers.map((answer, at) => ({ answer, from: `peer ${at}` }))
    const network = {
      request: async (_: string, __: null, { validate }: { validate: (answer: SnapshotManifest) => string }) => {
        for (let next = left.shift(); next !== undefined; next = left.shift())
          if (validate(next.answer) === 'good') return next
        throw new CodedError({ code: 'NO_PEER', request: 'getManifest' })
      },
      reportForgery: (peer: string) => void liars.push(peer),
    }
    const offered = await offeredSnapshots({ network: network as never, cycleBlocks: 6, refused: new Set(), from: 1 })
    return { offered, liars }
  }
  expect(await choose(manifest)).toMatchObject({
    offered: [{ offeredBy: ['peer 0'], header: { number: 12 } }],
    liars: [],
  })
  const { block } = CHAIN[11]!
  for (const lie of [
    { ...manifest, accounts: manifest.accounts.slice(1) },
    { ...manifest, header: encodeHeader(block.header) },
    { ...manifest, header: Uint8Array.of(0xc0) },
    { ...manifest, storages: [...manifest.storages, ...manifest.storages] },
  ]) {
    const { offered, liars } = await choose(lie, manifest)
    expect(offered.map(({ offeredBy }) => offeredBy)).toEqual([['peer 1']])
    expect(liars).toEqual(['peer 0'])
  }
  // Another format is no lie.
  expect(await choose({ ...manifest, format: 1 })).toEqual({ offered: [], liars: [] })
  // Of two cuts of one state that which more peers have comes first; another certificate makes no other content.
  const other = { ...manifest, records: [...manifest.records, ...manifest.records] }
  const sealed = { ...manifest, certificate: CHAIN[3]!.certificate }
  const { offered } = await choose(other, manifest, sealed)
  expect(offered.map(({ offeredBy }) => offeredBy)).toEqual([['peer 1', 'peer 2'], ['peer 0']])
})
