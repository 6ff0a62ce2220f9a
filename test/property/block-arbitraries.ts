import { bytesToHex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { type Certificate, certificateFromSigners } from '../../src/primitives/consensus/certificate.ts'
import { type ExtraData, encodeExtraData } from '../../src/primitives/consensus/extra-data.ts'
import type { Header } from '../../src/primitives/header.ts'
import type { Log } from '../../src/primitives/receipt/log.ts'
import type { StoredReceipt } from '../../src/primitives/receipt/receipt.ts'

// Nouns of the chain by chance, with their numbers near the borders of the encoding.

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const hash = bytes(32).map(bytesToHex)
const address = bytes(20).map(bytesToHex)
const uint64 = fc.oneof(fc.constantFrom(0n, 127n, 128n, 2n ** 64n - 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
const height = fc.oneof(fc.nat(300), fc.maxSafeNat())

export const certificate: fc.Arbitrary<Certificate> = fc
  .integer({ min: 1, max: 128 })
  .chain(size => fc.tuple(height, fc.constant(size), fc.uniqueArray(fc.nat(size - 1), { maxLength: size }), bytes(65)))
  .map(([round, size, signers, seal]) =>
    certificateFromSigners(round, size, new Map(signers.map(signer => [signer, seal]))),
  )

export const extraData: fc.Arbitrary<ExtraData> = fc.record({
  version: fc.constant(1),
  vanity: fc.uint8Array({ maxLength: 32 }),
  proposer: address,
  parentCertificate: fc.option(certificate),
  proofTip: hash,
  proofHeadersHash: hash,
  evidenceRoot: hash,
})

export const header: fc.Arbitrary<Header> = fc
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

export const log: fc.Arbitrary<Log> = fc.record({
  address,
  topics: fc.array(hash, { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 70 }),
})
export const receipt: fc.Arbitrary<StoredReceipt> = fc.oneof(
  fc.record({ status: fc.constantFrom<0 | 1>(0, 1), cumulativeGasUsed: uint64, logs: fc.array(log, { maxLength: 3 }) }),
  fc.record({ root: hash, cumulativeGasUsed: uint64, logs: fc.array(log, { maxLength: 1 }) }),
)
