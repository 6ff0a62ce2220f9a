import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type BlockContents,
  blockFromParts,
  type DecodedBlock,
  decodeBlock,
  encodeBlock,
} from '../../src/primitives/block.ts'
import { decodeCertificate, encodeCertificate, signerIndexes } from '../../src/primitives/consensus/certificate.ts'
import { decodeExtraData, encodeExtraData } from '../../src/primitives/consensus/extra-data.ts'
import { decodeHeader, encodeHeader } from '../../src/primitives/header.ts'
import { bloomBits, bloomFromLogs, bloomHas, mergeBlooms } from '../../src/primitives/receipt/bloom.ts'
import { decodeStoredReceipts, encodeStoredReceipts } from '../../src/primitives/receipt/receipt.ts'
import { decodeRlp, encodeRlp } from '../../src/primitives/rlp/rlp.ts'
import { decodeTransaction } from '../../src/primitives/transaction/transaction.ts'
import { ACCOUNT_KEYS, signedRaw } from '../support/chain.ts'
import { SEED } from '../support/seed.ts'
import { certificate, extraData, header, log, receipt } from './block-arbitraries.ts'
import { damaged, expectStrict } from './strict-codec.ts'

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
    const block: DecodedBlock = blockFromParts(head, parts as unknown as BlockContents)
    const encoded = encodeBlock(block)
    expect(encoded.byteLength).toBe(block.size)
    expect(decodeBlock(encoded)).toEqual(block)
  })
})

const decodedReceipts = (bytes: Uint8Array) => finishSlicedWork(decodeStoredReceipts(bytes))

test('stored receipts are read as they were written', () => {
  property(fc.array(receipt, { maxLength: 5 }), value => {
    expect(decodedReceipts(encodeStoredReceipts(value))).toEqual(value)
  })
})

test('a bloom of the block contains what any of its logs has', () => {
  property(fc.array(fc.array(log, { maxLength: 3 }), { maxLength: 4 }), receipts => {
    const union = mergeBlooms(receipts.map(bloomFromLogs))
    for (const item of receipts.flat().flatMap(entry => [entry.address, ...entry.topics])) {
      expect(bloomHas(union, bloomBits(item))).toBe(true)
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
    decodedReceipts,
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

/** Sizes of random fields. RLP that fits no type is refused; an accepted value encodes back to the same bytes. */
const sized = fc.integer({ min: 0, max: 300 })

test('a certificate has one seal of 65 bytes for each signer, and a bitmap of the largest committee at most', () => {
  const parts = fc.record({
    bitmap: fc.uint8Array({ maxLength: 20 }),
    more: fc.constantFrom(-1, 0, 0, 0, 1),
    size: fc.constantFrom(64, 65, 65, 65, 66),
  })
  property(parts, ({ bitmap, more, size }) => {
    const signers = bitmap.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
    const seals = Array.from({ length: Math.max(0, signers + more) }, () => new Uint8Array(size))
    const isGood = seals.length === signers && (size === 65 || signers === 0) && bitmap.byteLength <= 16
    const encoded = encodeCertificate({ round: 1, bitmap, seals })
    expect(expectStrict(encoded, decodeCertificate, encodeCertificate)).toBe(!isGood)
  })
})

test('a header has a bloom of 256 bytes and numbers that are exact', () => {
  property(
    fc.tuple(header, fc.oneof(sized, fc.constant(256)), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
    ([head, size, time]) => {
      const timestamp = time as unknown as number
      const encoded = encodeHeader({ ...head, logsBloom: new Uint8Array(size), timestamp })
      const isGood = size === 256 && time <= BigInt(Number.MAX_SAFE_INTEGER)
      expect(expectStrict(encoded, decodeHeader, encodeHeader)).toBe(!isGood)
    },
  )
})

test('a receipt has a status of 0 or 1, or a root, and logs of four topics at most', () => {
  const outcome = fc.oneof(fc.constantFrom(0, 1, 2, 127), sized)
  property(fc.tuple(outcome, fc.nat(6)), ([status, topics]) => {
    const item = status === 0 ? new Uint8Array(0) : Uint8Array.of(status & 255)
    const logs = [[new Uint8Array(20), Array.from({ length: topics }, () => new Uint8Array(32)), new Uint8Array(3)]]
    const encoded = encodeRlp([[item, Uint8Array.of(7), logs]])
    const isGood = (status === 0 || item[0] === 1) && topics <= 4
    expect(expectStrict(encoded, decodedReceipts, encodeStoredReceipts)).toBe(!isGood)
  })
})

test('a block has each transaction in its form, and no empty list at its end', () => {
  const empty = fc.array(fc.constant<Uint8Array[]>([]), { maxLength: 2 })
  const legacy = TRANSACTIONS.filter(({ type }) => type === 0)
  const typed = TRANSACTIONS.filter(({ type }) => type !== 0)
  property(fc.tuple(header, fc.boolean(), empty), ([head, asStrings, more]) => {
    // A legacy transaction as a string is well-formed RLP, and has another encoding.
    const first = legacy.map(({ raw }) => (asStrings ? raw : decodeRlp(raw)))
    const transactions = [...first, ...typed.map(({ raw }) => raw)]
    const encoded = encodeRlp([decodeRlp(encodeHeader(head)), transactions, [], ...more])
    expect(expectStrict(encoded, decodeBlock, encodeBlock)).toBe(asStrings || more.length > 0)
  })
})
