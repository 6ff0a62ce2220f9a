import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockBody, type DecodedBlock, decodeBlock, encodeBlock, sealBlock } from '../../src/primitives/block.ts'
import { bloomMayContain, bloomOf, uniteBlooms } from '../../src/primitives/bloom.ts'
import { decodeCertificate, encodeCertificate, signerIndexes } from '../../src/primitives/certificate.ts'
import { decodeExtraData, encodeExtraData } from '../../src/primitives/extra-data.ts'
import { decodeHeader, encodeHeader } from '../../src/primitives/header.ts'
import { decodeStoredReceipts, encodeStoredReceipts } from '../../src/primitives/receipt.ts'
import { encodeRlp } from '../../src/primitives/rlp.ts'
import { decodeTransaction } from '../../src/primitives/transaction.ts'
import { ACCOUNT_KEYS, signedRaw } from '../support/chain.ts'
import { SEED } from '../support/seed.ts'
import { damaged, expectStrict } from '../support/strict-codec.ts'
import { certificate, extraData, header, log, receipt } from './block-arbitraries.ts'

const property = <Value>(arbitrary: fc.Arbitrary<Value>, check: (value: Value) => void, numRuns = 400) =>
  fc.assert(fc.property(arbitrary, check), { seed: SEED, numRuns })

test('a certificate is read as it was written, signers ascending', () => {
  property(certificate, value => {
    expect(decodeCertificate(encodeCertificate(value))).toEqual(value)
    const signers = signerIndexes(value)
    expect(signers).toEqual([...signers].sort((a, b) => a - b))
    expect(signers.length).toBe(value.seals.length)
  })
})

test('extra data is read as it was written', () => {
  property(extraData, value => {
    expect(decodeExtraData(encodeExtraData(value))).toEqual(value)
  })
})

test('a header is read as it was written, with the members of any fork', () => {
  property(header, value => {
    expect(decodeHeader(encodeHeader(value))).toEqual(value)
  })
})

const TRANSACTIONS = ([0, 1, 2] as const).map(type =>
  decodeTransaction(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: type, type, to: null, data: new Uint8Array(9) })),
)
const strings = fc.array(fc.uint8Array({ maxLength: 70 }), { maxLength: 3 })
const body = fc.record({ transactions: fc.subarray(TRANSACTIONS), proofHeaders: strings, evidence: strings })

test('a block is read as it was written, and knows its size', () => {
  property(fc.tuple(header, body), ([head, parts]) => {
    const block: DecodedBlock = sealBlock(head, parts as unknown as BlockBody)
    const encoded = encodeBlock(block)
    expect(encoded.byteLength).toBe(block.size)
    expect(decodeBlock(encoded)).toEqual(block)
  })
})

test('stored receipts are read as they were written', () => {
  property(fc.array(receipt, { maxLength: 5 }), value => {
    expect(decodeStoredReceipts(encodeStoredReceipts(value))).toEqual(value)
  })
})

test('a bloom of the block contains what any of its logs has', () => {
  property(fc.array(fc.array(log, { maxLength: 3 }), { maxLength: 4 }), receipts => {
    const union = uniteBlooms(receipts.map(bloomOf))
    for (const item of receipts.flat().flatMap(entry => [entry.address, ...entry.topics])) {
      expect(bloomMayContain(union, item)).toBe(true)
    }
  })
})

const CODECS: readonly [
  string,
  fc.Arbitrary<Uint8Array>,
  (bytes: Uint8Array) => unknown,
  (value: never) => Uint8Array,
][] = [
  ['header', header.map(encodeHeader), decodeHeader, encodeHeader],
  [
    'block',
    fc.tuple(header, body).map(([head, parts]) => encodeBlock({ header: head, ...parts })),
    decodeBlock,
    encodeBlock,
  ],
  [
    'stored receipts',
    fc.array(receipt, { maxLength: 3 }).map(encodeStoredReceipts),
    decodeStoredReceipts,
    encodeStoredReceipts,
  ],
  ['certificate', certificate.map(encodeCertificate), decodeCertificate, encodeCertificate],
  ['extra data', extraData.map(encodeExtraData), decodeExtraData, encodeExtraData],
]
/** Canonical RLP of another shape, and no RLP at all. */
const strange = fc.oneof(
  fc.uint8Array({ maxLength: 80 }),
  fc
    .letrec(tie => ({
      item: fc.oneof({ maxDepth: 3 }, fc.uint8Array({ maxLength: 34 }), fc.array(tie('item'), { maxLength: 6 })),
    }))
    .item.map(item => encodeRlp(item as never)),
)

test.each(CODECS)('%s: whatever is accepted has this one encoding', (_, encoded, decode, encode) => {
  let [refused, accepted] = [0, 0]
  property(
    fc.oneof({ weight: 4, arbitrary: damaged(encoded) }, { weight: 1, arbitrary: strange }),
    input => {
      if (expectStrict(input, decode, encode as (value: unknown) => Uint8Array)) refused++
      else accepted++
    },
    1_500,
  )
  // Both, or the damage would be too little or too much to find anything.
  expect(refused).toBeGreaterThan(300)
  expect(accepted).toBeGreaterThan(20)
})
