import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createLegacyTx, createTxFromRLP } from '@ethereumjs/tx'
import { ecrecover as reference } from '@ethereumjs/util'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { keccak256 } from '../../../../../src/crypto/hash.ts'
import { sign } from '../../../../../src/crypto/signature.ts'
import { customCrypto } from '../../../../../src/evm/engines/ethereumjs/common.ts'

const KEY = new Uint8Array(32).fill(0x46)
const ecrecover = customCrypto.ecrecover!

test('recovers like the library, whatever the form of v', () => {
  for (let i = 0; i < 20; i++) {
    const digest = keccak256(Uint8Array.of(i))
    const signature = sign(digest, KEY)
    const [r, s] = [signature.slice(0, 32), signature.slice(32, 64)]
    const parity = BigInt(signature[64]!)
    for (const [v, chainId] of [
      [parity, undefined],
      [27n + parity, undefined],
      [35n + 2n * 1998999n + parity, 1998999n],
    ] as const) {
      expect(ecrecover(digest, v, r, s, chainId)).toEqual(reference(digest, v, r, s, chainId))
    }
  }
})

test('r and s may come without their leading zeros', () => {
  for (let i = 0, short = 0; short < 3; i++) {
    const digest = keccak256(Uint8Array.of(i & 255, i >> 8, 3))
    const signature = sign(digest, KEY)
    if (signature[0] !== 0 && signature[32] !== 0) continue
    short++
    const trim = (bytes: Uint8Array) => bytes.slice(bytes.findIndex(b => b !== 0))
    const [r, s] = [signature.slice(0, 32), signature.slice(32, 64)]
    expect(ecrecover(digest, BigInt(signature[64]!), trim(r), trim(s))).toEqual(
      reference(digest, BigInt(signature[64]!), r, s),
    )
  }
})

test('throws for an invalid signature', () => {
  const digest = keccak256(new Uint8Array(1))
  const signature = sign(digest, KEY)
  const [r, s] = [signature.slice(0, 32), signature.slice(32, 64)]
  expect(() => ecrecover(digest, 29n, r, s)).toThrow()
  expect(() => ecrecover(digest, 27n, r, s, 1n)).toThrow()
  expect(() => ecrecover(digest, 27n, new Uint8Array(32), s)).toThrow()
  expect(() => ecrecover(digest, 27n, new Uint8Array(33).fill(1), s)).toThrow()
  expect(() => ecrecover(digest, 2n ** 200n, r, s)).toThrow()
})

test('transactions of the library use it', () => {
  const common = new Common({ chain: Mainnet, hardfork: Hardfork.Cancun, customCrypto })
  const signed = createLegacyTx({ gasLimit: 21_000n, to: `0x${'22'.repeat(20)}` }, { common }).sign(KEY)
  const sender = createTxFromRLP(signed.serialize(), { common }).getSenderAddress().toString()
  expect(sender).toBe('0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f')
  expect(customCrypto.sha256!(new Uint8Array(0))).toEqual(
    hexToBytes('0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
  )
})
