import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBlock, encodeBlock, sealBlock } from '../../src/primitives/block.ts'
import { bloomMayContain, bloomOf, uniteBlooms } from '../../src/primitives/bloom.ts'
import { certificateOf, decodeCertificate, encodeCertificate, signerIndexes } from '../../src/primitives/certificate.ts'
import { decodeExtraData, encodeExtraData } from '../../src/primitives/extra-data.ts'
import { decodeHeader, encodeHeader, type Header } from '../../src/primitives/header.ts'
import type { Log } from '../../src/primitives/log.ts'
import { decodeStoredReceipts, encodeStoredReceipts, type StoredReceipt } from '../../src/primitives/receipt.ts'
import { bytesToHex } from '../../src/util/bytes.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const hash = bytes(32).map(bytesToHex)
const address = bytes(20).map(bytesToHex)
const uint64 = fc.oneof(fc.constantFrom(0n, 127n, 128n, 2n ** 64n - 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
const height = fc.oneof(fc.nat(300), fc.maxSafeNat())

const certificate = fc
  .integer({ min: 1, max: 128 })
  .chain(size => fc.tuple(height, fc.constant(size), fc.uniqueArray(fc.nat(size - 1), { maxLength: size }), bytes(65)))
  .map(([round, size, signers, seal]) => certificateOf(round, size, new Map(signers.map(signer => [signer, seal]))))

const extraData = fc.record({
  version: fc.constant(1),
  vanity: fc.uint8Array({ maxLength: 32 }),
  proposer: address,
  parentCertificate: fc.option(certificate),
  proofTip: hash,
  proofHeadersHash: hash,
  evidenceRoot: hash,
})

const header: fc.Arbitrary<Header> = fc
  .record({
    parentHash: hash,
    sha3Uncles: hash,
    miner: address,
    stateRoot: hash,
    transactionsRoot: hash,
    receiptsRoot: hash,
    logsBloom: bytes(256),
    difficulty: uint64,
    number: height,
    gasLimit: uint64,
    gasUsed: uint64,
    timestamp: height,
    extraData: extraData.map(encodeExtraData),
    mixHash: hash,
    nonce: bytes(8).map(bytesToHex),
  })
  .chain(required => fc.tuple(fc.constant(required), fc.nat(6), uint64, hash))
  .map(([required, members, amount, word]) => ({
    ...required,
    ...(members > 0 && { baseFeePerGas: amount }),
    ...(members > 1 && { withdrawalsRoot: word }),
    ...(members > 2 && { blobGasUsed: amount }),
    ...(members > 3 && { excessBlobGas: amount }),
    ...(members > 4 && { parentBeaconBlockRoot: word }),
    ...(members > 5 && { requestsHash: word }),
  }))

const log: fc.Arbitrary<Log> = fc.record({
  address,
  topics: fc.array(hash, { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 70 }),
})
const receipt: fc.Arbitrary<StoredReceipt> = fc.oneof(
  fc.record({ status: fc.constantFrom<0 | 1>(0, 1), cumulativeGasUsed: uint64, logs: fc.array(log, { maxLength: 3 }) }),
  fc.record({ root: hash, cumulativeGasUsed: uint64, logs: fc.array(log, { maxLength: 1 }) }),
)

const property = <Value>(arbitrary: fc.Arbitrary<Value>, check: (value: Value) => void, numRuns = 400) =>
  fc.assert(fc.property(arbitrary, check), { seed, numRuns })

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

test('a block is read as it was written, and knows its size', () => {
  const strings = fc.array(fc.uint8Array({ maxLength: 70 }), { maxLength: 3 })
  property(fc.tuple(header, strings, strings), ([head, proofHeaders, evidence]) => {
    const block = sealBlock(head, { transactions: [], proofHeaders, evidence })
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
