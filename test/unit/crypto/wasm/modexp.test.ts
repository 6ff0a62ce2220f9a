import { finishSlicedWork, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { describe, expect, test } from 'vitest'
import { BLAKE2_INPUT_BYTES, blake2Compress } from '../../../../src/crypto/wasm/blake2.ts'
import { powerMod } from '../../../../src/crypto/wasm/modexp.ts'

const filled = (size: number, byte = 0xff): Uint8Array => new Uint8Array(size).fill(byte)

/** Part by part in turns; answers the results and how many parts each took. */
const byTurns = <Result>(works: readonly SlicedWork<Result>[]): readonly { result: Result; parts: number }[] => {
  const results = works.map(() => ({ result: undefined as Result, parts: 0 }))
  const open = new Set(works.keys())
  while (open.size > 0) {
    for (const index of open) {
      const part = (works[index] as SlicedWork<Result>).next()
      const entry = results[index] as { result: Result; parts: number }
      entry.parts++
      if (part.done !== true) continue
      entry.result = part.value
      open.delete(index)
    }
  }
  return results
}

describe('computations that share the memory of a module do not see each other', () => {
  test.each([
    ['powers', [3n, 5n, 7n].map(base => () => powerMod(base, filled(9_000), 2n ** 256n - 189n))],
    ['BLAKE2 F', [1, 2, 3].map(byte => () => blake2Compress(filled(BLAKE2_INPUT_BYTES, byte), 35_000))],
  ] as readonly [string, readonly (() => SlicedWork<unknown>)[]][])('%s', (_, begin) => {
    const alone = begin.map(work => finishSlicedWork(work()))
    const together = byTurns(begin.map(work => work()))
    expect(together.map(({ result }) => result)).toEqual(alone)
    for (const { parts } of together) expect(parts).toBeGreaterThan(2)
    expect(new Set(alone.map(String)).size).toBe(alone.length)
  })

  test('one that is abandoned halfway is forgotten', () => {
    const exponent = filled(9_000)
    const right = finishSlicedWork(powerMod(3n, exponent, 2n ** 256n - 189n))
    const abandoned = powerMod(5n, exponent, 2n ** 255n - 19n)
    abandoned.next()
    abandoned.next()
    expect(finishSlicedWork(powerMod(3n, exponent, 2n ** 256n - 189n))).toBe(right)
  })
})

test.each([
  ['odd, in the module', 2n ** 1_024n - 105n],
  ['even, in the module', 2n ** 1_024n - 106n],
  ['longer than the module takes', 2n ** 1_025n - 1n],
  ['one', 1n],
  ['a power of two', 2n ** 500n],
])('powers whose modulus is %s', (_, modulus) => {
  let right = 1n % modulus
  for (let i = 0; i < 0x10203; i++) right = (right * 0xabcdefn) % modulus
  expect(finishSlicedWork(powerMod(0xabcdefn, Uint8Array.of(0, 1, 2, 3), modulus))).toBe(right)
})
