import { compareBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { StackTrie } from '../../../src/state/trie/stack-trie.ts'
import vectors from './fixtures/trie-tests.json' with { type: 'json' }

/*
 * Vectors of ethereum/tests for Merkle Patricia tries. A secure trie hashes its keys, so that all are of one length, which is what every
 * trie of this node has; of the plain ones those are run whose keys are of one length.
 */

type Entry = readonly [key: string, value: string | null]
interface Vector {
  readonly in: readonly Entry[] | Readonly<Record<string, string>>
  readonly root: string
}

/** 0x stands for bytes, anything else for text. */
const bytesOf = (text: string): Uint8Array =>
  text.startsWith('0x') ? hexToBytes(text as Hex) : new TextEncoder().encode(text)

const entriesOf = (vector: Vector): readonly Entry[] =>
  Array.isArray(vector.in) ? (vector.in as readonly Entry[]) : Object.entries(vector.in)

/** Entries left after all puts and removals, in the order of the keys. */
const finalEntries = (vector: Vector, isSecure: boolean): readonly (readonly [Uint8Array, Uint8Array])[] => {
  const left = new Map<string, string>()
  for (const [key, value] of entriesOf(vector)) {
    if (value === null || value === '') left.delete(key)
    else left.set(key, value)
  }
  return [...left]
    .map(([key, value]) => [isSecure ? keccak256(bytesOf(key)) : bytesOf(key), bytesOf(value)] as const)
    .sort(([a], [b]) => compareBytes(a, b))
}

const isSecure = (file: string): boolean => /secure/i.test(file)
const hasOneLength = (vector: Vector): boolean =>
  new Set(finalEntries(vector, false).map(([key]) => key.byteLength)).size <= 1

describe.each(Object.entries(vectors) as [string, Record<string, Vector>][])('%s', (file, tests) => {
  const run = Object.entries(tests).filter(([, vector]) => isSecure(file) || hasOneLength(vector))

  test.each(run)('%s', (_, vector) => {
    const trie = new StackTrie()
    for (const [key, value] of finalEntries(vector, isSecure(file))) trie.add(key, value)
    expect(trie.root()).toBe(vector.root)
  })
})

test('all secure vectors are run, and some plain ones', () => {
  const counts = Object.entries(vectors as unknown as Record<string, Record<string, Vector>>).map(
    ([file, tests]) => Object.values(tests).filter(vector => isSecure(file) || hasOneLength(vector)).length,
  )
  expect(counts).toEqual([2, 3, 2, 7, 3])
})
