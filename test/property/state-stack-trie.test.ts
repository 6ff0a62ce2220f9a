import { createMPT } from '@ethereumjs/mpt'
import { bytesToHex, compareBytes } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StackTrie } from '../../src/state/trie/stack-trie.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

/** Few different nibbles, so that paths are shared, extended and split. */
const key = fc
  .array(fc.constantFrom(0x00, 0x01, 0x10, 0x11, 0xf0), { minLength: 4, maxLength: 4 })
  .map(bytes => Uint8Array.from(bytes))
const value = fc.uint8Array({ minLength: 1, maxLength: 40 })

test('the root of ascending keys equals that of the reference trie', async () => {
  const entries = fc.uniqueArray(fc.tuple(key, value), { maxLength: 60, selector: ([k]) => bytesToHex(k) })
  await fc.assert(
    fc.asyncProperty(entries, async unsorted => {
      const sorted = unsorted.toSorted(([a], [b]) => compareBytes(a, b))
      const reference = await createMPT()
      const trie = new StackTrie()
      for (const [k, v] of sorted) {
        await reference.put(k, v)
        trie.add(k, v)
      }
      expect(trie.root()).toBe(bytesToHex(reference.root()))
    }),
    { seed, numRuns: 300 },
  )
})

test('keys out of order, and of another length, are refused', () => {
  const trie = new StackTrie()
  trie.add(Uint8Array.of(2), Uint8Array.of(1))
  expect(() => trie.add(Uint8Array.of(1), Uint8Array.of(1))).toThrow('ascend')
  expect(() => trie.add(Uint8Array.of(2), Uint8Array.of(1))).toThrow('ascend')
  expect(() => trie.add(Uint8Array.of(3, 0), Uint8Array.of(1))).toThrow('ascend')
})
