import { bytesToHex, concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { POOL_LIMITS } from '../../../src/config/limits/pool.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { SenderResult } from '../../../src/crypto/recovery/batch.ts'
import { recoverSender, type SenderError } from '../../../src/crypto/recovery/recover-sender.ts'
import type { TransactionSource } from '../../../src/evm/executor-types.ts'
import { Metrics } from '../../../src/metrics/registry.ts'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { createPoolMetrics } from '../../../src/txpool/metrics.ts'
import { type ClientPoolPort, PoolService } from '../../../src/txpool/pool-service.ts'
import { decodeJournal, TransactionJournal } from '../../../src/txpool/transaction-journal.ts'
import { Accounts, createPool, FLOOR, GWEI } from './fixtures.ts'
import { MemoryStorage } from './memory-storage.ts'
import { senderOf, signedTransfer } from './signed.ts'

const resultOf = (raw: Uint8Array): SenderResult => {
  try {
    return recoverSender(raw)
  } catch (error) {
    return error as CodedError<SenderError>
  }
}

/** Recovers in place; each answer can be held back until released. */
class Recovery {
  calls = 0
  held: (() => void)[] | undefined
  fault: Error | undefined

  async recoverMany(raws: readonly Uint8Array[]) {
    this.calls++
    const { held } = this
    if (this.fault !== undefined) throw this.fault
    if (held) await new Promise<void>(resolve => held.push(resolve))
    return raws.map(resultOf)
  }
}

const start = async (storage = new MemoryStorage(), accounts?: Accounts, baseFee = FLOOR) => {
  const { pool } = createPool({ baseFee, ...(accounts && { accounts }) })
  const metrics = new Metrics()
  const poolMetrics = createPoolMetrics(metrics, pool)
  const recovery = new Recovery()
  const live = function* () {
    for (const tx of pool.localTransactions()) yield tx.raw
  }
  const journal = new TransactionJournal({
    storage,
    live,
    limitBytes: 1 << 20,
    logger: silentLogger,
    onWritten: poolMetrics.journalWritten,
  })
  const service = new PoolService({
    pool,
    recovery,
    journal,
    metrics: poolMetrics,
    clock: systemClock,
    logger: silentLogger,
  })
  const announced: Transaction[] = []
  service.onPending(tx => announced.push(tx))
  await service.start()
  return { service, pool, journal, recovery, storage, metrics, announced }
}

const journaled = (storage: MemoryStorage): Hex[] => decodeJournal(storage.file).transactions.map(bytesToHex)

test('is what faces and executor ask for', async () => {
  const { service } = await start()
  const port: ClientPoolPort = service
  const source: TransactionSource = service.select()
  expect([port.counts(), source.next()]).toEqual([{ pending: 0, queued: 0 }, undefined])
})

describe('submit', () => {
  test('recovers nothing where the sender is named, and keeps the order of those before', async () => {
    const { service, recovery } = await start()
    recovery.held = []
    const first = service.submit(signedTransfer(1, { nonce: 0 }))
    const second = service.submit(signedTransfer(1, { nonce: 1 }), senderOf(1))
    await new Promise(resolve => setImmediate(resolve))
    expect(service.counts()).toEqual({ pending: 0, queued: 0 })
    for (const release of recovery.held) release()
    expect(service.get(await second)).toMatchObject({ from: senderOf(1), nonce: 1 })
    await first
    expect(recovery.calls).toBe(1)
    expect(service.counts()).toEqual({ pending: 2, queued: 0 })
  })

  test('answers the hash; the transaction is pooled, journaled and announced', async () => {
    const { service, storage, announced } = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    const hash = await service.submit(raw)
    expect(hash).toBe(recoverSender(raw).hash)
    expect(service.get(hash)).toMatchObject({ hash, from: senderOf(1), nonce: 0 })
    expect(announced.map(tx => tx.hash)).toEqual([hash])
    expect(journaled(storage)).toEqual([bytesToHex(raw)])
  })

  test('does not answer before the journal has it', async () => {
    const { service, storage } = await start()
    const gate = Promise.withResolvers<void>()
    storage.gate = gate.promise
    let answered = false
    const answer = service.submit(signedTransfer(1, { nonce: 0 })).then(() => {
      answered = true
    })
    await new Promise(resolve => setTimeout(resolve, 10))
    expect([answered, service.counts().pending]).toEqual([false, 1])
    gate.resolve()
    await answer
  })

  test('sent again before the journal has it, waits for the journal', async () => {
    const { service, storage } = await start()
    const gate = Promise.withResolvers<void>()
    storage.gate = gate.promise
    const raw = signedTransfer(1, { nonce: 0 })
    const first = service.submit(raw)
    await expect.poll(() => service.counts().pending).toBe(1)
    storage.failIn = 1
    const second = service.submit(raw)
    gate.resolve()
    await expect(first).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
    await expect(second).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
  })

  test('sent again after the journal failed, is accepted once the journal has it', async () => {
    const { service, storage } = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    storage.failIn = 1
    await expect(service.submit(raw)).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
    storage.failIn = 1
    await expect(service.submit(raw)).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
    expect(await service.submit(raw)).toBe(recoverSender(raw).hash)
    expect(journaled(storage)).toEqual([bytesToHex(raw)])
    await expect(service.submit(raw)).rejects.toMatchObject({ code: 'ALREADY_KNOWN' })
  })

  test('from a peer is not journaled', async () => {
    const { service, storage, pool } = await start()
    await service.receive([signedTransfer(1, { nonce: 0 })])
    expect([journaled(storage), pool.counts().pending]).toEqual([[], 1])
  })

  test('the same bytes at once: one recovery, one hash, and already known for the rest', async () => {
    const { service, recovery } = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    const results = await Promise.allSettled([service.submit(raw), service.submit(raw.slice()), service.receive([raw])])
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'ALREADY_KNOWN' } })
    expect(results[2]).toMatchObject({ value: [{ code: 'ALREADY_KNOWN' }] })
    expect(recovery.calls).toBe(1)
    await expect(service.submit(raw)).rejects.toMatchObject({ code: 'ALREADY_KNOWN' })
    expect(recovery.calls).toBe(1)
  })

  test('the same bytes at once, refused: all learn why', async () => {
    const { service } = await start()
    const raw = signedTransfer(1, { nonce: 0, gasLimit: 20_000n })
    const results = await Promise.allSettled([service.submit(raw), service.submit(raw)])
    for (const result of results) expect(result).toMatchObject({ reason: { code: 'INTRINSIC_GAS' } })
    await expect(service.submit(raw)).rejects.toMatchObject({ code: 'INTRINSIC_GAS' })
  })

  test('many of peers at once: an outcome for each, and a repetition among them is one', async () => {
    const { service, recovery, pool } = await start()
    const [first, second] = [signedTransfer(1, { nonce: 0 }), signedTransfer(2, { nonce: 0 })]
    const raws = [first, new Uint8Array(3), second, first.slice(), signedTransfer(3, { nonce: 0, chainId: 1 })]
    const outcomes = await service.receive(raws)
    expect(outcomes.map(admitOutcome => (typeof admitOutcome === 'string' ? admitOutcome : admitOutcome.code))).toEqual(
      [
        recoverSender(first).hash,
        'TRANSACTION_MALFORMED',
        recoverSender(second).hash,
        'ALREADY_KNOWN',
        'INVALID_CHAIN_ID',
      ],
    )
    expect([recovery.calls, pool.counts().pending]).toEqual([1, 2])
    expect(await service.receive([])).toEqual([])
  })

  test('a recovery without room refuses all of them, and they are welcome again', async () => {
    const { service, recovery, pool } = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    recovery.fault = new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit: 1 })
    const [admitOutcome] = await service.receive([raw])
    expect(admitOutcome).toBe(recovery.fault)
    await expect(service.submit(raw)).rejects.toBe(recovery.fault)
    recovery.fault = new Error('broken')
    await expect(service.receive([raw])).rejects.toThrow('broken')
    recovery.fault = undefined
    await service.submit(raw)
    expect(pool.counts().pending).toBe(1)
  })

  test('what can be refused without the sender costs no recovery', async () => {
    const { service, recovery } = await start()
    await expect(service.submit(new Uint8Array(0))).rejects.toMatchObject({ code: 'TRANSACTION_MALFORMED' })
    await expect(service.submit(new Uint8Array(200_000))).rejects.toMatchObject({ code: 'OVERSIZED' })
    await expect(service.submit(signedTransfer(1, { nonce: 0, chainId: 1 }))).rejects.toMatchObject({
      code: 'INVALID_CHAIN_ID',
    })
    await expect(service.submit(signedTransfer(1, { nonce: 0, maxFeePerGas: GWEI }))).rejects.toMatchObject({
      code: 'UNDERPRICED',
    })
    expect(recovery.calls).toBe(0)
  })

  test('a signature no key made', async () => {
    const { service } = await start()
    const raw = signedTransfer(1, { nonce: 0 }).slice()
    raw.fill(0xff, raw.byteLength - 32)
    await expect(service.submit(raw)).rejects.toMatchObject({ code: 'INVALID_SENDER' })
    expect(service.counts()).toEqual({ pending: 0, queued: 0 })
  })

  test('nonces sent in order are admitted in order, whichever recovery ends first', async () => {
    const { service, recovery, announced } = await start()
    const held: (() => void)[] = []
    recovery.held = held
    const answers: Promise<Hex>[] = []
    for (let nonce = 0; nonce < 20; nonce++) {
      answers.push(service.submit(signedTransfer(1, { nonce })))
      // Those of one turn of the event loop share a recovery.
      await new Promise(resolve => setImmediate(resolve))
    }
    // Two recoveries at a time: the other eighteen come together when the second ends.
    expect(held.length).toBe(2)
    held.pop()?.()
    await new Promise(resolve => setImmediate(resolve))
    expect(held.length).toBe(2)
    held.pop()?.()
    await new Promise(resolve => setImmediate(resolve))
    expect(announced).toEqual([])
    held.pop()?.()
    await Promise.all(answers)
    expect(recovery.calls).toBe(3)
    expect(announced.map(tx => tx.nonce)).toEqual(Array.from({ length: 20 }, (_, nonce) => nonce))
  })

  test('those of one turn share a recovery and a write of the journal, and each has its own outcome', async () => {
    const { service, recovery, storage } = await start()
    await service.submit(signedTransfer(9, { nonce: 0 }))
    const [calls, appends] = [recovery.calls, storage.appends]
    const raws = [
      signedTransfer(1, { nonce: 0 }),
      signedTransfer(1, { nonce: 1, gasLimit: 20_000n }),
      signedTransfer(1, { nonce: 1 }),
      signedTransfer(2, { nonce: 0 }),
    ]
    const results = await Promise.allSettled(raws.map(raw => service.submit(raw)))
    expect([recovery.calls - calls, storage.appends - appends]).toEqual([1, 1])
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'INTRINSIC_GAS' } })
    expect(journaled(storage).slice(1)).toEqual([raws[0], raws[2], raws[3]].map(raw => bytesToHex(raw as Uint8Array)))
  })

  test('a disk that fails refuses the admitted ones of a turn; the others keep their own reason', async () => {
    const { service, storage } = await start()
    storage.failIn = 1
    const raws = [signedTransfer(1, { nonce: 0 }), signedTransfer(2, { nonce: 0, gasLimit: 20_000n })]
    const [first, second] = await Promise.allSettled(raws.map(raw => service.submit(raw)))
    expect(first).toMatchObject({ reason: { code: 'JOURNAL_FAILED' } })
    expect(second).toMatchObject({ reason: { code: 'INTRINSIC_GAS' } })
  })

  test('keeps no larger buffer alive than its own bytes', async () => {
    const { service } = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    const body = concatBytes(new Uint8Array(1 << 20), raw)
    const hash = await service.submit(body.subarray(1 << 20))
    expect(service.get(hash)?.raw.buffer.byteLength).toBe(raw.byteLength)
  })

  test('keeps no larger buffer alive either when it is one of Node, whose slices are views', async () => {
    const { service } = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    const body = Buffer.concat([new Uint8Array(1 << 20), raw])
    const hash = await service.submit(body.subarray(1 << 20))
    expect(service.get(hash)?.raw.buffer.byteLength).toBe(raw.byteLength)
  })

  test('a listener that throws does not affect others', async () => {
    const { service, announced } = await start()
    const stop = service.onPending(() => {
      throw new Error('mine')
    })
    const late: Transaction[] = []
    service.onPending(tx => late.push(tx))
    await service.submit(signedTransfer(1, { nonce: 0 }))
    stop()
    expect([announced.length, late.length]).toEqual([1, 1])
  })

  test('what the head at a start cannot pay for waits in the journal for a later head', async () => {
    const [funded, empty] = [signedTransfer(1, { nonce: 0 }), signedTransfer(2, { nonce: 0 })]
    const before = await start()
    for (const raw of [funded, empty]) await before.service.submit(raw)
    // The newest block, which paid the second account, was lost with the power.
    const accounts = new Accounts()
    accounts.balances.set(senderOf(2), 0n)
    const { service, pool, storage } = await start(before.storage, accounts)
    expect(pool.counts().pending).toBe(1)
    expect(journaled(storage)).toEqual([funded, empty].map(bytesToHex))
    await service.retryWaiting()
    expect(pool.counts().pending).toBe(1)
    accounts.balances.delete(senderOf(2))
    service.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs: Date.now() })
    for (let block = 0; block < 2; block++) await service.retryWaiting()
    expect(pool.counts().pending).toBe(2)
    expect(journaled(storage)).toEqual([funded, empty].map(bytesToHex))
    await service.clear()
    expect(journaled(storage)).toEqual([])
  })

  test('what the recovery of senders has no room for when it is tried again stays in the journal', async () => {
    const before = await start()
    const raw = signedTransfer(1, { nonce: 0 })
    await before.service.submit(raw)
    const { service, journal, recovery } = await start(before.storage, new Accounts(0n))
    recovery.fault = new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit: 1 })
    await service.retryWaiting()
    expect([...journal.waiting.values()].map(bytesToHex)).toEqual([bytesToHex(raw)])
  })

  test('what no head can make valid again leaves the journal at a start, the rest after its last try', async () => {
    const before = await start()
    for (const key of [1, 2]) await before.service.submit(signedTransfer(key, { nonce: 0 }))
    const accounts = new Accounts(0n)
    accounts.nonces.set(senderOf(1), 1)
    const { service, storage, journal } = await start(before.storage, accounts)
    expect(journaled(storage)).toEqual([bytesToHex(signedTransfer(2, { nonce: 0 }))])
    for (let block = 0; block < 64 * POOL_LIMITS.lifetimeSweeps; block++) await service.retryWaiting()
    expect([...journal.waiting.values()]).toEqual([])
  })

  test('a disk that fails refuses, and the next submit mends the journal', async () => {
    const { service, storage } = await start()
    storage.failIn = 1
    await expect(service.submit(signedTransfer(1, { nonce: 0 }))).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
    await service.submit(signedTransfer(1, { nonce: 1 }))
    expect(journaled(storage).length).toBe(2)
  })
})

test('a restart brings local transactions back, but for those used meanwhile', async () => {
  const first = await start()
  const raws = [0, 1, 2, 5].map(nonce => signedTransfer(1, { nonce }))
  for (const raw of raws) await first.service.submit(raw)
  await first.service.receive([signedTransfer(2, { nonce: 0 })])
  await first.service.close()

  const { accounts } = createPool()
  accounts.nonces.set(senderOf(1), 1)
  const second = await start(first.storage, accounts)
  expect(second.service.counts()).toEqual({ pending: 2, queued: 1 })
  expect(second.announced.map(tx => tx.nonce)).toEqual([1, 2])
  expect(journaled(first.storage)).toEqual(raws.slice(1).map(bytesToHex))
})

test('a restart keeps what waits for the price to fall, in memory and in the journal', async () => {
  const first = await start()
  const cheap = signedTransfer(1, { nonce: 0, maxFeePerGas: 26n * GWEI })
  await first.service.submit(cheap)
  first.service.onBlock({ number: 1, transactions: [], baseFee: 30n * GWEI, nowMs: 0 })
  await first.service.close()

  const second = await start(first.storage, undefined, 30n * GWEI)
  expect(second.service.counts()).toEqual({ pending: 0, queued: 1 })
  expect(second.announced).toEqual([])
  expect(journaled(first.storage)).toEqual([bytesToHex(cheap)])
  await expect(second.service.submit(signedTransfer(2, { nonce: 0, maxFeePerGas: 26n * GWEI }))).rejects.toMatchObject({
    code: 'UNDERPRICED',
  })
  second.service.onBlock({ number: 2, transactions: [], baseFee: FLOOR, nowMs: 0 })
  expect(second.announced.map(tx => tx.nonce)).toEqual([0])
})

test('what was let go of does not come back, not even what a block held that is gone', async () => {
  const first = await start()
  const raws = [0, 1, 5].map(nonce => signedTransfer(1, { nonce }))
  for (const raw of raws) await first.service.submit(raw)
  const mined = first.service.get(keccak256Hex(raws[0] as Uint8Array))
  if (mined === undefined) throw new Error('pooled')
  first.service.onBlock({ number: 1, transactions: [mined], baseFee: FLOOR, nowMs: 0 })
  expect(await first.service.clear()).toBe(true)
  expect(first.service.counts()).toEqual({ pending: 0, queued: 0 })
  expect(journaled(first.storage)).toEqual([])
  expect(await first.service.clear()).toBe(false)
})

test('blocks announce what they promote', async () => {
  const { service, announced } = await start()
  await service.submit(signedTransfer(1, { nonce: 0, maxFeePerGas: 26n * GWEI }))
  service.onBlock({ number: 1, transactions: [], baseFee: 30n * GWEI, nowMs: 0 })
  await service.submit(signedTransfer(1, { nonce: 1 }))
  expect(announced.map(tx => tx.nonce)).toEqual([0])
  service.onBlock({ number: 2, transactions: [], baseFee: FLOOR, nowMs: 0 })
  expect(announced.map(tx => tx.nonce)).toEqual([0, 1])
})

test('metrics tell what came, what was refused and what is there', async () => {
  const { service, metrics } = await start()
  const raw = signedTransfer(1, { nonce: 0 })
  await service.submit(raw)
  await service.submit(raw).catch(() => undefined)
  await service.receive([signedTransfer(1, { nonce: 5 })])
  await service.submit(signedTransfer(1, { nonce: 0, maxFeePerGas: 40n * GWEI }))
  const text = await metrics.render()
  for (const line of [
    'txpool_submissions_total{origin="local",result="accepted"} 2',
    'txpool_submissions_total{origin="local",result="ALREADY_KNOWN"} 1',
    'txpool_submissions_total{origin="remote",result="accepted"} 1',
    'txpool_pending_transactions 1',
    'txpool_queued_transactions 1',
    'txpool_drops_total{reason="replaced"} 1',
    'txpool_sender_accounts 1',
    'txpool_journal_batch_transactions_count 3',
  ]) {
    expect(text).toContain(`${line}\n`)
  }
})
