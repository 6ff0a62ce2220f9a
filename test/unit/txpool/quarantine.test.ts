import { describe, expect, test } from 'vitest'
import { recoverSender } from '../../../src/crypto/recovery/recover-sender.ts'
import { Metrics } from '../../../src/metrics/registry.ts'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { decodeQuarantined, encodeQuarantined } from '../../../src/txpool/journal/journal-format.ts'
import { TransactionJournal } from '../../../src/txpool/journal/transaction-journal.ts'
import { createPoolMetrics } from '../../../src/txpool/metrics.ts'
import type { TxPool } from '../../../src/txpool/pool.ts'
import { PoolService } from '../../../src/txpool/pool-service.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { type Logger, silentLogger } from '../../../src/util/logger.ts'
import { address, createPool, FLOOR, GWEI, refusalOf, SMALL_LIMITS, selected, transaction } from './fixtures.ts'
import { MemoryStorage } from './memory-storage.ts'
import { signedTransfer } from './signed.ts'

const [ALICE, BOB, CAROL] = [1, 2, 3].map(address) as [Hex, Hex, Hex]
const recovery = { recoverMany: async (raws: readonly Uint8Array[]) => raws.map(recoverSender) }
const nonces = (transactions: readonly Transaction[]) => transactions.map(({ nonce }) => nonce)
const tip = (gwei: bigint) => ({ maxFeePerGas: gwei * GWEI, maxPriorityFeePerGas: gwei * GWEI })
const hashes = (transactions: readonly Transaction[]) => transactions.map(({ hash }) => hash)
const swept = (pool: TxPool, nowMs: number) => pool.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs })

describe('a quarantined transaction', () => {
  const UNTIL = { untilMs: 5_000 }

  test('is no candidate, and those of its sender behind it wait for it', () => {
    const { pool } = createPool()
    const slow = transaction({ from: ALICE, nonce: 1, ...tip(90n) })
    for (const nonce of [0, 2]) pool.admit(transaction({ from: ALICE, nonce, ...tip(90n) }), 0, 'local')
    pool.admit(slow, 0, 'local')
    pool.admit(transaction({ from: BOB, nonce: 0 }), 0, 'local')
    pool.quarantine({ hash: slow.hash, ...UNTIL })
    expect(selected(pool).map(({ from, nonce }) => [from, nonce])).toEqual([
      [ALICE, 0],
      [BOB, 0],
    ])
    expect(pool.counts()).toEqual({ pending: 2, queued: 2 })
    expect(nonces(pool.content().queued.get(ALICE) ?? [])).toEqual([1, 2])
    // A wallet goes on after what waits.
    expect(pool.nextNonce(ALICE)).toBe(3)
  })

  test('gives way to another one of its nonce, and the rest of the sender goes on', () => {
    const { pool } = createPool()
    const slow = transaction({ from: ALICE, nonce: 0 })
    pool.admit(slow, 0, 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 0, 'local')
    pool.quarantine({ hash: slow.hash, ...UNTIL })
    expect(selected(pool)).toEqual([])
    pool.admit(transaction({ from: ALICE, nonce: 0, ...tip(60n) }), 0, 'local')
    expect(nonces(selected(pool))).toEqual([0, 1])
  })

  test('that a block of another node holds is done with like any other', () => {
    const { pool, accounts } = createPool()
    const slow = transaction({ from: ALICE, nonce: 0 })
    pool.admit(slow, 0, 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 0, 'local')
    pool.quarantine({ hash: slow.hash, ...UNTIL })
    accounts.nonces.set(ALICE, 1)
    pool.onBlock({ number: 1, transactions: [slow], baseFee: FLOOR, nowMs: 0 })
    expect(nonces(selected(pool))).toEqual([1])
  })

  test('leaves the pool when its time is over, may be sent again then, and not before', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    const slow = transaction({ from: ALICE, nonce: 0 })
    pool.admit(slow, 0, 'local')
    pool.quarantine({ hash: slow.hash, ...UNTIL })
    swept(pool, 4_999)
    expect(pool.has(slow.hash)).toBe(true)
    pool.discard(slow.hash)
    expect(refusalOf(() => pool.admit(slow, 3_500, 'remote'))).toEqual({
      code: 'QUARANTINED',
      hash: slow.hash,
      seconds: 2,
    })
    swept(pool, 6_000)
    expect(pool.quarantined()).toEqual([])
    pool.admit(slow, 6_000, 'remote')
    expect(hashes(selected(pool))).toEqual([slow.hash])
    pool.quarantine({ hash: slow.hash, untilMs: 7_000 })
    swept(pool, 8_000)
    expect(pool.has(slow.hash)).toBe(false)
    expect(pool.drops).toMatchObject({ quarantined: 1, discarded: 1 })
  })

  test('makes room for the next: however many there are, a few are remembered, and the oldest leaves the pool', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    const slow = [0, 1, 2, 3].map(nonce => transaction({ from: ALICE, nonce }))
    for (const one of slow) pool.admit(one, 0, 'local')
    for (const { hash } of slow) pool.quarantine({ hash, ...UNTIL })
    expect(pool.quarantined().map(({ hash }) => hash)).toEqual(hashes(slow.slice(1)))
    expect(slow.map(({ hash }) => pool.has(hash))).toEqual([false, true, true, true])
  })

  test('is remembered before it is pooled: what comes back after a restart waits at once', () => {
    const { pool } = createPool()
    const slow = transaction({ from: ALICE, nonce: 0 })
    pool.quarantine({ hash: slow.hash, ...UNTIL })
    expect(refusalOf(() => pool.admit(slow, 0, 'remote'))).toMatchObject({ code: 'QUARANTINED', seconds: 5 })
    expect(pool.admit(slow, 0, 'restored')).toMatchObject({ status: 'queued', executable: [] })
    expect(selected(pool)).toEqual([])
  })
})

describe('a transaction to be retried', () => {
  test('is the first of the next selection, whatever others offer, once it is the next of its sender', () => {
    const { pool, accounts } = createPool()
    const first = transaction({ from: ALICE, nonce: 0 })
    const long = transaction({ from: ALICE, nonce: 1 })
    for (const one of [first, long, transaction({ from: BOB, nonce: 0, ...tip(90n) })]) pool.admit(one, 0, 'local')
    pool.retryFirst(long.hash)
    expect(selected(pool)[0]?.from).toBe(BOB)
    accounts.nonces.set(ALICE, 1)
    pool.onBlock({ number: 1, transactions: [first], baseFee: FLOOR, nowMs: 0 })
    expect(hashes(selected(pool))[0]).toBe(long.hash)
  })

  test('takes its turn with others: one goes first, and a few are remembered', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    const long = [ALICE, BOB, CAROL].map(from => transaction({ from, nonce: 0 }))
    for (const one of long) pool.admit(one, 0, 'local')
    for (const { hash } of long.toReversed()) pool.retryFirst(hash)
    // Of the three the oldest made room.
    expect(selected(pool)[0]?.from).toBe(BOB)
    pool.retryFirst(long[1]!.hash)
    expect(selected(pool)[0]?.from).toBe(ALICE)
    pool.discard(long[0]!.hash)
    expect(selected(pool)[0]?.from).toBe(BOB)
  })
})

describe('over a restart', () => {
  const clock = { ms: 1_000_000, nowMs: () => clock.ms, schedule: () => () => {} }

  const start = async (storage: MemoryStorage, logger: Logger = silentLogger) => {
    const { pool } = createPool()
    const metrics = createPoolMetrics(new Metrics(), pool)
    const live = function* () {
      for (const quarantinedTransaction of pool.quarantined()) yield encodeQuarantined(quarantinedTransaction)
      for (const { raw } of pool.localTransactions()) yield raw
    }
    const journal = new TransactionJournal({ storage, live, limitBytes: 1 << 20, logger: silentLogger })
    const service = new PoolService({ pool, recovery, journal, metrics, clock, logger })
    await service.start()
    return { pool, service }
  }

  const quarantine = async (service: PoolService, hash: Hex, ranMs = 250) => {
    service.overran(service.get(hash) as Transaction, { ranMs, isProven: true })
    // Whatever is appended now is written after it.
    await service.submit(signedTransfer(9, { nonce: 0 }))
  }

  test('a transaction that was given up waits on, of this node’s clients or of peers', async () => {
    const storage = new MemoryStorage()
    const first = await start(storage)
    const local = signedTransfer(1, { nonce: 0 })
    const remote = signedTransfer(2, { nonce: 0 })
    const hash = await first.service.submit(local)
    const [other] = (await first.service.receive([remote])) as [Hex]
    first.service.overran(first.service.get(other) as Transaction, { ranMs: 250, isProven: true })
    await quarantine(first.service, hash)
    await first.service.close()

    const second = await start(storage)
    expect(second.service.quarantined().map(({ hash }) => hash)).toEqual([other, hash])
    expect(second.service.counts()).toEqual({ pending: 1, queued: 1 })
    await expect(second.service.submit(remote)).rejects.toMatchObject({ code: 'QUARANTINED' })
    expect(await second.service.receive([remote])).toMatchObject([{ code: 'QUARANTINED' }])
    await second.service.close()
    const third = await start(storage)
    expect(third.service.quarantined()).toHaveLength(2)
  })

  test('what was over meanwhile is forgotten, and its transaction tried once more', async () => {
    const storage = new MemoryStorage()
    const first = await start(storage)
    await quarantine(first.service, await first.service.submit(signedTransfer(1, { nonce: 0 })))
    await first.service.close()
    clock.ms += 24 * 3_600_000
    const second = await start(storage)
    expect(second.service.quarantined()).toEqual([])
    expect(second.service.counts().pending).toBe(2)
  })

  test('the operator is told, with what is needed to find the sender', async () => {
    const lines: unknown[] = []
    const logger = {
      ...silentLogger,
      warn: (fields: object, text: string) => lines.push({ ...fields, text }),
    } as Logger
    const { service } = await start(new MemoryStorage(), logger)
    const hash = await service.submit(signedTransfer(1, { nonce: 0 }))
    const { from } = service.get(hash) as Transaction
    await quarantine(service, hash, 250.4)
    expect(lines).toMatchObject([{ hash, from, nonce: 0, gasLimit: 21_000n, ranMs: 250, minutes: 30 }])
  })
})

test('a record of the journal holds a quarantined hash, and no transaction is taken for one', () => {
  const quarantined = { hash: `0x${'ab'.repeat(32)}` as Hex, untilMs: 1_735_689_600_000 }
  expect(decodeQuarantined(encodeQuarantined(quarantined))).toEqual(quarantined)
  expect(decodeQuarantined(signedTransfer(1, { nonce: 0 }))).toBeUndefined()
  expect(decodeQuarantined(new Uint8Array(40))).toBeUndefined()
  expect(decodeQuarantined(new Uint8Array(41).fill(1))).toBeUndefined()
})
