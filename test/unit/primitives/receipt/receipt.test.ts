import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { recoverTransaction } from '../../../../devtools/state-test/transaction-sender.ts'
import { decodeHeader } from '../../../../src/primitives/header.ts'
import { create2Address, createAddress } from '../../../../src/primitives/receipt/address.ts'
import {
  bloomBits,
  bloomFromLogs,
  bloomHas,
  EMPTY_BLOOM,
  mergeBlooms,
} from '../../../../src/primitives/receipt/bloom.ts'
import { encodeLogs, type Log, rememberDigest } from '../../../../src/primitives/receipt/log.ts'
import {
  decodeStoredReceipts,
  deriveReceipts,
  encodeReceipt,
  encodeStoredReceipts,
  type StoredReceipt,
} from '../../../../src/primitives/receipt/receipt.ts'
import { receiptsRoot } from '../../../../src/primitives/roots.ts'
import { decodeTransaction } from '../../../../src/primitives/transaction/transaction.ts'
import recorded from '../fixtures/execution-apis.json' with { type: 'json' }
import { blockParts, codeOf, testChain } from '../support.ts'

const decoded = (bytes: Uint8Array) => finishSlicedWork(decodeStoredReceipts(bytes))

describe('the last block of the test chain', () => {
  const parts = blockParts(testChain().at(-1) as Uint8Array)
  const header = decodeHeader(parts.header)
  const transactions = parts.transactions.map(raw => recoverTransaction(decodeTransaction(raw)))
  const stored: readonly StoredReceipt[] = recorded.receiptsOfHead.map(receipt => ({
    status: receipt.status === '0x1' ? 1 : 0,
    cumulativeGasUsed: BigInt(receipt.cumulativeGasUsed),
    logs: receipt.logs.map(log => ({
      address: log.address as Hex,
      topics: log.topics as Hex[],
      data: hexToBytes(log.data as Hex),
    })),
  }))
  const receipts = finishSlicedWork(
    deriveReceipts(decoded(encodeStoredReceipts(stored)), { transactions, baseFeePerGas: header.baseFeePerGas ?? 0n }),
  )

  test('what is stored and the transactions make the receipts that other clients answer', () => {
    const shown = receipts.map(receipt => ({
      type: `0x${receipt.type.toString(16)}`,
      status: `0x${receipt.status}`,
      gasUsed: `0x${receipt.gasUsed.toString(16)}`,
      cumulativeGasUsed: `0x${receipt.cumulativeGasUsed.toString(16)}`,
      effectiveGasPrice: `0x${receipt.effectiveGasPrice.toString(16)}`,
      contractAddress: receipt.contractAddress,
      logsBloom: bytesToHex(receipt.logsBloom),
    }))
    expect(recorded.receiptsOfHead).toMatchObject(shown)
    expect(recorded.receiptsOfHead.map(({ from, transactionHash }) => ({ from, transactionHash }))).toEqual(
      transactions.map(({ from, hash }) => ({ from, transactionHash: hash })),
    )
  })

  test('they have the root and the bloom of the header', () => {
    expect(receiptsRoot(receipts)).toBe(header.receiptsRoot)
    expect(mergeBlooms(receipts.map(receipt => receipt.logsBloom))).toEqual(new Uint8Array(header.logsBloom))
  })
})

describe('stored receipts', () => {
  const log: Log = { address: ZERO_ADDRESS, topics: [ZERO_HASH], data: Uint8Array.of(1) }

  test('decode to themselves, also those with a state root', () => {
    const receipts: StoredReceipt[] = [
      { status: 0, cumulativeGasUsed: 1n, logs: [] },
      { status: 1, cumulativeGasUsed: 2n ** 40n, logs: [log, { ...log, topics: [] }] },
      { root: `0x${'77'.repeat(32)}`, cumulativeGasUsed: 2n ** 41n, logs: [] },
    ]
    expect(decoded(encodeStoredReceipts(receipts))).toEqual(receipts)
  })

  test('are refused when malformed', () => {
    const bytes = encodeStoredReceipts([{ status: 1, cumulativeGasUsed: 5n, logs: [log] }])
    for (let size = 0; size < bytes.byteLength; size++) {
      expect(codeOf(() => decoded(bytes.subarray(0, size)))).toBe('RECEIPT_MALFORMED')
    }
    const five = { ...log, topics: Array.from({ length: 5 }, () => ZERO_HASH) }
    const encoded = encodeStoredReceipts([{ status: 1, cumulativeGasUsed: 5n, logs: [five] }])
    expect(codeOf(() => decoded(encoded))).toBe('RECEIPT_MALFORMED')
  })
})

test('large receipts are whole after what was encoded of them for a root and for the store is freed', () => {
  const log: Log = { address: ZERO_ADDRESS, topics: [ZERO_HASH], data: new Uint8Array(100_000).fill(7) }
  const logs = [log, { ...log, data: new Uint8Array(70_000).fill(8) }]
  const known = [...logs]
  rememberDigest(known, { bloom: bloomFromLogs(logs), encoded: encodeLogs(logs) })
  const receipts = [logs, known, []].map(logsOfOne => ({
    type: 2,
    status: 1 as const,
    cumulativeGasUsed: 7n,
    gasUsed: 7n,
    effectiveGasPrice: 1n,
    contractAddress: null,
    logsBloom: bloomFromLogs(logsOfOne),
    logs: logsOfOne,
  }))
  const first = [receiptsRoot(receipts), bytesToHex(encodeStoredReceipts(receipts))]
  expect([receiptsRoot(receipts), bytesToHex(encodeStoredReceipts(receipts))]).toEqual(first)
  expect(logs.map(({ data }) => data.byteLength)).toEqual([100_000, 70_000])
})

test('a receipt of a typed transaction starts with its type (EIP-2718), one before Byzantium holds a root', () => {
  const receipt = {
    type: 2,
    status: 1 as const,
    cumulativeGasUsed: 21_000n,
    gasUsed: 21_000n,
    effectiveGasPrice: 1n,
    contractAddress: null,
    logsBloom: EMPTY_BLOOM,
    logs: [],
  }
  const bytes = encodeReceipt(receipt)
  expect([bytes[0], bytes[1]]).toEqual([2, 0xf9])
  expect(bytesToHex(encodeReceipt({ ...receipt, type: 0 }))).toBe(bytesToHex(bytes.subarray(1)))
  const { status: _, ...early } = receipt
  expect(bytesToHex(encodeReceipt({ ...early, type: 0, root: ZERO_HASH }))).toContain(`a0${'00'.repeat(32)}825208`)
  expect(bytesToHex(hexToBytes(recorded.rawReceiptsOfBlock3[0] as Hex)).slice(0, 12)).toBe('0xf90128a009')
})

describe('bloom', () => {
  test('sets the three bits of the Yellow Paper', () => {
    // keccak256 of the zero address starts 5380c7b7ae81: bits 0x380, 0x7b7, 0x681.
    const bloom = bloomFromLogs([{ address: ZERO_ADDRESS, topics: [], data: EMPTY_BYTES }])
    const bits = [...bloom].flatMap((byte, at) =>
      [0, 1, 2, 3, 4, 5, 6, 7].filter(bit => byte & (1 << bit)).map(bit => (255 - at) * 8 + bit),
    )
    expect(bits.sort((a, b) => a - b)).toEqual([0x380, 0x681, 0x7b7])
  })

  test('never denies what was added, and denies most of what was not', () => {
    const item = (i: number): Hex => `0x${i.toString(16).padStart(64, '0')}`
    const bloom = bloomFromLogs(
      Array.from({ length: 20 }, (_, i) => ({ address: ZERO_ADDRESS, topics: [item(i)], data: EMPTY_BYTES })),
    )
    for (let i = 0; i < 20; i++) expect(bloomHas(bloom, bloomBits(item(i)))).toBe(true)
    const wrong = Array.from({ length: 1_000 }, (_, i) => item(1_000 + i)).filter(other =>
      bloomHas(bloom, bloomBits(other)),
    )
    expect(wrong.length).toBeLessThan(5)
  })

  test('a union has the bits of all, and no receipt changes the shared empty one', () => {
    const one = bloomFromLogs([{ address: ZERO_ADDRESS, topics: [], data: EMPTY_BYTES }])
    const two = bloomFromLogs([{ address: `0x${'01'.repeat(20)}`, topics: [], data: EMPTY_BYTES }])
    const both = mergeBlooms([one, EMPTY_BLOOM, two])
    expect(bloomHas(both, bloomBits(ZERO_ADDRESS)) && bloomHas(both, bloomBits(`0x${'01'.repeat(20)}`))).toBe(true)
    expect(mergeBlooms([])).toBe(EMPTY_BLOOM)
    expect(EMPTY_BLOOM.every(byte => byte === 0)).toBe(true)
  })
})

describe('addresses of contracts', () => {
  test('by nonce: the well-known first contracts of an account', () => {
    const sender: Hex = '0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0'
    expect(createAddress(sender, 0)).toBe('0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d')
    expect(createAddress(sender, 1)).toBe('0x343c43a37d37dff08ae8c4a11544c718abb4fcf8')
    expect(createAddress(sender, 2)).toBe('0xf778b86fa74e846c4f0a1fbd1335fe81c00a0c91')
  })

  test('by salt: the examples of EIP-1014', () => {
    const empty: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
    const zero = '0xbc36789e7a1e281436464229828f817d6612f7b477d66591ff96a9e064bcc98a' as const
    expect(create2Address(ZERO_ADDRESS, ZERO_HASH, zero)).toBe('0x4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38')
    expect(create2Address(ZERO_ADDRESS, ZERO_HASH, empty)).toBe('0xe33c0c7f7df4809055c3eba6c09cfe4baf1bd9e0')
  })
})
