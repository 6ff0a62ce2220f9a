import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { bytesToHex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orderedRoot } from '../../src/primitives/roots.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

const reference = async (items: readonly Uint8Array[]) => {
  const trie = await createMPT()
  for (const [i, item] of items.entries()) await trie.put(RLP.encode(i), item)
  return bytesToHex(trie.root())
}

const item = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength })

test('the ordered root equals that of the reference trie', async () => {
  const lists = fc.oneof(
    fc.array(item(3), { maxLength: 40 }),
    fc.array(item(40), { maxLength: 300 }),
    fc.array(item(600), { maxLength: 20 }),
  )
  await fc.assert(
    fc.asyncProperty(lists, async items => {
      expect(orderedRoot(items)).toBe(await reference(items))
    }),
    { seed, numRuns: 60 },
  )
})

test.each([1, 2, 16, 17, 127, 128, 129, 255, 256, 257, 1_100])(
  'the ordered root of %i items, where key lengths change',
  async count => {
    const items = Array.from({ length: count }, (_, i) => Buffer.alloc(1 + ((i * 7) % 90), i + 1))
    expect(orderedRoot(items)).toBe(await reference(items))
  },
)

test('an item longer than 64 KiB', async () => {
  const items = [Buffer.alloc(70_000, 3), Buffer.alloc(200, 9)]
  expect(orderedRoot(items)).toBe(await reference(items))
})

test('keys of four bytes come into play beyond 65,535 items', () => {
  const items = Array.from({ length: 65_600 }, (_, i) => Uint8Array.of(i & 255, i >> 8, 200))
  // Computed once by the reference trie, which takes ten seconds.
  expect(orderedRoot(items)).toBe('0xb2806d49ff30f9b0311ca89ebdd8054980c6a6be8f8260e4162ad25d8bffc03a')
})
