import { bytesToHex, EMPTY_BYTES, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { ARGON2_PROVIDERS } from '../../../src/crypto/argon2.ts'
import {
  nativeMixHash,
  nativeMixHashSync,
  nativeSealHash,
  PROOF_SEEDS,
  sha256dHash,
} from '../../../src/crypto/proof-hash.ts'
import { sha256 } from '../../../src/crypto/sha256.ts'
import {
  decodeProofHeader,
  encodeProofHeader,
  type ProofHeader,
  proofHeaderId,
  proofSealHash,
} from '../../../src/primitives/proof-header.ts'
import { encodeRlp } from '../../../src/primitives/rlp/rlp.ts'
import { checkProofSeal } from '../../../src/rules/proof/proof-work.ts'

const nonceOf = (value: bigint): Uint8Array => hexToBytes(`0x${value.toString(16).padStart(16, '0')}`)

const A: ProofHeader = {
  version: 1,
  parentId: `0x${'11'.repeat(32)}`,
  height: 1_739_999,
  anchorNumber: 104_399_940,
  anchorHash: `0x${'22'.repeat(32)}`,
  coinbase: `0x${'33'.repeat(20)}`,
  target: 2n ** 244n - 1n,
  extraNonce: hexToBytes('0x0102030405060708'),
  nonce: nonceOf(0x2a46n),
  mixHash: EMPTY_BYTES,
}
const B: ProofHeader = {
  ...A,
  version: 2,
  parentId: `0x${'44'.repeat(32)}`,
  height: 1_740_000,
  anchorNumber: 104_400_001,
  target: 2n ** 250n - 1n,
  nonce: nonceOf(0x12n),
  mixHash: hexToBytes('0x68bd0d343a94b9854e3f6bf1a870153d58cafb9ef2db0d75566f38f873aac2fd'),
}
const MAINNET = 20_250_217
const SEAL_A = '0x827779515fa5279b4a4ff61c2d00246c8f5dc1cb8be5d8611cc639181e2ddd82'
const SEAL_B = '0xef5d2bc956166f88aadf52a2fb55a03f9492df4f47177d958b3a50d92de6bc9a'

/** Native addon, node:crypto, WebAssembly and JavaScript. */
const PROVIDERS = await Promise.all(ARGON2_PROVIDERS.map(load => load()))

describe('known answers', () => {
  test('SHA-256 of FIPS 180-4', () => {
    expect(bytesToHex(sha256(Buffer.from('abc')))).toBe(
      '0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  test('seeds', () => {
    expect(bytesToHex(PROOF_SEEDS[0])).toBe('0x3cef128dcf1b5465c4f30c5b92cb2dabdeb70395109856c5d0cc74540f8cbcf7')
    expect(bytesToHex(PROOF_SEEDS[1])).toBe('0x52e1cae7d98aa478ee08596f00f12b3703cc01f2a7c1e2432b0d5de5999a8a1d')
  })

  test('version 1', () => {
    expect(proofSealHash(MAINNET, A)).toBe(SEAL_A)
    expect(toWord(sha256dHash(SEAL_A, nonceOf(0n)))).toBe(
      '0x577a21b4be3fc37d859d776269129ffb7856456a1dcf9819946b3b592c5d8899',
    )
    expect(toWord(sha256dHash(SEAL_A, A.nonce))).toBe(
      '0x00047d8dd07d952674c8cf8f7b70f2532adbd468be3351408a51d6652796599a',
    )
    expect(proofHeaderId(A)).toBe('0x603fc3366dad7ceb8c4186a0cf59fdff2c3a42b60c3762be7822f4615c9bb133')
  })

  test.each(PROVIDERS)('version 2 by $name', async argon2 => {
    expect(proofSealHash(MAINNET, B)).toBe(SEAL_B)
    const mix = await nativeMixHash(argon2, SEAL_B, nonceOf(0n))
    expect(bytesToHex(mix)).toBe('0x4d93f18c4934d1ec8f6b4a029c02064533110cacb758c34ccaa3fba7dc3ae14c')
    expect(toWord(nativeSealHash(SEAL_B, nonceOf(0n), mix))).toBe(
      '0x4ddc6fa20c8dc34eb3aaf6ca4c2073dad4278397289d2be8625862fc31c3a6b4',
    )
    expect(bytesToHex(await nativeMixHash(argon2, SEAL_B, B.nonce))).toBe(bytesToHex(B.mixHash))
    expect(bytesToHex(nativeMixHashSync(argon2, SEAL_B, B.nonce))).toBe(bytesToHex(B.mixHash))
    expect(toWord(nativeSealHash(SEAL_B, B.nonce, B.mixHash))).toBe(
      '0x021803755c2518d2ef546f51cb3ab9b63708eb2f3f532ea10c452e4d5ce43e8d',
    )
    expect(proofHeaderId(B)).toBe('0x3802c7aa63ab9587b55b51253a7b1529395dc941a41706a1b71467b096f8c1df')
  })

  test('the chain id and the version are part of the work', () => {
    expect(proofSealHash(1_998_991, B)).toBe('0x2207f64ff8417af57436873e247d3ea5bdf1acdf5e7c62d8b0f061712135a02d')
    expect(proofSealHash(MAINNET, { ...B, version: 1 })).toBe(
      '0x49bd1fd369cc4afcbb011d260d33322058d2f46969f6fc4b3f9a268a83d2eecb',
    )
  })
})

describe('the cheap check of work', () => {
  test.each([A, B])('accepts version $version', header => {
    expect(() => checkProofSeal(MAINNET, header)).not.toThrow()
  })

  test.each([A, B])('refuses version $version with another nonce, chain or target', header => {
    expect(() => checkProofSeal(MAINNET, { ...header, nonce: nonceOf(0n) })).toThrow('PROOF_WORK')
    expect(() => checkProofSeal(1_998_991, header)).toThrow('PROOF_WORK')
    expect(() => checkProofSeal(MAINNET, { ...header, target: 1n })).toThrow('PROOF_WORK')
  })
})

describe('encoding', () => {
  test.each([A, B])('round trip of version $version', header => {
    const bytes = encodeProofHeader(header)
    const { nonce, mixHash, extraNonce, ...rest } = decodeProofHeader(bytes)
    expect({
      ...rest,
      nonce: bytesToHex(nonce),
      mixHash: bytesToHex(mixHash),
      extraNonce: bytesToHex(extraNonce),
    }).toEqual({
      ...header,
      nonce: bytesToHex(header.nonce),
      mixHash: bytesToHex(header.mixHash),
      extraNonce: bytesToHex(header.extraNonce),
    })
    expect(bytes.byteLength).toBe(header.version === 1 ? 150 : 183)
  })

  const items = (change: Record<number, Uint8Array>): Uint8Array => {
    const plain = [
      Uint8Array.of(2),
      hexToBytes(B.parentId),
      Uint8Array.of(0x1a, 0x8c, 0xe0),
      Uint8Array.of(0x06, 0x39, 0x05, 0x01),
      hexToBytes(B.anchorHash),
      hexToBytes(B.coinbase),
      Uint8Array.of(1),
      B.extraNonce,
      B.nonce,
      B.mixHash,
    ]
    return encodeRlp(plain.map((item, index) => change[index] ?? item))
  }

  test.each([
    ['a leading zero', items({ 2: Uint8Array.of(0, 1) }), 'leading zero'],
    ['an extra nonce of 33 bytes', items({ 7: new Uint8Array(33) }), 'at most 32'],
    ['a mixHash of 31 bytes', items({ 9: new Uint8Array(31) }), 'mixHash of 31 bytes'],
    ['a nonce of 7 bytes', items({ 8: new Uint8Array(7) }), 'want 8 bytes'],
    ['a target of 33 bytes', items({ 6: new Uint8Array(33).fill(1) }), 'uint256'],
    ['bytes behind it', Buffer.concat([items({}), Uint8Array.of(0)]), 'more than one value'],
    ['more than 320 bytes', new Uint8Array(321), '321 bytes'],
    ['nothing', EMPTY_BYTES, 'too few'],
    ['a size that could be shorter', Buffer.concat([Uint8Array.of(0xf8, 0x37), new Uint8Array(0x37)]), 'non-canonical'],
  ])('refuses %s', (_, bytes, reason) => {
    expect(() => decodeProofHeader(bytes)).toThrow(reason)
  })
})
