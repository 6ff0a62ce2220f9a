import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { finishSlicedWork, runSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { EMPTY_BYTES, toWord, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { BlockStore } from '../src/chain/store/block-store.ts'
import { putBlockRows } from '../src/chain/store/put-block.ts'
import type { ChainView } from '../src/chain/store/types.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { keccak256Hex } from '../src/crypto/hash.ts'
import { blockFromParts } from '../src/primitives/block.ts'
import { encodeExtraData } from '../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header } from '../src/primitives/header.ts'
import { EMPTY_BLOOM } from '../src/primitives/receipt/bloom.ts'
import type { Log } from '../src/primitives/receipt/log.ts'
import { deriveReceipts } from '../src/primitives/receipt/receipt.ts'
import { receiptsRootParts } from '../src/primitives/roots.ts'
import { decodeTransaction, type Transaction, withSender } from '../src/primitives/transaction/transaction.ts'
import { encodeTransaction } from '../src/primitives/transaction/transaction-encoding.ts'
import { LargeResponses } from '../src/rpc/router/large-responses.ts'
import { bytesOf } from '../src/rpc/transport/stream-writer.ts'
import { Store } from '../src/storage/store.ts'

/*
 * eth_getBlockReceipts of about 80 MB: `node bench/receipts.ts`. Hashes and writes a block of each shape, reads its receipts from the
 * database as the server streams them, and measures the longest time in which the thread did nothing else: while the block is hashed, put
 * into its batch, found and decoded, while the database hands its receipts over, part by part, and while the answer is written.
 */

const DATA_BYTES = 40_000_000
const params = NETWORKS.devnet

const transactionOf = (nonce: number): Transaction => {
  const word = new Uint8Array(32).fill(7)
  const unsigned = {
    ...{ type: 0 as const, chainId: params.chainId, nonce, gasLimit: 100_000_000n, value: 0n, data: EMPTY_BYTES },
    ...{ maxFeePerGas: 27_500_000_000n, maxPriorityFeePerGas: 27_500_000_000n, to: ZERO_ADDRESS, accessList: [] },
  }
  const { raw } = encodeTransaction(unsigned, { r: word, s: word, yParity: 0 })
  return withSender(decodeTransaction(raw), { hash: keccak256Hex(raw), from: ZERO_ADDRESS })
}

const headerOf = (number: number): Header => ({
  ...{ parentHash: ZERO_HASH, sha3Uncles: EMPTY_LIST_HASH, miner: ZERO_ADDRESS, stateRoot: ZERO_HASH },
  ...{ transactionsRoot: ZERO_HASH, receiptsRoot: ZERO_HASH, logsBloom: EMPTY_BLOOM, difficulty: 1n, number },
  ...{ gasLimit: 999_999_999_999n, gasUsed: 400_000_000n, timestamp: 1_735_689_600 + number },
  extraData: encodeExtraData({
    ...{ version: 1, vanity: EMPTY_BYTES, proposer: ZERO_ADDRESS, parentCertificate: null },
    ...{ proofTip: ZERO_HASH, proofHeadersHash: ZERO_HASH, evidenceRoot: ZERO_HASH },
  }),
  ...{ mixHash: ZERO_HASH, nonce: '0x0000000000000000', baseFeePerGas: 25_000_000_000n },
})

/** Number of transactions, and of logs of each; the data is divided among the logs. */
const SHAPES = [
  ['four logs of ten megabytes', 4, 1],
  ['400 logs of 100 kB', 4, 100],
  ['200,000 logs of 32 bytes', 20, 10_000],
  ['20,000 transactions with a log of 2 kB', 20_000, 1],
] as const

/** Longest turns while a block is hashed and put into its batch. */
interface WriteTurns {
  readonly hash: Turn
  readonly put: Turn
}

const writeShape = async (store: Store, number: number, count: number, logs: number): Promise<WriteTurns> => {
  const dataBytes = logs === 10_000 ? 32 : Math.floor(DATA_BYTES / count / logs)
  const log: Log = { address: ZERO_ADDRESS, topics: [toWord(1n)], data: new Uint8Array(dataBytes).fill(0xab) }
  const transactions = Array.from({ length: count }, (_, i) => transactionOf(number * 100_000 + i))
  const stored = transactions.map((_, i) => ({
    status: 1 as const,
    cumulativeGasUsed: BigInt(i + 1) * 21_000n,
    logs: Array.from({ length: logs }, () => log),
  }))
  const block = blockFromParts(headerOf(number), { transactions, proofHeaders: [], evidence: [] })
  const receipts = finishSlicedWork(deriveReceipts(stored, { transactions, baseFeePerGas: 25_000_000_000n }))
  collectGarbage()
  const stopHashing = watchTurns()
  await runSlicedWork(receiptsRootParts(receipts), sliceOver)
  const hash = stopHashing()
  const batch = store.batch()
  const rows = { block: { ...block, extra: undefined as never }, receipts, certificate: null }
  const stopPutting = watchTurns()
  await runSlicedWork(putBlockRows(batch, rows), sliceOver)
  await batch.write({ sync: false })
  return { hash, put: stopPutting() }
}

/** Processor time of this thread, ms: the time of other processes on the machine does not count. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Milliseconds of passed time and of processor time. */
type Turn = readonly [number, number]

/** Longest gap between two turns of the event loop, in ms of passed time and of processor time. */
const watchTurns = (): (() => Turn) => {
  const longest = { ms: 0, cpuMs: 0 }
  let last = { ms: performance.now(), cpuMs: cpuMs() }
  let isOver = false
  const note = (): void => {
    const now = { ms: performance.now(), cpuMs: cpuMs() }
    longest.ms = Math.max(longest.ms, now.ms - last.ms)
    longest.cpuMs = Math.max(longest.cpuMs, now.cpuMs - last.cpuMs)
    last = now
  }
  const turn = (): void => {
    note()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    isOver = true
    // The turn that ends the measured work is not over.
    note()
    return [rounded(longest.ms), rounded(longest.cpuMs)]
  }
}

const measure = async (store: Store, number: number, name: string, written: WriteTurns): Promise<void> => {
  const blocks = new BlockStore(store)
  collectGarbage()
  const stopFinding = watchTurns()
  const block = await blocks.block(number)
  const findTurn = stopFinding()
  if (block === undefined) throw new Error('the block was written')
  collectGarbage()
  const stopReading = watchTurns()
  const stored = await blocks.stored(number)
  const readTurn = stopReading()
  const view = { receiptStream: async () => stored?.receiptStream() }
  const large = new LargeResponses(view as unknown as ChainView)
  // What the writing of the blocks left is not collected during the measurement.
  collectGarbage()
  const stop = watchTurns()
  const beganMs = performance.now()
  const stream = large.receipts(block).open('bench')
  let bytes = 0
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next())
    bytes += bytesOf(piece).byteLength
  const ms = performance.now() - beganMs
  const figures = {
    bytes,
    ms: Math.round(ms),
    // Each of passed time and of processor time.
    longestTurnMs: { ...written, find: findTurn, read: readTurn, write: stop() },
  }
  process.stdout.write(`${JSON.stringify({ bench: 'receipts', shape: name, ...figures })}\n`)
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const rounded = (ms: number): number => Math.round(ms * 10) / 10

const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-'))
const store = await Store.open(join(dir, 'db'))
try {
  const written: WriteTurns[] = []
  for (const [index, [, count, logs]] of SHAPES.entries()) written.push(await writeShape(store, index + 1, count, logs))
  for (const [index, [name]] of SHAPES.entries()) await measure(store, index + 1, name, written[index] as WriteTurns)
} finally {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
}
