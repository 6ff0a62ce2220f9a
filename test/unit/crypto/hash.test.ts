import { expect, test } from 'vitest'
import { keccak256Hex } from '../../../src/crypto/hash.ts'

const text = (value: string) => new TextEncoder().encode(value)

test.each([
  ['', '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
  ['abc', '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  ['The quick brown fox jumps over the lazy dog', '0x4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15'],
])('keccak-256 of %j', (input, hash) => {
  expect(keccak256Hex(text(input))).toBe(hash)
})

test('an input of many megabytes goes through the window in parts', () => {
  expect(keccak256Hex(new Uint8Array(20_000_000))).toBe(keccak256Hex(Buffer.alloc(20_000_000)))
})
