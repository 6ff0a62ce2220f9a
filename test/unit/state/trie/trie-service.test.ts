import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { bytesToHex, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { TRIE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { keccak256 } from '../../../../src/crypto/hash.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../../src/state/account.ts'
import { BatchPacker, type PackedBatch } from '../../../../src/state/batch.ts'
import { TrieService, type TrieServiceOptions } from '../../../../src/state/trie/trie-service.ts'

const ALICE: Hex = `0x${'a1'.repeat(20)}`
const BOB: Hex = `0x${'b0'.repeat(20)}`
const CONTRACT: Hex = `0x${'c0'.repeat(20)}`
const NOBODY: Hex = `0x${'00'.repeat(20)}`
const emptyBatch = () => new BatchPacker().finish()
const CODE_HASH = bytesToHex(keccak256(hexToBytes('0x6000')))
const slot = (i: number): Hex => toWord(BigInt(i))

const open: TrieService[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(service => service.close()))
})
const start = async (options: TrieServiceOptions = {}): Promise<TrieService> => {
  const service = await TrieService.open(options)
  open.push(service)
  return service
}

const pay = (...balances: readonly (readonly [Hex, bigint])[]): PackedBatch => {
  const packer = new BatchPacker()
  for (const [address, balance] of balances) packer.account(address, { nonce: 0, balance, codeHash: EMPTY_CODE_HASH })
  return packer.finish()
}

describe.each([
  ['in a worker', true],
  ['in the calling thread', false],
])('%s', (_, worker) => {
  test('a new trie is empty, and an empty block leaves it so', async () => {
    const service = await start({ worker })
    expect(service.root).toBe(EMPTY_ROOT)
    expect(await service.apply(EMPTY_ROOT, emptyBatch())).toEqual({ root: EMPTY_ROOT, storageRoots: new Map() })
  })

  test('a known root: one account', async () => {
    const service = await start({ worker })
    const { root } = await service.apply(EMPTY_ROOT, pay([ALICE, 7n]))
    const account = RLP.encode([
      new Uint8Array(0),
      Uint8Array.of(7),
      hexToBytes(EMPTY_ROOT),
      hexToBytes(EMPTY_CODE_HASH),
    ])
    const path = Buffer.concat([Uint8Array.of(0x20), keccak256(hexToBytes(ALICE))])
    expect(root).toBe(bytesToHex(keccak256(RLP.encode([path, account]))))
    expect(service.root).toBe(root)
  })

  test('storage roots are answered for the accounts whose storage changed, by the name given', async () => {
    const service = await start({ worker })
    const packer = new BatchPacker()
    packer.account(ALICE, { nonce: 1, balance: 5n, codeHash: EMPTY_CODE_HASH })
    packer.account(CONTRACT, { nonce: 1, balance: 0n, codeHash: CODE_HASH }).slot(slot(1), toWord(9n))
    const { root, storageRoots } = await service.apply(EMPTY_ROOT, packer.finish())
    expect([...storageRoots.keys()]).toEqual([CONTRACT])
    const emptied = await service.apply(
      root,
      new BatchPacker().account(CONTRACT, 'keep').slot(slot(1), toWord(0n)).finish(),
    )
    expect(emptied.storageRoots.get(CONTRACT)).toBe(EMPTY_ROOT)
    const cleared = await service.apply(
      root,
      new BatchPacker()
        .account(CONTRACT, { nonce: 1, balance: 0n, codeHash: CODE_HASH }, { clearStorage: true })
        .finish(),
    )
    expect(cleared).toEqual(emptied)
  })

  test('a proposal on another parent undoes the layer that was not committed', async () => {
    const service = await start({ worker })
    const { root: parent } = await service.apply(EMPTY_ROOT, pay([ALICE, 10n], [BOB, 20n]))
    const first = await service.apply(parent, pay([ALICE, 11n]))
    const second = await service.apply(parent, pay([BOB, 21n]))
    expect(second.root).not.toBe(first.root)
    const again = await service.apply(parent, pay([ALICE, 11n]))
    expect(again.root).toBe(first.root)
    await service.commit(first.root)
    expect(await service.stats()).toMatchObject({ layers: 0, accounts: 2 })
  })

  test('a parent that is not held is refused with both roots, and nothing changes', async () => {
    const service = await start({ worker, layers: 2 })
    const roots: Hex[] = [EMPTY_ROOT]
    for (let i = 1; i <= 4; i++) roots.push((await service.apply(roots.at(-1)!, pay([ALICE, BigInt(i)]))).root)
    await expect(service.apply(roots[1]!, pay([BOB, 1n]))).rejects.toMatchObject({
      detail: { code: 'TRIE_UNKNOWN_ROOT', asked: roots[1], current: roots[4] },
    })
    await expect(service.commit(`0x${'77'.repeat(32)}`)).rejects.toMatchObject({ code: 'TRIE_UNKNOWN_ROOT' })
    expect(service.root).toBe(roots[4])
    expect((await service.apply(roots[2]!, pay([ALICE, 3n]))).root).toBe(roots[3])
  })

  test('a committed root cannot be left downward', async () => {
    const service = await start({ worker })
    const { root: one } = await service.apply(EMPTY_ROOT, pay([ALICE, 1n]))
    const { root: two } = await service.apply(one, pay([ALICE, 2n]))
    await service.commit(one)
    await service.commit(one)
    await expect(service.apply(EMPTY_ROOT, pay([ALICE, 3n]))).rejects.toMatchObject({ code: 'TRIE_UNKNOWN_ROOT' })
    expect((await service.apply(one, pay([ALICE, 2n]))).root).toBe(two)
  })

  test('malformed batches change nothing', async () => {
    const service = await start({ worker })
    const { root } = await service.apply(EMPTY_ROOT, pay([ALICE, 1n]))
    const short = { ...emptyBatch(), buffer: new ArrayBuffer(8) }
    const lying = pay([BOB, 1n])
    new DataView(lying.buffer).setUint32(0, 2, true)
    const slotsBeyond = pay([BOB, 1n])
    new DataView(slotsBeyond.buffer).setUint32(16 + 104, 0xffff_ffff, true)
    const unknownKind = pay([BOB, 1n])
    new DataView(unknownKind.buffer).setUint8(16 + 108, 9)
    const bad: [PackedBatch, string][] = [
      [short, 'sizes and counts do not fit the bytes'],
      [lying, 'sizes and counts do not fit the bytes'],
      [slotsBeyond, 'sizes and counts do not fit the bytes'],
      [unknownKind, 'unknown kind of account record, or slots under a deletion'],
      [pay([BOB, 1n], [ALICE, 1n], [BOB, 2n]), 'duplicate account'],
      [
        new BatchPacker().account(ALICE, 'keep').slot(slot(1), toWord(1n)).slot(slot(1), toWord(2n)).finish(),
        'duplicate slot of an account',
      ],
      [
        new BatchPacker().account(BOB, 'keep').slot(slot(1), toWord(1n)).finish(),
        'the fields of an account that is not there are to be kept',
      ],
    ]
    for (const [batch, reason] of bad) {
      await expect(service.apply(root, batch)).rejects.toMatchObject({ detail: { code: 'TRIE_BAD_BATCH', reason } })
      expect(service.root).toBe(root)
    }
    expect((await service.stats()).accounts).toBe(1)
  })

  test('calls made at once are executed in order', async () => {
    const service = await start({ worker })
    await Promise.all([service.load(pay([ALICE, 1n])), service.load(pay([BOB, 2n])), service.load(pay([ALICE, 3n]))])
    const other = await start({ worker: false })
    expect(service.root).toBe(await other.load(pay([ALICE, 3n], [BOB, 2n])))
  })

  test('a closed service refuses', async () => {
    const service = await start({ worker })
    await service.close()
    await expect(service.apply(EMPTY_ROOT, emptyBatch())).rejects.toMatchObject({ code: 'TRIE_CLOSED' })
  })
})

describe('proofs', () => {
  const filled = async (): Promise<{ service: TrieService; root: Hex }> => {
    const service = await start({ worker: false })
    const packer = new BatchPacker()
    for (let i = 1; i <= 50; i++)
      packer.account(`0x${i.toString(16).padStart(40, '0')}`, {
        nonce: i,
        balance: BigInt(i),
        codeHash: EMPTY_CODE_HASH,
      })
    packer.account(CONTRACT, { nonce: 1, balance: 0n, codeHash: CODE_HASH })
    for (let i = 0; i < 40; i++) packer.slot(slot(i), toWord(BigInt(i + 1) << 128n))
    const { root } = await service.apply(EMPTY_ROOT, packer.finish())
    return { service, root }
  }

  test('an account with present and absent slots', async () => {
    const { service, root } = await filled()
    const proof = await service.prove({ root, address: CONTRACT, slots: [slot(3), slot(99)] })
    expect(proof).toMatchObject({ root, nonce: 1, balance: 0n, codeHash: CODE_HASH })
    expect(proof.storageProof.map(s => s.value)).toEqual([4n << 128n, 0n])
    const account = await verifyMerkleProof(keccak256(hexToBytes(CONTRACT)), [...proof.accountProof])
    expect(bytesToHex((RLP.decode(account!) as Uint8Array[])[2]!)).toBe(proof.storageHash)
    for (const { key, value, proof: nodes } of proof.storageProof) {
      const stored = await verifyMerkleProof(keccak256(hexToBytes(key)), [...nodes])
      expect(stored && BigInt(bytesToHex(RLP.decode(stored) as Uint8Array))).toBe(value === 0n ? null : value)
    }
  })

  test('absent accounts, and an empty state', async () => {
    const { service, root } = await filled()
    const proof = await service.prove({ root, address: NOBODY, slots: [slot(1)] })
    expect(proof).toMatchObject({ nonce: 0, balance: 0n, codeHash: EMPTY_CODE_HASH, storageHash: EMPTY_ROOT })
    expect(proof.storageProof).toEqual([{ key: slot(1), value: 0n, proof: [] }])
    expect(await verifyMerkleProof(keccak256(hexToBytes(NOBODY)), [...proof.accountProof])).toBeNull()
    expect(await service.prove({ root: EMPTY_ROOT, address: NOBODY, slots: [] })).toMatchObject({
      root: EMPTY_ROOT,
      accountProof: [],
    })
    expect(service.root).toBe(root)
  })

  test('an older state by its rollback, a layer beneath, and the trie stands as before', async () => {
    const { service, root } = await filled()
    const change = () =>
      new BatchPacker()
        .account(CONTRACT, { nonce: 2, balance: 5n, codeHash: CODE_HASH })
        .slot(slot(3), toWord(77n))
        .finish()
    const { root: newer } = await service.apply(root, change())
    await service.commit(newer)
    const { root: newest } = await service.apply(newer, pay([ALICE, 1n]))
    const rollback = new BatchPacker()
      .account(CONTRACT, { nonce: 1, balance: 0n, codeHash: CODE_HASH })
      .slot(slot(3), toWord(4n << 128n))
      .finish()
    const old = await service.prove({ root: newer, address: CONTRACT, slots: [slot(3)], rollback })
    expect(old).toMatchObject({ root, nonce: 1, storageProof: [{ value: 4n << 128n }] })
    const beneath = await service.prove({ root: newer, address: ALICE, slots: [] })
    expect(beneath).toMatchObject({ root: newer, codeHash: EMPTY_CODE_HASH, balance: 0n })
    const now = await service.prove({ root: newest, address: ALICE, slots: [] })
    expect(now).toMatchObject({ root: newest, balance: 1n })
    expect(service.root).toBe(newest)
  })

  test('proofs go one at a time and a block asked for after them is not last', async () => {
    const service = await start()
    const { root } = await service.apply(EMPTY_ROOT, pay([ALICE, 1n]))
    const order: string[] = []
    const proofs = Array.from({ length: 5 }, async (_, i) => {
      const proof = await service.prove({ root, address: ALICE, slots: [] })
      order.push(`proof ${i}`)
      return proof
    })
    const block = service.apply(root, pay([ALICE, 2n])).then(() => order.push('block'))
    await Promise.all([...proofs, block])
    expect(order.indexOf('block')).toBeLessThan(2)
    expect(order.filter(o => o !== 'block')).toEqual([0, 1, 2, 3, 4].map(i => `proof ${i}`))
  })

  test('too many proofs at once are refused, and later ones are not', async () => {
    const { service, root } = await filled()
    const ask = () => service.prove({ root, address: ALICE, slots: [] })
    const asked = await Promise.allSettled(Array.from({ length: TRIE_LIMITS.proofs.queued + 1 }, ask))
    expect(asked.filter(({ status }) => status === 'rejected')).toEqual([
      {
        status: 'rejected',
        reason: expect.objectContaining({ detail: { code: 'TRIE_BUSY' } }),
      },
    ])
    expect(await ask()).toMatchObject({ root })
  })

  test('a rollback that does not fit is refused and leaves no trace', async () => {
    const { service, root } = await filled()
    const { root: newest } = await service.apply(root, pay([ALICE, 1n]))
    const rollback = new BatchPacker().account(NOBODY, 'keep').finish()
    await expect(service.prove({ root, address: ALICE, slots: [], rollback })).rejects.toMatchObject({
      code: 'TRIE_BAD_BATCH',
    })
    expect((await service.prove({ root: newest, address: ALICE, slots: [] })).root).toBe(newest)
    expect((await service.stats()).layers).toBe(2)
  })
})

describe('previews', () => {
  test('answer the root after each batch, and nothing of it stays', async () => {
    const [service, other] = [await start(), await start()]
    const { root: base } = await service.apply(EMPTY_ROOT, pay([ALICE, 10n], [BOB, 20n]))
    const { root: head } = await service.apply(base, pay([ALICE, 11n]))
    const wanted = [(await other.apply(EMPTY_ROOT, pay([ALICE, 10n], [BOB, 20n]))).root]
    for (const batch of [pay([BOB, 21n]), pay([CONTRACT, 1n]), emptyBatch()])
      wanted.push((await other.apply(wanted.at(-1)!, batch)).root)
    // On the base, beneath the layer of the head.
    const batches = [pay([BOB, 21n]), pay([CONTRACT, 1n]), emptyBatch()]
    expect(await service.preview({ root: base, batches })).toEqual(wanted.slice(1))
    expect(service.root).toBe(head)
    expect((await service.apply(head, pay([ALICE, 10n]))).root).toBe(base)
  })

  test('stand on an older state by its rollback', async () => {
    const service = await start()
    const { root: old } = await service.apply(EMPTY_ROOT, pay([ALICE, 10n]))
    const { root: head } = await service.apply(old, pay([ALICE, 11n], [BOB, 1n]))
    await service.commit(head)
    const rollback = new BatchPacker().account(ALICE, { nonce: 0, balance: 10n, codeHash: EMPTY_CODE_HASH })
    const request = { root: head, batches: [emptyBatch()], rollback: rollback.account(BOB, undefined).finish() }
    expect(await service.preview(request)).toEqual([old])
    expect(service.root).toBe(head)
  })

  test('a batch that does not fit is refused, and those before it are taken back', async () => {
    const service = await start()
    const { root } = await service.apply(EMPTY_ROOT, pay([ALICE, 10n]))
    const bad = new BatchPacker().account(NOBODY, 'keep').slot(slot(1), toWord(1n)).finish()
    await expect(service.preview({ root, batches: [pay([BOB, 1n]), bad] })).rejects.toMatchObject({
      code: 'TRIE_BAD_BATCH',
    })
    expect(await service.preview({ root, batches: [emptyBatch()] })).toEqual([root])
  })
})

test('when the thread dies every call fails and the owner is notified', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'trie-'))
  const file = join(directory, 'worker.mjs')
  const real = new URL('../../../../src/state/trie/trie-worker.ts', import.meta.url)
  // Answers like the real one until a commit is asked for, then ends.
  await writeFile(
    file,
    `import { parentPort } from 'node:worker_threads'
     parentPort.on('message', ({ args: [name] }) => { if (name === 'commit') process.exit(9) })
     await import(${JSON.stringify(real.href)})`,
  )
  const failures: Error[] = []
  const service = await start({ workerUrl: pathToFileURL(file), onFailure: error => failures.push(error) })
  const { root } = await service.apply(EMPTY_ROOT, pay([ALICE, 1n]))
  await expect(service.commit(root)).rejects.toMatchObject({ code: 'TRIE_FAILED' })
  await expect(service.stats()).rejects.toMatchObject({ code: 'TRIE_FAILED' })
  expect(failures).toHaveLength(1)
  await rm(directory, { recursive: true })
})

test('a batch is used up by the call', async () => {
  const service = await start()
  const batch = pay([ALICE, 1n])
  await service.load(batch)
  expect(batch.buffer.byteLength).toBe(0)
})
