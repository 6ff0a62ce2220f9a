import { EMPTY_BYTES, type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { recoverTransaction } from '../../../devtools/state-test/transaction-sender.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import {
  type BlockContents,
  blockFromParts,
  decodeBlock,
  encodeBlock,
  hashByteStrings,
} from '../../../src/primitives/block.ts'
import {
  certificateFromSigners,
  decodeCertificate,
  encodeCertificate,
  signerIndexes,
} from '../../../src/primitives/consensus/certificate.ts'
import {
  decodeExtraData,
  EXTRA_DATA_VERSION,
  type ExtraData,
  encodeExtraData,
} from '../../../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, encodeHeader, type Header, headerItems, ZERO_NONCE } from '../../../src/primitives/header.ts'
import { EMPTY_BLOOM } from '../../../src/primitives/receipt/bloom.ts'
import { encodeRlp, type RlpItem } from '../../../src/primitives/rlp/rlp.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { signedBy } from '../../support/signed-by.ts'
import { codeOf } from './support.ts'

const seal = (fill: number) => new Uint8Array(65).fill(fill)
const extra: ExtraData = {
  version: EXTRA_DATA_VERSION,
  vanity: new TextEncoder().encode('tandem'),
  proposer: `0x${'11'.repeat(20)}`,
  parentCertificate: certificateFromSigners(
    2,
    9,
    new Map([
      [8, seal(8)],
      [0, seal(0)],
      [3, seal(3)],
    ]),
  ),
  proofTip: ZERO_HASH,
  proofHeadersHash: EMPTY_LIST_HASH,
  evidenceRoot: EMPTY_LIST_HASH,
}
const header: Header = {
  parentHash: `0x${'22'.repeat(32)}`,
  sha3Uncles: EMPTY_LIST_HASH,
  miner: ZERO_ADDRESS,
  stateRoot: `0x${'33'.repeat(32)}`,
  transactionsRoot: ZERO_HASH,
  receiptsRoot: ZERO_HASH,
  logsBloom: EMPTY_BLOOM,
  difficulty: 1n,
  number: 7,
  gasLimit: 999_999_999_999n,
  gasUsed: 0n,
  timestamp: 1_700_000_000,
  extraData: encodeExtraData(extra),
  mixHash: ZERO_HASH,
  nonce: ZERO_NONCE,
  baseFeePerGas: 25_000_000_000n,
}

const transaction = (type: 0 | 2, nonce: number) => {
  const unsigned: UnsignedTransaction = {
    type,
    chainId: 7,
    nonce,
    gasLimit: 21_000n,
    maxFeePerGas: 5n,
    maxPriorityFeePerGas: 5n,
    to: ZERO_ADDRESS,
    value: 1n,
    data: EMPTY_BYTES,
    accessList: [],
  }
  return recoverTransaction(signedBy(unsigned, seal(1).subarray(0, 32)))
}

const proofs = [Uint8Array.of(1, 2), new Uint8Array(0)]
const evidence = [new Uint8Array(70).fill(9)]
const bodies: Readonly<Record<string, BlockContents>> = {
  empty: { transactions: [], proofHeaders: [], evidence: [] },
  'with transactions': { transactions: [transaction(0, 0), transaction(2, 1)], proofHeaders: [], evidence: [] },
  'with proof headers': { transactions: [], proofHeaders: proofs, evidence: [] },
  'with evidence': { transactions: [], proofHeaders: [], evidence },
  'with all': { transactions: [transaction(2, 0)], proofHeaders: proofs, evidence },
}

describe.each(Object.entries(bodies))('a block %s', (_, body) => {
  const block = blockFromParts(header, body)
  const bytes = encodeBlock(block)

  test('decodes to itself, with its size and hash', () => {
    const decoded = decodeBlock(bytes)
    expect(decoded.transactions.map(recoverTransaction)).toEqual(body.transactions)
    expect({ ...decoded, transactions: body.transactions }).toEqual(block)
    expect(block.size).toBe(bytes.byteLength)
    expect(block.hash).toBe(keccak256Hex(encodeHeader(header)))
  })

  test('every truncation is refused', () => {
    for (let size = 0; size < bytes.byteLength; size += 7) {
      expect(codeOf(() => decodeBlock(bytes.subarray(0, size)))).toBe('BLOCK_MALFORMED')
    }
  })
})

describe('a block has one encoding', () => {
  const rlp = (...parts: RlpItem[]) => encodeRlp(parts)
  const head = headerItems(header)
  test.each<[string, Uint8Array]>([
    ['an empty list at its end', rlp(head, [], [], [])],
    ['two empty lists at its end', rlp(head, [], [], [], [])],
    ['an uncle', rlp(head, [], [head])],
    ['a sixth member', rlp(head, [], [], [], [evidence[0] as Uint8Array], [])],
    ['a legacy transaction as a string', rlp(head, [transaction(0, 0).raw], [])],
    ['no uncles at all', rlp(head, [])],
  ])('%s is refused', (_, bytes) => {
    expect(decodeBlock(rlp(head, [], [])).hash).toBe(keccak256Hex(encodeHeader(header)))
    expect(codeOf(() => decodeBlock(bytes))).toBe('BLOCK_MALFORMED')
  })
})

test('extra data decodes to itself, with and without a certificate', () => {
  expect(decodeExtraData(encodeExtraData(extra))).toEqual(extra)
  const first = { ...extra, parentCertificate: null, vanity: EMPTY_BYTES }
  expect(decodeExtraData(encodeExtraData(first))).toEqual(first)
})

describe('extra data is refused', () => {
  test.each<[string, Partial<ExtraData>]>([
    ['of another version', { version: 2 }],
    ['with long vanity', { vanity: new Uint8Array(33) }],
    ['with a short proposer', { proposer: '0x11' as Hex }],
    [
      'with more seals than signers',
      { parentCertificate: { round: 0, bitmap: Uint8Array.of(1), seals: [seal(1), seal(2)] } },
    ],
    ['with fewer', { parentCertificate: { round: 0, bitmap: Uint8Array.of(3), seals: [seal(1)] } }],
    ['with a short seal', { parentCertificate: { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(64)] } }],
    ['with a long bitmap', { parentCertificate: { round: 0, bitmap: new Uint8Array(500), seals: [] } }],
  ])('%s', (_, change) => {
    expect(codeOf(() => decodeExtraData(encodeExtraData({ ...extra, ...change })))).toBe('EXTRA_DATA_MALFORMED')
  })

  test('with anything behind it', () => {
    const bytes = new Uint8Array([...encodeExtraData(extra), 0])
    expect(codeOf(() => decodeExtraData(bytes))).toBe('EXTRA_DATA_MALFORMED')
  })
})

test('a certificate keeps its seals in the order of the committee', () => {
  const certificate = extra.parentCertificate as NonNullable<ExtraData['parentCertificate']>
  expect(certificate.bitmap).toEqual(Uint8Array.of(0b1001, 1))
  expect(signerIndexes(certificate)).toEqual([0, 3, 8])
  expect(certificate.seals.map(bytes => bytes[0])).toEqual([0, 3, 8])
  expect(decodeCertificate(encodeCertificate(certificate))).toEqual(certificate)
  expect(codeOf(() => decodeCertificate(Uint8Array.of(0xc0)))).toBe('CERTIFICATE_MALFORMED')
})

test('lists of byte strings are hashed as RLP', () => {
  expect(hashByteStrings([])).toBe(EMPTY_LIST_HASH)
  expect(hashByteStrings(proofs)).toBe(keccak256Hex(encodeRlp(proofs)))
})
