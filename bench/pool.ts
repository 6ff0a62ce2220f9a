/**
 * The transaction pool by itself, one JSON line: admissions, a whole selection, a block, memory, and the service with its journal.
 *   node --expose-gc bench/pool.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { POOL_LIMITS } from '../src/config/limits/pool.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { keccak256Hex } from '../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../src/crypto/signature.ts'
import { decodeTransaction, type Transaction, withSender } from '../src/primitives/transaction/transaction.ts'
import { createJournalFile } from '../src/txpool/journal-file.ts'
import { TxPool } from '../src/txpool/pool.ts'
import { PoolService } from '../src/txpool/pool-service.ts'
import { TransactionJournal } from '../src/txpool/transaction-journal.ts'
import { signedBy } from '../test/support/signed-by.ts'

const GWEI = 10n ** 9n
const COUNT = POOL_LIMITS.pending
const { chainId } = NETWORKS.devnet

const privateKey = (n: number): Uint8Array => {
  const key = new Uint8Array(32)
  new DataView(key.buffer).setUint32(28, n + 1)
  return key
}

/** Signed transfers of `senders` accounts in turns, prices spread over ten gwei. */
const transfers = (senders: number): Uint8Array[] => {
  const out: Uint8Array[] = []
  for (let i = 0; i < COUNT; i++) {
    const price = 30n * GWEI + BigInt((i * 7_919) % 10_000) * 1_000_000n
    const unsigned = {
      type: 0 as const,
      chainId,
      nonce: Math.floor(i / senders),
      gasLimit: 21_000n,
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
      to: `0x${'22'.repeat(20)}` as Hex,
      value: BigInt(i),
      data: EMPTY_BYTES,
      accessList: [],
    }
    out.push(signedBy(unsigned, privateKey(i % senders)).raw)
  }
  return out
}

const heads = new Map<Hex, number>()
const createPool = (): TxPool =>
  new TxPool({
    params: NETWORKS.devnet,
    accounts: { nonce: who => heads.get(who) ?? 0, balance: () => 10n ** 24n },
    number: 1,
    baseFee: 25n * GWEI,
  })

/** Milliseconds of this thread's CPU time: other processes of the machine do not count. */
const timed = (fn: () => void): number => {
  const before = process.threadCpuUsage()
  fn()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e3
}

const heapBytes = (): number => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const drain = (pool: TxPool, count: number): Transaction[] => {
  const selection = pool.select()
  const out: Transaction[] = []
  for (let tx = selection.next(); tx !== undefined && out.length < count; tx = selection.next()) out.push(tx)
  return out
}

const core = (senders: number, raws: readonly Uint8Array[]) => {
  heads.clear()
  const from = Array.from({ length: senders }, (_, n) => addressFromPrivateKey(privateKey(n)))
  const before = heapBytes()
  const transactions = raws.map((raw, i) =>
    withSender(decodeTransaction(raw.slice()), { hash: keccak256Hex(raw), from: from[i % senders]! }),
  )
  const decoded = heapBytes()
  const pool = createPool()
  const admitMs = timed(() => {
    for (const tx of transactions) pool.admit(tx, 'local')
  })
  const after = heapBytes()
  const selectMs = timed(() => void drain(pool, COUNT))
  const block = drain(pool, 5_000)
  for (const { from: who, nonce } of block) heads.set(who, Number(nonce) + 1)
  const onBlockMs = timed(() => void pool.onBlock({ number: 1, transactions: block, baseFee: 25n * GWEI, nowMs: 0 }))
  const repriceMs = timed(() => void pool.onBlock({ number: 2, transactions: [], baseFee: 36n * GWEI, nowMs: 0 }))
  const refill = timed(() => {
    for (const tx of block) {
      try {
        pool.admit(tx, 'local')
      } catch {
        // nonce too low: what a refusal costs
      }
    }
  })
  return {
    senders,
    admitsPerSecond: Math.round((COUNT / admitMs) * 1e3),
    select16kMs: round(selectMs),
    onBlock5kMs: round(onBlockMs),
    baseFeeMoveMs: round(repriceMs),
    refusalMicros: round((refill / block.length) * 1e3),
    entryBytes: Math.round((after - decoded) / COUNT),
    transactionBytes: Math.round((decoded - before) / COUNT),
  }
}

/** Overload: a full pool to which newcomers offer more. */
const overload = (raws: readonly Uint8Array[], senders: number) => {
  heads.clear()
  const from = Array.from({ length: 2 * senders }, (_, n) => addressFromPrivateKey(privateKey(n)))
  const pool = createPool()
  const all = raws.map((raw, i) =>
    withSender(decodeTransaction(raw), { hash: keccak256Hex(raw), from: from[i % senders]! }),
  )
  for (const tx of all) pool.admit(tx, 'local')
  const newcomers = all.map((tx, i) => ({
    ...tx,
    hash: `0x${i.toString(16).padStart(64, '0')}` as Hex,
    from: from[senders + (i % senders)]!,
  }))
  const ms = timed(() => {
    for (const tx of newcomers) {
      try {
        pool.admit(tx, 'remote')
      } catch {
        // no room at this price
      }
    }
  })
  return { perSecond: Math.round((newcomers.length / ms) * 1e3), evicted: pool.drops.evicted }
}

/** Everything but the recovery itself: decoding, hashing, ordering, admission, journal on this machine's disk. */
const service = async (raws: readonly Uint8Array[], senders: number) => {
  heads.clear()
  const from = Array.from({ length: senders }, (_, n) => addressFromPrivateKey(privateKey(n)))
  const hashes = raws.map(raw => keccak256Hex(raw))
  const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-'))
  const pool = createPool()
  let writes = 0
  let longestMs = 0
  const live = function* () {
    for (const tx of pool.localTransactions()) yield tx.raw
  }
  const journal = new TransactionJournal({
    storage: createJournalFile(join(dir, 'transactions')),
    live,
    limitBytes: POOL_LIMITS.journalBytes,
    logger: silentLogger,
    onWritten: ({ durationMs }) => {
      writes++
      longestMs = Math.max(longestMs, durationMs)
    },
  })
  let at = 0
  const recovery = {
    recoverMany: async (given: readonly Uint8Array[]) =>
      given.map(() => ({ hash: hashes[at]!, from: from[at++ % senders]! })),
  }
  const pooled = new PoolService({ pool, recovery, journal, clock: systemClock, logger: silentLogger })
  await pooled.start()
  const startedMs = performance.now()
  for (let i = 0; i < raws.length; i += 64) {
    const batch = Promise.all(raws.slice(i, i + 64).map(raw => pooled.submit(raw)))
    if (i % 1_024 === 0) await batch
  }
  await pooled.close()
  const ms = performance.now() - startedMs
  const aloneMs: number[] = []
  for (let i = 0; i < 20; i++) aloneMs.push(await syncOnce(dir))
  rmSync(dir, { recursive: true })
  return {
    perSecond: Math.round((raws.length / ms) * 1e3),
    journalWrites: writes,
    longestWriteMs: round(longestMs),
    oneWriteMs: round(aloneMs.sort((a, b) => a - b)[10]!),
  }
}

const syncOnce = async (dir: string): Promise<number> => {
  const storage = createJournalFile(join(dir, 'single'))
  await storage.append(new Uint8Array(110))
  const startedMs = performance.now()
  await storage.append(new Uint8Array(110))
  const ms = performance.now() - startedMs
  await storage.close()
  return ms
}

const round = (value: number): number => Math.round(value * 100) / 100

/** The median of each figure over some runs, the first two of which only warm up. */
const median = <T extends Readonly<Record<string, number>>>(run: () => T): T => {
  const runs = Array.from({ length: 9 }, run).slice(2)
  const keys = Object.keys(runs[0]!) as (keyof T)[]
  const middle = (key: keyof T): number => runs.map(figures => figures[key]!).sort((x, y) => x - y)[runs.length >> 1]!
  return Object.fromEntries(keys.map(key => [key, middle(key)])) as T
}

const few = transfers(16)
const many = transfers(COUNT)
console.log(
  JSON.stringify({
    bench: 'pool',
    transactions: COUNT,
    few: median(() => core(16, few)),
    many: median(() => core(COUNT, many)),
    overload: median(() => overload(many, COUNT)),
    service: await service(few, 16),
  }),
)
