import type { Hex } from '@tandem/base/bytes.ts'

const hex = (value: number, bytes: number): string => value.toString(16).padStart(bytes * 2, '0')
/** MSTORE of words from an offset on. */
const stored = (offset: number, words: string): string =>
  (words.match(/.{64}/g) ?? []).map((word, i) => `7f${word}62${hex(offset + i * 32, 3)}52`).join('')
/** MCOPY that doubles what stands from an offset on, so many times. */
const doubled = (offset: number, size: number, times: number): string =>
  Array.from({ length: times }, (_, i) => size * 2 ** i)
    .map(n => `62${hex(n, 3)}62${hex(offset, 3)}62${hex(offset + n, 3)}5e`)
    .join('')
/** STATICCALL with the memory up to `size` and all gas, over and over. */
const calls = (before: string, address: number, size: number): Hex =>
  `0x${before}5b5f5f62${hex(size, 3)}5f60${hex(address, 1)}5afa5062${hex(before.length / 2, 3)}56`

const PAIR =
  `${hex(1, 32)}${hex(2, 32)}198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2` +
  '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
  '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
  '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa'
const KZG =
  '01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b564c0a11a0f704f4fc3e8acfe0f8245f0ad1347b378fbf96e206da11a5d3630624d25032e67a7e6a4910df5834b8fe70e6bcfeeac0352434196bdf4b2485d5a18f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7873033e038326e87ed3e1276fd140253fa08e9fc25fb2d9a98527fc22a2c9612fbeafdad446cbc7bcdbdcd780af2c16a'
const BLAKE2 = (rounds: number): string => `${hex(rounds, 4)}${'5a'.repeat(208)}01`.padEnd(448, '0')
/** Base and modulus of 8 bytes, all bits set, an exponent of 2^n. */
const modexp = (exponentBytes: number): string =>
  stored(0, `${hex(8, 32)}${hex(exponentBytes, 32)}${hex(8, 32)}${'ff'.repeat(32)}`) +
  doubled(96, 32, Math.log2(exponentBytes / 32) + 1)

/** Init codes by name, each of which spends so much gas on one precompile. */
export const precompilePrograms = (gas: number): Readonly<Record<string, Hex>> => {
  const pairs = 2 ** Math.floor(Math.log2(gas / 36_000))
  return {
    'one pairing of many pairs': calls(stored(0, PAIR) + doubled(0, 192, Math.log2(pairs)), 8, 192 * pairs),
    'pairings of one pair': calls(stored(0, PAIR), 8, 192),
    'long exponents, short moduli': calls(modexp(8_192), 5, 96 + 8 + 8_192 + 8),
    'one long exponent': calls(modexp(2 ** 20), 5, 96 + 8 + 2 ** 20 + 8),
    'point evaluations': calls(stored(0, KZG), 10, 192),
    // A round costs one or two gas.
    'BLAKE2 F of many rounds': calls(stored(0, BLAKE2(gas * 0.45)), 9, 213),
    'RIPEMD160 of megabytes': calls(stored(2 ** 20, PAIR), 3, 2 ** 20),
  }
}
