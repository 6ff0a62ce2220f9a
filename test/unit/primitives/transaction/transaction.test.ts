import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { recoverTransaction, signatureBytes } from '../../../../devtools/state-test/transaction-sender.ts'
import type { EvmFork } from '../../../../src/config/forks.ts'
import { keccak256, keccak256Hex } from '../../../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../../../src/crypto/signature.ts'
import {
  decodeTransaction,
  effectiveGasPrice,
  withSender,
  yParityOf,
} from '../../../../src/primitives/transaction/transaction.ts'
import {
  encodeTransaction,
  signingPayload,
  type UnsignedTransaction,
} from '../../../../src/primitives/transaction/transaction-encoding.ts'
import { intrinsicGas, intrinsicGasRules } from '../../../../src/rules/intrinsic-gas.ts'
import { signedBy } from '../../../support/signed-by.ts'
import vectors from '../fixtures/transaction-tests.json' with { type: 'json' }
import { codeOf } from '../support.ts'

type Outcome = { exception: string } | { hash: string; sender: string; intrinsicGas: string }

/** Refused by rules of a chain or a block, not by the form of the bytes. */
const RULES = new Set([
  'INVALID_CHAINID',
  'INTRINSIC_GAS_TOO_LOW',
  'GASLIMIT_PRICE_PRODUCT_OVERFLOW',
  'TYPE_NOT_SUPPORTED',
  'NONCE_TOO_BIG',
])
const FORK_NAMES: Readonly<Record<string, EvmFork>> = {
  Homestead: 'homestead',
  Byzantium: 'byzantium',
  Istanbul: 'istanbul',
  Berlin: 'berlin',
  London: 'london',
  Shanghai: 'shanghai',
  Cancun: 'cancun',
}

describe('vectors of ethereum/tests', () => {
  const newest = (result: Record<string, Outcome>): Outcome =>
    (result['Cancun'] ?? result['Shanghai'] ?? result['London']) as Outcome

  test.each(Object.entries(vectors))('%s', (_, vector) => {
    const read = () => recoverTransaction(decodeTransaction(hexToBytes(vector.txbytes as Hex)))
    const outcome = newest(vector.result as unknown as Record<string, Outcome>)
    if ('exception' in outcome) {
      // Whatever the rules refuse later may decode, and is the same bytes then.
      if (!RULES.has(outcome.exception)) expect(codeOf(read)).toMatch(/TRANSACTION_MALFORMED|INVALID_SENDER/)
      else if (codeOf(read) === undefined) expect(bytesToHex(read().raw)).toBe(vector.txbytes)
      return
    }
    const tx = read()
    expect({ hash: tx.hash, sender: tx.from }).toEqual({ hash: outcome.hash, sender: outcome.sender })
    for (const [name, result] of Object.entries(vector.result)) {
      if (!('intrinsicGas' in result)) continue
      const rules = intrinsicGasRules(FORK_NAMES[name] as EvmFork, null)
      expect([name, intrinsicGas(tx, rules)]).toEqual([name, BigInt(result.intrinsicGas as string)])
    }
  })
})

describe('the example of EIP-155', () => {
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId: 1,
    nonce: 9,
    maxFeePerGas: 20n * 10n ** 9n,
    maxPriorityFeePerGas: 20n * 10n ** 9n,
    gasLimit: 21_000n,
    to: '0x3535353535353535353535353535353535353535',
    value: 10n ** 18n,
    data: EMPTY_BYTES,
    accessList: [],
  }
  const key = hexToBytes(`0x${'46'.repeat(32)}`)

  test('payload, digest and signed bytes are those of the text', () => {
    const payload = signingPayload(unsigned)
    expect(bytesToHex(payload)).toBe(
      '0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080',
    )
    expect(keccak256Hex(payload)).toBe('0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53')
    const tx = signedBy(unsigned, key)
    expect(bytesToHex(tx.raw)).toBe(
      '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    )
    expect(recoverTransaction(tx).from).toBe(addressFromPrivateKey(key))
  })
})

const KEY = new Uint8Array(32).fill(7)
const ADDRESS: Hex = `0x${'ab'.repeat(20)}`
const base = {
  chainId: 20_250_217,
  nonce: 0,
  gasLimit: 100_000n,
  maxFeePerGas: 30n * 10n ** 9n,
  maxPriorityFeePerGas: 2n * 10n ** 9n,
  to: ADDRESS,
  value: 0n,
  data: Uint8Array.of(1, 2, 3, 0),
  accessList: [{ address: ADDRESS, storageKeys: [ZERO_HASH] }],
}
const examples: Readonly<Record<string, UnsignedTransaction>> = {
  legacy: { ...base, type: 0, maxPriorityFeePerGas: base.maxFeePerGas, accessList: [] },
  unprotected: { ...base, type: 0, chainId: undefined, maxPriorityFeePerGas: base.maxFeePerGas, accessList: [] },
  creation: { ...base, type: 0, to: null, maxPriorityFeePerGas: base.maxFeePerGas, accessList: [] },
  'access list': { ...base, type: 1, maxPriorityFeePerGas: base.maxFeePerGas },
  'dynamic fee': { ...base, type: 2 },
  blob: { ...base, type: 3, maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${'00'.repeat(31)}`] },
  'set code': {
    ...base,
    type: 4,
    authorizationList: [
      { chainId: 0n, address: ADDRESS, nonce: 5n, yParity: 1, r: Uint8Array.of(1), s: Uint8Array.of(2) },
    ],
  },
}

describe.each(Object.entries(examples))('%s', (_, unsigned) => {
  test('decodes to what was signed, by whom it was signed', () => {
    const tx = signedBy(unsigned, KEY)
    expect(tx).toMatchObject(unsigned)
    expect(decodeTransaction(tx.raw)).toEqual(tx)
    expect(recoverTransaction(tx).from).toBe(addressFromPrivateKey(KEY))
    expect(recoverTransaction(tx).hash).toBe(keccak256Hex(tx.raw))
  })

  test('the payload of the signed bytes is the one that was signed', () => {
    expect(signingPayload(signedBy(unsigned, KEY))).toEqual(signingPayload(unsigned))
  })
})

describe('hostile bytes', () => {
  const reasonOf = (hex: string): string | undefined => {
    try {
      decodeTransaction(hexToBytes(hex as Hex))
    } catch (error) {
      return (error as { detail: { reason: string } }).detail.reason
    }
    return undefined
  }
  const legacy = bytesToHex(signedBy(examples['legacy'] as UnsignedTransaction, KEY).raw)

  test.each([
    ['0x', 'Empty input'],
    ['0x00', 'transaction type not supported'],
    ['0x05c0', 'transaction type not supported'],
    ['0x02', 'typed transaction too short'],
    ['0x80', 'rlp: expected List'],
    ['0xc0', 'rlp: too few elements'],
    [`${legacy}00`, 'rlp: input contains more than one value'],
    [legacy.slice(0, -2), 'rlp: value size exceeds available input length'],
  ])('%s: %s', (hex, reason) => {
    expect(reasonOf(hex)).toBe(reason)
  })

  test('every truncation and every appended byte is refused with a code', () => {
    for (const unsigned of Object.values(examples)) {
      const { raw } = signedBy(unsigned, KEY)
      for (let size = 0; size < raw.byteLength; size++) {
        expect(codeOf(() => decodeTransaction(raw.subarray(0, size)))).toBe('TRANSACTION_MALFORMED')
      }
    }
  })

  test('a blob or set-code transaction cannot create', () => {
    for (const type of [3, 4] as const) {
      const unsigned = { ...(examples[type === 3 ? 'blob' : 'set code'] as UnsignedTransaction), to: null }
      expect(codeOf(() => signedBy(unsigned, KEY))).toBe('TRANSACTION_MALFORMED')
    }
  })

  test('v must be one of the signature schemes', () => {
    const unsigned = examples['dynamic fee'] as UnsignedTransaction
    const word = { r: Uint8Array.of(1), s: Uint8Array.of(1) }
    expect(codeOf(() => encodeTransaction(unsigned, { ...word, yParity: 2 as 1 }))).toBe('TRANSACTION_MALFORMED')
    const unprotected = examples['unprotected'] as UnsignedTransaction
    for (const parity of [2, 7]) {
      expect(codeOf(() => encodeTransaction(unprotected, { ...word, yParity: parity as 1 }))).toBe(
        'TRANSACTION_MALFORMED',
      )
    }
    expect(encodeTransaction(unprotected, { ...word, yParity: 1 }).chainId).toBeUndefined()
  })

  test('a zero r or s has no sender', () => {
    const unsigned = examples['legacy'] as UnsignedTransaction
    const zero = { r: new Uint8Array(32), s: Uint8Array.of(1), yParity: 0 as const }
    expect(codeOf(() => encodeTransaction(unsigned, zero))).toBe('TRANSACTION_MALFORMED')
  })

  test('a high s has no sender (EIP-2)', () => {
    const tx = signedBy(examples['legacy'] as UnsignedTransaction, KEY)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = order - BigInt(bytesToHex(tx.s))
    const flipped = encodeTransaction(tx, {
      r: tx.r,
      s: hexToBytes(`0x${s.toString(16).padStart(64, '0')}`),
      yParity: yParityOf(tx) === 0 ? 1 : 0,
    })
    expect(codeOf(() => recoverTransaction(flipped))).toBe('INVALID_SENDER')
  })
})

test('signatures are padded to 65 bytes', () => {
  const tx = { type: 0, chainId: 5, v: 46n, r: Uint8Array.of(1), s: Uint8Array.of(2, 3) } as const
  const bytes = signatureBytes(tx)
  expect(bytes.byteLength).toBe(65)
  expect([bytes[31], bytes[62], bytes[63], bytes[64]]).toEqual([1, 2, 3, 1])
})

test('the effective price is base fee plus tip within the cap; a legacy price is paid whole', () => {
  const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas })
  expect(effectiveGasPrice(fees(40n, 2n), 25n)).toBe(27n)
  expect(effectiveGasPrice(fees(26n, 2n), 25n)).toBe(26n)
  expect(effectiveGasPrice(fees(30n, 30n), 25n)).toBe(30n)
})

describe('a transaction with its sender', () => {
  const key = keccak256(Uint8Array.of(1))
  const signed = (fields: Partial<UnsignedTransaction>) => {
    const unsigned: UnsignedTransaction = {
      type: 0,
      chainId: 1_998_999,
      nonce: 3,
      gasLimit: 21_000n,
      maxFeePerGas: 30n,
      maxPriorityFeePerGas: 30n,
      to: `0x${'33'.repeat(20)}`,
      value: 5n,
      data: EMPTY_BYTES,
      accessList: [],
      ...fields,
    }
    return signedBy(unsigned, key)
  }
  // Many nonces, so that r or s is short in some and both parities occur.
  const cases = [...Array(600).keys()].flatMap(nonce => [
    signed({ nonce }),
    signed({ nonce, chainId: undefined, data: Uint8Array.of(1) }),
    signed({ nonce, type: 1, data: new Uint8Array(300).fill(7) }),
    signed({ nonce, type: 2, to: null, accessList: [{ address: `0x${'44'.repeat(20)}`, storageKeys: [ZERO_HASH] }] }),
  ])

  test('has every field that the bytes have', () => {
    expect(cases.some(({ r }) => r.byteLength < 32) && cases.some(({ s }) => s.byteLength < 32)).toBe(true)
    for (const decoded of cases) {
      const transaction = withSender(decoded, { hash: `0x${'11'.repeat(32)}`, from: `0x${'22'.repeat(20)}` })
      for (const field of Object.keys(decoded) as (keyof typeof decoded)[]) {
        expect(transaction[field], field).toEqual(decoded[field])
      }
    }
  })
})
