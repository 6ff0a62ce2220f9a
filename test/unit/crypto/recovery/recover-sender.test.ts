import { RLP } from '@ethereumjs/rlp'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigintToBytes, bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { recoverTransaction } from '../../../../devtools/state-test/transaction-sender.ts'
import { recoverSender, type SenderReason } from '../../../../src/crypto/recovery/recover-sender.ts'
import { decodeTransaction } from '../../../../src/primitives/transaction/transaction.ts'
import { eachType, SIGNER, signed } from '../signed.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const transactions = await eachType()
const legacy = transactions['legacy with EIP-155']!
const dynamic = transactions['type 2']!

const reasonOf = (raw: Uint8Array): SenderReason | undefined => {
  try {
    recoverSender(raw)
    return undefined
  } catch (error) {
    if (error instanceof CodedError && error.code === 'INVALID_SENDER') return error.detail['reason' as never]
    throw error
  }
}

/** The transaction with some of its fields replaced. */
const withFields = (raw: Uint8Array, changes: Readonly<Record<number, Uint8Array>>): Uint8Array => {
  const typed = raw[0]! < 0xc0
  const fields = RLP.decode(typed ? raw.slice(1) : raw) as Uint8Array[]
  const list = RLP.encode(fields.map((field, i) => changes[i] ?? field))
  return typed ? Buffer.concat([raw.subarray(0, 1), list]) : list
}
const fieldOf = (raw: Uint8Array, i: number): Uint8Array =>
  (RLP.decode(raw[0]! < 0xc0 ? raw.slice(1) : raw) as Uint8Array[])[i]!

test.each(Object.entries(transactions))('hash and sender of %s', (_, raw) => {
  expect(recoverSender(raw)).toEqual({ hash: bytesToHex(keccak_256(raw)), from: SIGNER })
})

test('the example of EIP-155', () => {
  const raw = hexToBytes(
    '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
  )
  expect(recoverSender(raw).from).toBe('0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f')
})

describe('what has no sender', () => {
  test('s in the upper half (EIP-2)', () => {
    const s = ORDER - BigInt(bytesToHex(fieldOf(legacy, 8)))
    const v = BigInt(bytesToHex(fieldOf(legacy, 6)))
    const flipped = withFields(legacy, { 6: bigintToBytes(v % 2n === 1n ? v + 1n : v - 1n), 8: bigintToBytes(s) })
    expect(reasonOf(flipped)).toBe('s above half the group order')
  })

  test.each([0n, ORDER, 2n ** 256n - 1n])('r or s of %d', value => {
    expect(reasonOf(withFields(legacy, { 7: bigintToBytes(value) }))).toBe('signature value out of range')
    expect(reasonOf(withFields(dynamic, { 11: bigintToBytes(value) }))).toBe('signature value out of range')
  })

  test('r or s with a leading zero or longer than a word', () => {
    const padded = Buffer.concat([Uint8Array.of(0), fieldOf(legacy, 7).subarray(1)])
    expect(reasonOf(withFields(legacy, { 7: padded }))).toBe('signature value out of range')
    expect(reasonOf(withFields(legacy, { 7: new Uint8Array(33).fill(1) }))).toBe('signature value out of range')
  })

  test.each([2n, 27n, 37n])('y parity %d of a typed transaction', parity => {
    expect(reasonOf(withFields(dynamic, { 9: bigintToBytes(parity) }))).toBe('y parity is neither 0 nor 1')
  })

  test.each([0n, 1n, 26n, 29n, 34n, 2n ** 53n, 2n ** 56n - 1n, 2n ** 56n])('v %d of a legacy transaction', v => {
    expect(reasonOf(withFields(legacy, { 6: bigintToBytes(v) }))).toBe('v fits no signature scheme')
  })

  test('an r no point has', () => {
    expect(reasonOf(withFields(legacy, { 7: Uint8Array.of(5) }))).toBe('no public key has this signature')
  })

  test.each([
    ['nothing', '0x', 'malformed RLP'],
    ['an empty list', '0xc0', 'wrong number of fields'],
    ['an unknown type', '0x06c0', 'unknown transaction type'],
    ['type zero', '0x00c0', 'unknown transaction type'],
    ['a string', '0x8100', 'unknown transaction type'],
    ['a type byte alone', '0x02', 'malformed RLP'],
    ['a length beyond the end', '0xf8ff80', 'malformed RLP'],
    ['a length of eight bytes', `0xff${'ff'.repeat(8)}`, 'malformed RLP'],
    ['a long form for a short list', '0xf80180', 'malformed RLP'],
    ['a field beyond the list', '0xc283ff', 'malformed RLP'],
    ['fifteen fields', `0xcf${'80'.repeat(15)}`, 'wrong number of fields'],
  ] as const)('%s', (_, raw, reason) => {
    expect(reasonOf(hexToBytes(raw as Hex))).toBe(reason)
  })

  test('bytes after the list', () => {
    for (const raw of [legacy, dynamic]) expect(reasonOf(Buffer.concat([raw, Uint8Array.of(0)]))).toBe('malformed RLP')
  })

  test('every truncation', () => {
    for (let size = 0; size < dynamic.byteLength; size++) expect(reasonOf(dynamic.subarray(0, size))).toBeDefined()
  })
})

test('a changed byte gives another sender or none, and never anything but INVALID_SENDER', () => {
  const seed = Number(process.env['SEED'] ?? 20_250_217)
  const raws = Object.values(transactions).filter(raw => raw.byteLength < 1_000)
  fc.assert(
    fc.property(fc.constantFrom(...raws), fc.nat(999), fc.integer({ min: 1, max: 255 }), (raw, at, flip) => {
      const changed = Uint8Array.from(raw)
      changed[at % raw.byteLength]! ^= flip
      if (reasonOf(changed) === undefined) expect(recoverSender(changed).from).not.toBe(SIGNER)
    }),
    { seed, numRuns: 2_000 },
  )
})

test('chain ids as long as a number holds v', async () => {
  // Beyond the last one, v is no exact number for one of the two parities.
  for (const chainId of [1, 127, 128, 255, 256, 65_535, 20_250_217, 2 ** 40, 3_503_995_874_084_926, 2 ** 52 - 19]) {
    const raw = await signed({ type: 'legacy', gasPrice: 1n, gas: 1n, nonce: 0, chainId })
    expect(recoverSender(raw).from).toBe(SIGNER)
    expect(recoverTransaction(decodeTransaction(raw))).toMatchObject({ from: SIGNER, chainId })
  }
})
