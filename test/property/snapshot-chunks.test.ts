import { bytesToHex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rootOfParts } from '../../src/state/snapshot/sub-trie.ts'
import { verifyAccountChunk, verifySlotChunk } from '../../src/state/snapshot/verify-chunk.ts'
import { SEED as seed } from '../support/seed.ts'
import { cutState, plainState, SMALL, storagesArbitrary } from '../support/snapshot-state.ts'

/** Changes of bytes by a malicious peer. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), bit: fc.constant(0) }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), bit: fc.nat(255) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(), bit: fc.constant(0) }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

const changed = (bytes: Uint8Array, { kind, at, bit }: Change): Uint8Array => {
  const where = at % bytes.byteLength
  const [before, after] = [bytes.subarray(0, where), bytes.subarray(where + 1)]
  const byte = bytes[where] as number
  if (kind === 'flip') return Buffer.concat([before, Uint8Array.of(byte ^ (1 << bit)), after])
  if (kind === 'insert') return Buffer.concat([before, Uint8Array.of(bit, byte), after])
  return kind === 'cut' ? before : Buffer.concat([before, after])
}

const isRefused = (verify: () => unknown): boolean => {
  try {
    verify()
    return false
  } catch (error) {
    return isCoded(error) && error.code === 'SNAPSHOT_FALSE'
  }
}

describe('chunks of a state', () => {
  test('make it up, no larger than they may be, and each is verified by its part alone', async () => {
    await fc.assert(
      fc.asyncProperty(storagesArbitrary, async storages => {
        const state = plainState(storages)
        const cut = await cutState(state)
        expect(rootOfParts(cut.accounts)).toBe(cut.root)
        const records = cut.accounts.flatMap(part => {
          const chunk = cut.accountChunk(part)
          const found = verifyAccountChunk(chunk, part)
          expect(chunk.byteLength <= SMALL.chunkBytes || found.length === 1).toBe(true)
          return found
        })
        expect(records.map(({ key, account }) => [key, account])).toEqual(
          state.accounts.map(([key, account]) => [Buffer.from(key), account]),
        )
        const elsewhere = records.filter(({ slots }) => slots === 'elsewhere')
        expect(cut.storages.map(({ owner }) => bytesToHex(owner))).toEqual(elsewhere.map(({ key }) => bytesToHex(key)))
        for (const [at, { owner, parts }] of cut.storages.entries()) {
          expect(rootOfParts(parts)).toBe(elsewhere[at]?.account.storageRoot)
          const slots = parts.flatMap(part => verifySlotChunk(cut.storageChunk(part), part))
          expect(slots.map(({ key }) => bytesToHex(key))).toEqual(
            state.slots.get(bytesToHex(owner))?.map(([key]) => bytesToHex(key)),
          )
        }
      }),
      { seed, numRuns: 40 },
    )
  })

  test('are refused however they are changed, and in the place of another', async () => {
    await fc.assert(
      fc.asyncProperty(
        storagesArbitrary,
        fc.array(change, { minLength: 20, maxLength: 20 }),
        async (storages, changes) => {
          const cut = await cutState(plainState(storages))
          for (const [at, how] of changes.entries()) {
            const part = cut.accounts[at % cut.accounts.length]!
            const chunk = cut.accountChunk(part)
            expect(isRefused(() => verifyAccountChunk(changed(chunk, how), part))).toBe(true)
            const other = cut.accounts[(at + 1) % cut.accounts.length]!
            if (other !== part) expect(isRefused(() => verifyAccountChunk(chunk, other))).toBe(true)
            const large = cut.storages[at % Math.max(1, cut.storages.length)]?.parts ?? []
            for (const one of large.slice(0, 2)) {
              const bytes = cut.storageChunk(one)
              expect(isRefused(() => verifySlotChunk(changed(bytes, how), one))).toBe(true)
            }
          }
        },
      ),
      { seed, numRuns: 25 },
    )
  })

  test('parts that are changed, left out, doubled or shifted make another root, or none', async () => {
    await fc.assert(
      fc.asyncProperty(storagesArbitrary, fc.nat(), fc.nat(15), fc.nat(32), async (storages, at, nibble, byte) => {
        const { accounts, root } = await cutState(plainState(storages))
        const index = at % accounts.length
        const part = accounts[index]!
        const reference = Buffer.from(part.reference)
        reference[byte % reference.byteLength]! ^= 1
        const moved = Uint8Array.of(...part.prefix.subarray(0, -1), nibble)
        const lies = [
          accounts.with(index, { ...part, reference }),
          accounts.toSpliced(index, 1),
          accounts.toSpliced(index, 0, part),
          accounts.with(index, { ...part, prefix: Uint8Array.of(...part.prefix, nibble) }),
          ...(bytesToHex(moved) === bytesToHex(part.prefix) ? [] : [accounts.with(index, { ...part, prefix: moved })]),
        ]
        for (const lie of lies) expect(rootOfParts(lie)).not.toBe(root)
      }),
      { seed, numRuns: 100 },
    )
  })
})
