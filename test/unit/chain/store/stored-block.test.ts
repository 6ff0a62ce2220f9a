import { finishSlicedWork, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import {
  includedReceiptsFromBlock,
  includedTransactionFromBlock,
  readIncludedReceipt,
  readIncludedTransaction,
  readReceiptStream,
  streamedReceipt,
} from '../../../../src/chain/store/included.ts'
import { putReceipts, readReceipts } from '../../../../src/chain/store/receipt-parts.ts'
import { ReceiptsRow } from '../../../../src/chain/store/receipts-row.ts'
import { CHAIN_LIMITS } from '../../../../src/config/limits/chain.ts'
import { memoryShares } from '../../../../src/config/limits/storage.ts'
import { EMPTY_BLOOM } from '../../../../src/primitives/receipt/bloom.ts'
import { decodeLog, type EncodedLog, type Log } from '../../../../src/primitives/receipt/log.ts'
import {
  decodeStoredReceipts,
  encodeStoredReceipts,
  type Receipt,
  type StoredReceipt,
  storedReceiptParts,
} from '../../../../src/primitives/receipt/receipt.ts'
import { receiptsRoot, receiptsRootParts } from '../../../../src/primitives/roots.ts'
import { receiptJson, receiptPieces } from '../../../../src/rpc/encode/receipt.ts'
import { ACCOUNT_KEYS, signedRaw, type TestChain, withChain } from '../../../support/chain.ts'

const ROW_BYTES = memoryShares().blocks / 3

/** LOG0 with no data, `count` times. */
const logging = (count: number): Uint8Array =>
  new Uint8Array(5 * count).map((_, i) => [0x5f, 0x5f, 0xa0, 0x5b, 0x5b][i % 5] ?? 0)

const mineMixed = async ({ pool, mine }: TestChain) => {
  const [a, b] = ACCOUNT_KEYS as [Uint8Array, Uint8Array]
  await pool.service.submit(signedRaw(a, { nonce: 0, value: 5n }))
  for (const [i, logs] of [3, 0, 2].entries()) {
    await pool.service.submit(signedRaw(b, { nonce: i, to: null, data: logging(logs), gasLimit: 200_000n, type: 2 }))
  }
  await pool.service.submit(signedRaw(a, { nonce: 1, type: 1, value: 7n }))
  return mine()
}

test('single transactions and receipts are the same from memory, from rows and from the whole block', () =>
  withChain(async chain => {
    const { header, transactions } = await mineMixed(chain)
    const { number } = header
    const cold = new BlockStore(chain.store)
    const block = await chain.blocks.block(number)
    const receipts = await chain.blocks.receipts(number)
    if (!block || !receipts) throw new Error('the block is there')
    const expected = includedReceiptsFromBlock(block, receipts)
    expect(expected.map(({ firstLog }) => firstLog).at(-1)).toBe(5)
    for (const [index, transaction] of transactions.entries()) {
      const place = { number, index }
      expect(await cold.locate(transaction.hash)).toEqual(place)
      for (const blocks of [chain.blocks, cold]) {
        expect(await readIncludedTransaction(blocks, place)).toEqual(includedTransactionFromBlock(block, index))
        expect(await readIncludedReceipt(blocks, place)).toEqual(expected[index])
      }
    }
    for (const blocks of [chain.blocks, cold]) {
      let index = 0
      for (const { logs, bloom, receipt, ...placed } of (await readReceiptStream(blocks, number)) ?? []) {
        const read = [...logs]
        expect({ ...placed, receipt: { ...receipt, logs: read, logsBloom: bloom() } }).toEqual(expected[index++])
      }
      expect(index).toBe(expected.length)
      const texts: string[] = []
      for (const entry of (await readReceiptStream(blocks, number)) ?? [])
        texts.push([...receiptPieces(entry)].join(''))
      expect(texts).toEqual(expected.map(receiptJson))
    }
    expect(await readReceiptStream(cold, number + 1)).toBeUndefined()
    expect(cold.recent(number)).toBeUndefined()
    expect(chain.blocks.recent(number)).toBeDefined()
    expect(await cold.stored(number + 1)).toBeUndefined()
  }))

test('rows are decoded a transaction or a log at a time, with other work in between', () =>
  withChain(async chain => {
    const { header, transactions } = await mineMixed(chain)
    const { number } = header
    let pauses = 0
    const cold = () =>
      new BlockStore(chain.store, {
        pauseIfDue: () => {
          pauses++
          return new Promise(resolve => setImmediate(resolve))
        },
      })
    const pausesOf = async (read: (blocks: BlockStore) => Promise<unknown>) => {
      pauses = 0
      expect(await read(cold())).toEqual(await read(new BlockStore(chain.store)))
      return pauses
    }
    const logs = 5
    const parts = transactions.length
    expect(await pausesOf(blocks => blocks.block(number))).toBe(parts)
    // Decodes the transactions, decodes the receipts and makes their blooms.
    expect(await pausesOf(blocks => blocks.receipts(number))).toBe(parts + 2 * (parts + logs))
  }))

test('a block of many receipts is hashed, encoded and put in parts; one of a few hundred in one', () => {
  const log: Log = { address: `0x${'aa'.repeat(20)}`, topics: [], data: new Uint8Array(600) }
  const receiptsOf = (count: number): readonly Receipt[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ type: 0, status: 1, cumulativeGasUsed: BigInt(index + 1), gasUsed: 1n, effectiveGasPrice: 1n },
      ...{ contractAddress: null, logsBloom: EMPTY_BLOOM, logs: [log] },
    }))
  const partsOf = <Result>(work: SlicedWork<Result>): [number, Result] => {
    for (let parts = 1; ; parts++) {
      const part = work.next()
      if (part.done === true) return [parts, part.value]
    }
  }
  const [few, many] = [receiptsOf(100), receiptsOf(4_000)]
  expect(partsOf(receiptsRootParts(few))).toEqual([1, receiptsRoot(few)])
  const [rootParts, root] = partsOf(receiptsRootParts(many))
  expect(root).toBe(receiptsRoot(many))
  // Four megabytes are encoded, and hashed, in parts of a quarter.
  expect(rootParts).toBeGreaterThan(30)
  expect(partsOf(storedReceiptParts(few))[0]).toBe(1)
  const [storedParts, row] = partsOf(storedReceiptParts(many))
  expect(storedParts).toBeGreaterThan(15)
  expect(partsOf(putReceipts({ put() {} } as never, 1, row))[0]).toBe(
    Math.ceil(row.byteLength / CHAIN_LIMITS.receiptPartBytes),
  )
})

test('a log of megabytes is written in pieces of bounded length', () =>
  withChain(async chain => {
    const { header } = await mineMixed(chain)
    const block = await chain.blocks.block(header.number)
    const receipts = await chain.blocks.receipts(header.number)
    const [first] = block && receipts ? includedReceiptsFromBlock(block, receipts) : []
    if (!first) throw new Error('the block is there')
    const log: Log = { address: `0x${'aa'.repeat(20)}`, topics: [toWord(1n)], data: new Uint8Array(300_001).fill(0xab) }
    const placed = { ...first, receipt: { ...first.receipt, logs: [log, { ...log, data: new Uint8Array(3) }] } }
    const pieces = [...receiptPieces(streamedReceipt(placed))]
    expect(pieces.join('')).toBe(receiptJson(placed))
    expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThanOrEqual(65_536)
  }))

test('the tips of a block are the same from memory and from rows: each once, the lowest first, with all its gas', () =>
  withChain(async chain => {
    const [a, b] = ACCOUNT_KEYS as [Uint8Array, Uint8Array]
    const paying = (tip: bigint) => ({ type: 2, maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: tip }) as const
    await chain.pool.service.submit(signedRaw(a, { nonce: 0, ...paying(7n) }))
    await chain.pool.service.submit(signedRaw(a, { nonce: 1, ...paying(3n) }))
    await chain.pool.service.submit(
      signedRaw(b, { nonce: 0, to: null, data: logging(3), gasLimit: 200_000n, ...paying(7n) }),
    )
    const { header } = await chain.mine()
    const { number } = header
    const block = await chain.blocks.block(number)
    const receipts = await chain.blocks.receipts(number)
    if (!block || !receipts) throw new Error('the block is there')
    const base = header.baseFeePerGas ?? 0n
    const gasOf = new Map<bigint, bigint>()
    for (const { effectiveGasPrice, gasUsed } of receipts) {
      const tip = effectiveGasPrice - base
      gasOf.set(tip, (gasOf.get(tip) ?? 0n) + gasUsed)
    }
    const expected = [...gasOf.keys()].sort((a, b) => (a < b ? -1 : 1)).map(tip => ({ tip, gas: gasOf.get(tip) }))
    expect(expected.map(({ tip }) => tip)).toEqual([3n, 7n])
    const cold = new BlockStore(chain.store)
    for (const blocks of [chain.blocks, cold]) expect(await blocks.tips(number)).toEqual(expected)
    expect(cold.recent(number)).toBeUndefined()
    // Not one row was kept for it.
    expect(cold.stored(number)).toBeInstanceOf(Promise)
    expect(await cold.tips(number)).toBe(await cold.tips(number))
    expect(await cold.tips(0)).toEqual([])
    expect(await cold.tips(number + 1)).toBeUndefined()
    const kept = await cold.tips(number)
    cold.forget()
    expect(await cold.tips(number)).not.toBe(kept)
  }))

test('rows are read once for reads at the same time, and forgotten with blocks that were taken back', () =>
  withChain(async chain => {
    const { header } = await mineMixed(chain)
    const cold = new BlockStore(chain.store)
    const [first, second] = await Promise.all([cold.stored(header.number), cold.stored(header.number)])
    expect(second).toBe(first)
    expect(cold.stored(header.number)).toBe(first)
    cold.forget()
    expect(await cold.stored(header.number)).not.toBe(first)
  }))

test('a block too long for the caches is one object for all who read it', () =>
  withChain(async chain => {
    const { header } = await mineMixed(chain)
    const { number } = header
    const row = await readReceipts(chain.store, number)
    const receipts = finishSlicedWork(decodeStoredReceipts(row as Uint8Array))
    const log: Log = { address: `0x${'ab'.repeat(20)}`, topics: [], data: new Uint8Array(ROW_BYTES) }
    const long = receipts.map((receipt, index) => (index === 0 ? { ...receipt, logs: [log] } : receipt))
    const batch = chain.store.batch()
    for (const _ of putReceipts(batch, number, encodeStoredReceipts(long)));
    await batch.write()
    const cold = new BlockStore(chain.store)
    const stored = await cold.stored(number)
    expect(stored?.byteLength).toBeGreaterThan(ROW_BYTES)
    expect(await cold.stored(number)).toBe(stored)
    cold.forget()
    expect(await cold.stored(number)).not.toBe(stored)
  }))

test('a bare receipt row gives each receipt what those before it tell', () => {
  const log = (n: number): Log => ({
    address: `0x${'ab'.repeat(20)}` as Hex,
    topics: [toWord(BigInt(n))],
    data: new Uint8Array(60 * n),
  })
  const stored: StoredReceipt[] = [
    { status: 1, cumulativeGasUsed: 21_000n, logs: [] },
    { root: toWord(9n), cumulativeGasUsed: 50_000n, logs: [log(0), log(1), log(2)] },
    { status: 0, cumulativeGasUsed: 2n ** 40n, logs: [] },
    { status: 1, cumulativeGasUsed: 2n ** 41n, logs: [log(5)] },
  ]
  const row = new ReceiptsRow(encodeStoredReceipts(stored), stored.length)
  const read = [3, 0, 1, 2].map(index => row.receipt(index))
  expect(read.map(entry => entry.stored)).toEqual([3, 0, 1, 2].map(index => stored[index]))
  expect(read.map(entry => entry.firstLog)).toEqual([3, 0, 0, 3])
  expect(read.map(entry => entry.gasBefore)).toEqual([2n ** 40n, 0n, 21_000n, 50_000n])
  expect([3, 0, 1, 2].map(index => row.gasUpTo(index))).toEqual([2n ** 41n, 21_000n, 50_000n, 2n ** 40n])
  expect(() => row.receipt(4)).toThrow()
  expect(() => new ReceiptsRow(encodeStoredReceipts(stored), 3).receipt(0)).toThrow()
})

test('a walk to the logs with wanted bytes meets each of them, however many hold them', () => {
  const [everywhere, often, rare] = [toWord(1n), toWord(2n), toWord(3n)]
  const log = (i: number): Log => {
    const topics = [everywhere, i % 40 === 39 ? rare : i < 60 === i % 5 > 0 ? often : toWord(4n)]
    // The bytes may stand in the data too.
    return {
      address: `0x${'aa'.repeat(20)}`,
      topics,
      data: i % 7 === 0 ? Buffer.from(rare.slice(2), 'hex') : new Uint8Array(),
    }
  }
  const logs = Array.from({ length: 240 }, (_, i) => log(i))
  const receipts = Array.from(
    { length: 80 },
    (_, i): StoredReceipt => ({
      status: 1,
      cumulativeGasUsed: 21_000n * BigInt(i + 1),
      logs: logs.slice(i * 3, i * 3 + 3),
    }),
  )
  const row = new ReceiptsRow(encodeStoredReceipts(receipts), receipts.length)
  for (const word of [everywhere, often, rare, toWord(5n)]) {
    const met: number[] = []
    const bytes = Buffer.from(word.slice(2), 'hex')
    const visit = (encoded: EncodedLog) => {
      const { logIndex, transactionIndex } = encoded
      expect(transactionIndex).toBe(Math.floor(logIndex / 3))
      const { topics, data } = decodeLog(row.bytes, encoded)
      expect(data).toEqual(new Uint8Array(logs[logIndex]?.data ?? []))
      expect(data.buffer.byteLength, 'what keeps a log keeps its bytes alone').toBe(data.byteLength)
      expect(topics).toEqual(logs[logIndex]?.topics)
      if (topics.includes(word)) met.push(logIndex)
      return true
    }
    finishSlicedWork(row.walkLogs(visit, { bytes }))
    expect(met).toEqual([...logs.keys()].filter(i => logs[i]?.topics.includes(word)))
  }
})
