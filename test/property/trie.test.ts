import { createMPT, type MerklePatriciaTrie, verifyMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { bigintToBytes, bytesToBigint, bytesToHex, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256 } from '../../src/crypto/hash.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../src/state/account.ts'
import { BatchPacker } from '../../src/state/batch.ts'
import { TrieLayers } from '../../src/state/trie/layers.ts'
import { type RowChange, type RowPlace, type RowReader, Trie } from '../../src/state/trie/trie.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
const runs = (numRuns: number) => ({ seed, numRuns, endOnFailure: false })

interface ModelAccount {
  nonce: bigint
  balance: bigint
  codeHash: Hex
  storage: Map<Hex, bigint>
}
type Model = Map<Hex, ModelAccount>

interface Change {
  readonly key: Hex
  readonly kind: 'put' | 'clear' | 'keep' | 'delete'
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hex
  readonly slots: readonly (readonly [Hex, bigint])[]
}

/** Keys out of a small world, so that batches meet again, with long common prefixes: extensions, collapses and nodes below 32 bytes. */
const keyOf = ([shape, a, b]: readonly [number, number, number]): Hex => {
  const bytes = Buffer.alloc(32, shape === 0 ? 0x11 : 0)
  if (shape === 0) bytes[a % 32] = b
  else if (shape === 1) {
    bytes[31] = b
    bytes[30] = a & 3
  } else if (shape === 2) {
    bytes.fill(a & 15, 0, 1 + (a % 20))
    bytes[25] = b
  } else bytes.set(keccak256(Uint8Array.of(a, b & 3)))
  return bytesToHex(bytes)
}
const key = fc.tuple(fc.nat(3), fc.nat(40), fc.nat(255)).map(keyOf)
const slotValue = fc.oneof(fc.constant(0n), fc.bigInt(1n, 255n), fc.bigInt(0n, 2n ** 256n - 1n))
const slots = fc.uniqueArray(fc.tuple(key, slotValue), { selector: ([k]) => k, maxLength: 12 })

const change: fc.Arbitrary<Change> = fc.record({
  key,
  kind: fc.constantFrom<Change['kind'][]>('put', 'put', 'put', 'keep', 'clear', 'delete', 'delete'),
  nonce: fc.oneof(fc.bigInt(0n, 200n), fc.bigInt(0n, 2n ** 64n - 1n)),
  balance: fc.oneof(fc.bigInt(0n, 200n), fc.bigInt(0n, 2n ** 256n - 1n)),
  codeHash: fc.constantFrom<Hex[]>(EMPTY_CODE_HASH, bytesToHex(keccak256(Uint8Array.of(1)))),
  slots: fc.oneof(fc.constant([]), slots),
})
const batch = fc.uniqueArray(change, { selector: c => c.key, minLength: 1, maxLength: 20 })

const pack = (model: Model, changes: readonly Change[], order = changes): Uint8Array => {
  const packer = new BatchPacker({ hashed: true })
  for (const c of order) {
    const fields = c.kind === 'delete' ? undefined : c.kind === 'keep' && model.has(c.key) ? 'keep' : c
    packer.account(c.key, fields, { clearStorage: c.kind === 'clear' })
    for (const [slot, value] of c.slots) packer.slot(slot, toWord(value))
  }
  return new Uint8Array(packer.finish().buffer)
}

const applyToModel = (model: Model, changes: readonly Change[]): Model => {
  const next: Model = new Map([...model].map(([k, a]) => [k, { ...a, storage: new Map(a.storage) }]))
  for (const c of changes) {
    const old = next.get(c.key)
    if (c.kind === 'delete') {
      next.delete(c.key)
      continue
    }
    const storage = c.kind === 'clear' || old === undefined ? new Map<Hex, bigint>() : old.storage
    for (const [slot, value] of c.slots) value === 0n ? storage.delete(slot) : storage.set(slot, value)
    const fields = c.kind === 'keep' && old !== undefined ? old : c
    next.set(c.key, { nonce: fields.nonce, balance: fields.balance, codeHash: fields.codeHash, storage })
  }
  return next
}

const storageTrie = async (storage: ReadonlyMap<Hex, bigint>): Promise<MerklePatriciaTrie> => {
  const trie = await createMPT()
  for (const [slot, value] of storage) await trie.put(hexToBytes(slot), RLP.encode(bigintToBytes(value)))
  return trie
}

const encodeAccount = async ({ nonce, balance, storage, codeHash }: ModelAccount): Promise<Uint8Array> => {
  const root = (await storageTrie(storage)).root()
  return RLP.encode([bigintToBytes(nonce), bigintToBytes(balance), root, hexToBytes(codeHash)])
}

const accountTrie = async (model: Model): Promise<MerklePatriciaTrie> => {
  const trie = await createMPT()
  for (const [k, a] of model) await trie.put(hexToBytes(k), await encodeAccount(a))
  return trie
}

const rootOf = async (model: Model): Promise<Hex> => bytesToHex((await accountTrie(model)).root())

test('roots, storage roots, proofs and undo equal the reference trie over random batches', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(batch, { minLength: 1, maxLength: 10 }),
      fc.array(key, { maxLength: 4 }),
      async (batches, strangers) => {
        const trie = new Trie()
        let model: Model = new Map()
        let root = EMPTY_ROOT
        const undos: { undo: Uint8Array; root: Hex }[] = []
        for (const changes of batches) {
          const packed = pack(model, changes)
          const next = applyToModel(model, changes)
          const applied = trie.apply(packed, true)
          if (applied.fault !== undefined) throw new Error(applied.fault)
          undos.push({ undo: applied.undo!, root })
          root = await rootOf(next)
          expect(bytesToHex(applied.root)).toBe(root)
          expect(trie.stats().accounts).toBe(next.size)
          await expectStorageRoots(changes, next, applied.storageRoots)
          model = next
        }
        await expectProofs(trie, model, strangers)
        for (const { undo, root: before } of undos.reverse()) {
          const applied = trie.apply(undo, false)
          expect(applied.fault === undefined && bytesToHex(applied.root)).toBe(before)
        }
        expect(trie.stats().usedBytes).toBe(0)
      },
    ),
    runs(60),
  )
})

/** Rows as a database would hold them, and what a flush does to them. */
class MapRows implements RowReader {
  readonly rows = new Map<string, Uint8Array>()

  read({ account, path }: RowPlace): Uint8Array | undefined {
    return this.rows.get(nameOf(account, path))
  }

  write(changes: readonly RowChange[]): void {
    for (const { kind, account, path, row } of changes) {
      const name = nameOf(account, path)
      if (kind === 'put') this.rows.set(name, Uint8Array.from(row))
      else if (kind === 'delete') this.rows.delete(name)
      else for (const key of this.rows.keys()) if (key.startsWith(name)) this.rows.delete(key)
    }
  }
}
const nameOf = (account: Uint8Array | undefined, path: Uint8Array): string =>
  `${account === undefined ? '' : Buffer.from(account).toString('hex')}:${[...path].map(x => x.toString(16)).join('')}`

type Step = 'keep' | 'flush' | 'trim' | 'trimHalf' | 'reopen' | 'undo'
const step = fc.constantFrom<Step[]>('keep', 'flush', 'trim', 'trimHalf', 'reopen', 'undo', 'undo')

test('a trie in rows equals the reference trie, whatever of it is in memory', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(batch, step), { minLength: 1, maxLength: 14 }),
      fc.array(key, { maxLength: 4 }),
      fc.constantFrom([2, 2], [4, 2], [32, 4]),
      async (steps, strangers, [above, from]) => {
        const rows = new MapRows()
        const open = (at?: { root: Uint8Array; accounts: number }) => {
          const opened = new Trie(rows, at)
          opened.divideRows(above!, from!)
          return opened
        }
        let trie = open()
        let model: Model = new Map()
        for (const [changes, then] of steps) {
          const applied = trie.apply(pack(model, changes), true)
          if (applied.fault !== undefined) throw new Error(applied.fault)
          const next = applyToModel(model, changes)
          expect(bytesToHex(applied.root)).toBe(await rootOf(next))
          if (then === 'undo') {
            const undone = trie.apply(applied.undo!, false)
            expect(undone.fault === undefined && bytesToHex(undone.root)).toBe(await rootOf(model))
          } else model = next
          expect(trie.stats().accounts).toBe(model.size)
          if (then === 'keep' || then === 'undo') continue
          rows.write(trie.flush())
          if (then === 'trim') trie.trim(0)
          if (then === 'trimHalf') trie.trim(trie.stats().usedBytes / 2)
          if (then === 'reopen') trie = model.size === 0 ? open() : open({ root: trie.root(), accounts: model.size })
        }
        await expectProofs(trie, model, strangers)
        rows.write(trie.flush())
        const whole = model.size === 0 ? open() : open({ root: trie.root(), accounts: model.size })
        await expectProofs(whole, model, strangers)
        const gone = whole.apply(pack(model, [...model.keys()].map(deletionOf)), false)
        expect(gone.fault === undefined && bytesToHex(gone.root)).toBe(EMPTY_ROOT)
        rows.write(whole.flush())
        expect([...rows.rows.keys()]).toEqual([])
        expect(whole.stats().usedBytes).toBe(0)
      },
    ),
    runs(120),
  )
})

const deletionOf = (key: Hex): Change => ({
  key,
  kind: 'delete',
  nonce: 0n,
  balance: 0n,
  codeHash: EMPTY_CODE_HASH,
  slots: [],
})

const expectStorageRoots = async (changes: readonly Change[], model: Model, roots: Uint8Array): Promise<void> => {
  const touched = changes.filter(
    c => c.kind !== 'delete' && (c.slots.length > 0 || (c.kind === 'clear' && model.has(c.key))),
  )
  expect(roots.byteLength).toBe(32 * touched.length)
  for (const [i, c] of touched.entries()) {
    const expected = (await storageTrie(model.get(c.key)!.storage)).root()
    expect(bytesToHex(roots.subarray(i * 32, i * 32 + 32))).toBe(bytesToHex(expected))
  }
}

const expectProofs = async (trie: Trie, model: Model, strangers: readonly Hex[]): Promise<void> => {
  const root = bytesToHex(trie.root())
  for (const k of [...[...model.keys()].slice(0, 6), ...strangers]) {
    const expected = model.get(k)
    const { nodes, account } = trie.proveAccount(hexToBytes(k))
    expect(account?.nonce).toBe(expected?.nonce)
    if (model.size > 0) {
      expect(bytesToHex(keccak256(nodes[0]!))).toBe(root)
      const value = await verifyMerkleProof(hexToBytes(k), nodes)
      expect(value && bytesToHex(value)).toBe(expected === undefined ? null : bytesToHex(await encodeAccount(expected)))
    } else expect(nodes).toEqual([])
    if (expected === undefined || account === undefined) continue
    expect(bytesToBigint(account.balance)).toBe(expected.balance)
    for (const slot of [...[...expected.storage.keys()].slice(0, 4), ...strangers]) {
      const proof = trie.proveSlot(hexToBytes(k), hexToBytes(slot))
      expect(proof.value === undefined ? 0n : bytesToBigint(proof.value)).toBe(expected.storage.get(slot) ?? 0n)
      if (expected.storage.size === 0) continue
      const value = await verifyMerkleProof(hexToBytes(slot), proof.nodes)
      expect(value === null ? 0n : bytesToBigint(RLP.decode(value) as Uint8Array)).toBe(
        expected.storage.get(slot) ?? 0n,
      )
      expect(bytesToHex(keccak256(proof.nodes[0]!))).toBe(bytesToHex(account.storageRoot))
    }
  }
}

test('the order of accounts and slots in a batch does not matter', () => {
  fc.assert(
    fc.property(batch, batch, (first, second) => {
      const forward = new Trie()
      const backward = new Trie()
      let model: Model = new Map()
      for (const changes of [first, second]) {
        const reversed = changes.toReversed().map(c => ({ ...c, slots: c.slots.toReversed() }))
        const a = forward.apply(pack(model, changes), false)
        const b = backward.apply(pack(model, changes, reversed), false)
        expect(bytesToHex((a as { root: Uint8Array }).root)).toBe(bytesToHex((b as { root: Uint8Array }).root))
        model = applyToModel(model, changes)
      }
    }),
    runs(100),
  )
})

test('layers: any held parent can be built upon, commits keep what stands above, old states can be proven', async () => {
  const steps = fc.array(fc.record({ changes: batch, back: fc.nat(4), commit: fc.boolean() }), {
    minLength: 2,
    maxLength: 14,
  })
  await fc.assert(
    fc.asyncProperty(steps, async list => {
      const layers = new TrieLayers(4)
      let chain: { root: Hex; model: Model }[] = [{ root: EMPTY_ROOT, model: new Map() }]
      for (const { changes, back, commit } of list) {
        chain = chain.slice(0, Math.max(1, chain.length - back))
        const parent = chain.at(-1)!
        const { root } = layers.apply(parent.root, pack(parent.model, changes))
        const model = applyToModel(parent.model, changes)
        expect(root).toBe(await rootOf(model))
        chain.push({ root, model })
        chain = chain.slice(-5)
        if (commit) {
          const final = Math.max(0, chain.length - 2)
          layers.commit(chain[final]!.root)
          chain = chain.slice(final)
        }
      }
      for (const { root, model } of chain) {
        const proof = layers.prove(root, '0x0000000000000000000000000000000000000001', [], [])
        expect(proof.root).toBe(root)
        if (model.size > 0) expect(bytesToHex(keccak256(proof.accountProof[0]!))).toBe(root)
      }
      expect(layers.root).toBe(chain.at(-1)!.root)
    }),
    runs(40),
  )
})

test('thousands of accounts in a few batches', async () => {
  const trie = new Trie()
  const reference = await createMPT()
  const at = (i: number): Hex => `0x${i.toString(16).padStart(40, '0')}`
  for (const [from, to, round] of [
    [0, 2_000, 1],
    [1_000, 3_000, 2],
    [0, 2_500, 3],
  ] as const) {
    const packer = new BatchPacker()
    for (let i = from; i < to; i++) {
      const gone = round === 3 && i % 3 !== 0
      const fields = { nonce: i, balance: BigInt(i) ** BigInt(round * 4), codeHash: EMPTY_CODE_HASH }
      packer.account(at(i), gone ? undefined : fields)
      const hashed = keccak256(hexToBytes(at(i)))
      if (gone) await reference.del(hashed)
      else await reference.put(hashed, await encodeAccount({ ...fields, nonce: BigInt(i), storage: new Map() }))
    }
    const applied = trie.apply(new Uint8Array(packer.finish().buffer), true)
    expect(applied.fault === undefined && bytesToHex(applied.root)).toBe(bytesToHex(reference.root()))
  }
})

test('addresses and slots are hashed by the trie', () => {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytesToHex)
  const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytesToHex)
  fc.assert(
    fc.property(
      fc.uniqueArray(address, { minLength: 1, maxLength: 8 }),
      fc.uniqueArray(word, { maxLength: 8 }),
      (addresses, words) => {
        const plain = new BatchPacker()
        const hashed = new BatchPacker({ hashed: true })
        for (const a of addresses) {
          plain.account(a, { nonce: 1, balance: 2n, codeHash: EMPTY_CODE_HASH })
          hashed.account(bytesToHex(keccak256(hexToBytes(a))), { nonce: 1, balance: 2n, codeHash: EMPTY_CODE_HASH })
          for (const w of words) {
            plain.slot(w, toWord(7n))
            hashed.slot(bytesToHex(keccak256(hexToBytes(w))), Uint8Array.of(7))
          }
        }
        const one = new TrieLayers(1).load(new Uint8Array(plain.finish().buffer))
        expect(one).toBe(new TrieLayers(1).load(new Uint8Array(hashed.finish().buffer)))
        expect(one).not.toBe(EMPTY_ROOT)
      },
    ),
    runs(50),
  )
})
