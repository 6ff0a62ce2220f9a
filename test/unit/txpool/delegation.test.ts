import { bigintToBytes, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import type { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { POOL_LIMITS } from '../../../src/config/limits/pool.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { type SenderResult, senderOrThrow } from '../../../src/crypto/recovery/batch.ts'
import { recoverSender, type SenderError } from '../../../src/crypto/recovery/recover-sender.ts'
import { sign } from '../../../src/crypto/signature.ts'
import { authorityOf } from '../../../src/evm/block/authorizations.ts'
import { encodeRlp } from '../../../src/primitives/rlp/rlp.ts'
import { authorizationBytes } from '../../../src/primitives/transaction/delegation.ts'
import type { Authorization, Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { PoolService } from '../../../src/txpool/pool-service.ts'
import { TransactionJournal } from '../../../src/txpool/transaction-journal.ts'
import { paramsAt } from '../evm/world.ts'
import { Accounts, address, CHAIN_ID, createPool, FLOOR, GWEI, refusalOf, transaction } from './fixtures.ts'
import { MemoryStorage } from './memory-storage.ts'
import { privateKey, senderOf, signedTransfer } from './signed.ts'

const [ALICE, BOB, CAROL] = [1, 2, 3].map(address) as [Hex, Hex, Hex]
const TARGET = address(0xc0de)
const params = paramsAt('prague')
const IN_FLIGHT = { code: 'DELEGATED_IN_FLIGHT' }

/** Authorization that nobody signed: the pool is told its signer. */
const unsigned = (fields: Partial<Authorization> = {}): Authorization => ({
  chainId: BigInt(CHAIN_ID),
  address: TARGET,
  nonce: 0n,
  yParity: 0,
  r: Uint8Array.of(1),
  s: Uint8Array.of(1),
  ...fields,
})
const setCode = (from: Hex, ...authorizationList: readonly Authorization[]): Transaction =>
  transaction({ from, nonce: 0, type: 4, gasLimit: 100_000n, authorizationList })
const next = (from: Hex, nonce: number, gwei = 30n) => transaction({ from, nonce, maxFeePerGas: gwei * GWEI })

const delegated = () => {
  const accounts = new Accounts()
  accounts.delegations.add(ALICE)
  return { ...createPool({ params, accounts }), accounts }
}

test('an account that delegates has one transaction in flight: its next, or a replacement of that', () => {
  const { pool, accounts } = delegated()
  expect(refusalOf(() => pool.admit(next(ALICE, 1), 'local'))).toEqual({ code: 'DELEGATED_NONCE_GAP' })
  const first = next(ALICE, 0, 40n)
  pool.admit(next(ALICE, 0), 'local')
  pool.admit(first, 'local')
  expect(refusalOf(() => pool.admit(next(ALICE, 1), 'local'))).toEqual(IN_FLIGHT)
  accounts.nonces.set(ALICE, 1)
  pool.onBlock({ number: 1, transactions: [first], baseFee: FLOOR, nowMs: 0 })
  expect(pool.admit(next(ALICE, 1), 'local')).toMatchObject({ status: 'pending' })
})

test('so has an account that a pooled transaction may make delegate, until that leaves', () => {
  const { pool } = createPool({ params })
  const first = setCode(ALICE, unsigned(), unsigned({ chainId: 0n }))
  pool.admit(first, 'local', [BOB, CAROL])
  for (const who of [BOB, CAROL]) {
    pool.admit(next(who, 0), 'local')
    expect(refusalOf(() => pool.admit(next(who, 1), 'local'))).toEqual(IN_FLIGHT)
  }
  // The sender of the authorizations is not bound by them.
  pool.admit(next(ALICE, 1), 'local')
  pool.discard(first.hash)
  pool.admit(next(BOB, 1), 'local')
})

test('one that signs its own has that in flight', () => {
  const { pool } = createPool({ params })
  pool.admit(setCode(ALICE, unsigned({ nonce: 1n })), 'local', [ALICE])
  expect(refusalOf(() => pool.admit(next(ALICE, 1), 'local'))).toEqual(IN_FLIGHT)
  pool.admit(next(BOB, 0), 'local')
  const second = transaction({ ...setCode(BOB, unsigned({ nonce: 2n })), from: BOB, nonce: 1 })
  expect(refusalOf(() => pool.admit(second, 'local', [BOB]))).toEqual(IN_FLIGHT)
})

test('an account with several in the pool is not made to delegate by another one', () => {
  const { pool } = createPool({ params })
  for (const nonce of [0, 1]) pool.admit(next(BOB, nonce), 'local')
  expect(refusalOf(() => pool.admit(setCode(ALICE, unsigned()), 'local', [BOB]))).toEqual({
    code: 'AUTHORITY_RESERVED',
    authority: BOB,
  })
  expect(pool.has(next(ALICE, 0).hash)).toBe(false)
  pool.admit(next(CAROL, 0), 'local')
  pool.admit(setCode(ALICE, unsigned()), 'local', [CAROL])
})

test('authorizations that can take no effect bind nobody: used ones are public, and anyone may send them again', () => {
  const { pool, accounts } = createPool({ params })
  accounts.nonces.set(BOB, 7)
  const used = unsigned({ nonce: 6n })
  const elsewhere = unsigned({ chainId: 1n, nonce: 7n })
  pool.admit(setCode(ALICE, used, elsewhere, unsigned()), 'local', [BOB, BOB, undefined])
  for (const nonce of [7, 8, 9]) pool.admit(next(BOB, nonce), 'local')
  expect(pool.counts().pending).toBe(4)
})

test('an authorization that is used while it is pooled binds nobody any more', () => {
  const { pool, accounts } = createPool({ params })
  // Behind a nonce gap, where it costs its sender nothing for hours.
  pool.admit(transaction({ ...setCode(ALICE, unsigned()), nonce: 9 }), 'remote', [BOB])
  pool.admit(next(BOB, 0), 'local')
  expect(refusalOf(() => pool.admit(next(BOB, 1), 'local'))).toEqual(IN_FLIGHT)
  accounts.nonces.set(BOB, 1)
  pool.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs: 0, touched: [BOB] })
  for (const nonce of [1, 2]) pool.admit(next(BOB, nonce), 'local')
  // The highest nonce of several authorizations counts, in any order.
  pool.admit(setCode(CAROL, unsigned({ nonce: 4n }), unsigned({ nonce: 3n })), 'remote', [address(4), address(4)])
  accounts.nonces.set(address(4), 4)
  pool.admit(next(address(4), 4), 'local')
  expect(refusalOf(() => pool.admit(next(address(4), 5), 'local'))).toEqual(IN_FLIGHT)
})

test('one with a nonce gap before it leaves when a block makes its account delegate, which could not fill the gap', () => {
  const { pool, accounts } = createPool({ params })
  pool.admit(next(ALICE, 2), 'local')
  accounts.delegations.add(ALICE)
  accounts.nonces.set(ALICE, 1)
  pool.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs: 0, touched: [ALICE] })
  pool.admit(next(ALICE, 1), 'local')
  expect(pool.counts()).toEqual({ pending: 1, queued: 0 })
})

test('an account that a block makes delegate keeps the first of its transactions', () => {
  const { pool, accounts } = createPool({ params })
  for (const nonce of [0, 1, 2, 3]) pool.admit(next(ALICE, nonce), 'local')
  accounts.delegations.add(ALICE)
  accounts.nonces.set(ALICE, 1)
  pool.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs: 0, touched: [ALICE] })
  expect(
    pool
      .content()
      .pending.get(ALICE)
      ?.map(({ nonce }) => nonce),
  ).toEqual([1])
  expect(pool.drops).toMatchObject({ stale: 1, delegated: 2 })
})

test('a thousand accounts that delegate evict no honest sender', () => {
  const accounts = new Accounts()
  const { pool } = createPool({ params, accounts })
  const honest = Array.from({ length: 10_000 }, (_, n) => address(100_000 + n))
  for (const from of honest) pool.admit(next(from, 0), 'remote')
  let admitted = 0
  for (let n = 0; n < 1_024; n++) {
    const from = address(1_000 + n)
    accounts.delegations.add(from)
    for (let nonce = 0; nonce < 16; nonce++)
      if (refusalOf(() => pool.admit(next(from, nonce, 900n), 'remote')) === undefined) admitted++
  }
  expect(admitted).toBe(1_024)
  const { pending } = pool.content()
  expect(honest.every(from => pending.has(from))).toBe(true)
})

const signed = (n: number, fields: Partial<Authorization> = {}): Authorization => {
  const { chainId, address: to, nonce } = { ...unsigned(), ...fields }
  const payload = encodeRlp([bigintToBytes(chainId), hexToBytes(to), bigintToBytes(nonce)])
  const signature = sign(keccak256(concatBytes(Uint8Array.of(5), payload)), privateKey(n))
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)]
  return { chainId, address: to, nonce, yParity: signature[64] as number, r, s }
}

test('the signer of an authorization is recovered as the sender of a transaction is', () => {
  for (const authorization of [signed(7), signed(8, { chainId: 0n, nonce: 2n ** 40n })])
    expect(recoverSender(authorizationBytes(authorization)).from).toBe(authorityOf(authorization))
})

test('a set-code transaction that a journal restores binds its authorities as before', async () => {
  const recovery = { recoverMany: async (raws: readonly Uint8Array[]) => raws.map(raw => recoverSender(raw)) }
  const storage = new MemoryStorage()
  const begin = async () => {
    const { pool } = createPool({ params })
    const live = function* () {
      for (const tx of pool.localTransactions()) yield tx.raw
    }
    const journal = new TransactionJournal({ storage, live, limitBytes: 1 << 20, logger: silentLogger })
    const service = new PoolService({ pool, recovery, journal, clock: systemClock, logger: silentLogger })
    await service.start()
    return { pool, service }
  }
  const first = await begin()
  const fields = { nonce: 0, type: 4, gasLimit: 200_000n, authorizationList: [signed(6)] } as const
  const hash = await first.service.submit(signedTransfer(5, fields))
  await first.service.close()
  const { pool, service } = await begin()
  expect(pool.get(hash)).toMatchObject({ type: 4, authorizationList: [{ address: TARGET, nonce: 0n }] })
  await service.submit(signedTransfer(6, { nonce: 0 }))
  await expect(service.submit(signedTransfer(6, { nonce: 1 }))).rejects.toMatchObject(IN_FLIGHT)
  await service.close()
})

test('a set-code transaction binds its authorities, which are recovered after all other checks', async () => {
  const recovered: number[] = []
  const recovery = {
    async recoverMany(raws: readonly Uint8Array[]): Promise<readonly SenderResult[]> {
      recovered.push(raws.length)
      return raws.map(raw => {
        try {
          return recoverSender(raw)
        } catch (error) {
          return error as CodedError<SenderError>
        }
      })
    },
  }
  const { pool, accounts } = createPool({ params })
  const service = new PoolService({ pool, recovery, clock: systemClock, logger: silentLogger })
  const invalid = { ...signed(9), s: new Uint8Array(32).fill(0xff) }
  const raw = signedTransfer(5, {
    nonce: 0,
    type: 4,
    gasLimit: 200_000n,
    authorizationList: [signed(6), invalid, signed(7)],
  })
  accounts.balances.set(senderOf(5), 1n)
  await expect(service.submit(raw)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  expect(recovered).toEqual([1])
  accounts.balances.delete(senderOf(5))
  const hash = await service.submit(raw)
  expect(senderOrThrow((await recovery.recoverMany([raw]))[0]).hash).toBe(hash)
  expect(recovered).toEqual([1, 1, 3, 1])
  for (const n of [6, 7]) {
    await service.submit(signedTransfer(n, { nonce: 0 }))
    await expect(service.submit(signedTransfer(n, { nonce: 1 }))).rejects.toMatchObject(IN_FLIGHT)
  }
  for (const nonce of [0, 1]) await service.submit(signedTransfer(9, { nonce }))
})

/** Recovers senders at once, and signers of authorizations when released. */
const heldSigners = () => {
  const held: (() => void)[] = []
  let isHolding = true
  return {
    held,
    release(): void {
      isHolding = false
      for (const go of held.splice(0)) go()
    },
    async recoverMany(raws: readonly Uint8Array[]): Promise<readonly SenderResult[]> {
      const isSigners = raws[0]?.[0] === 5
      if (isSigners && isHolding) await new Promise<void>(resolve => held.push(resolve))
      return raws.map(raw => recoverSender(raw))
    },
  }
}
const signedSetCode = (from: number, authority: number, nonce = 0): Uint8Array =>
  signedTransfer(from, { nonce, type: 4, gasLimit: 200_000n, authorizationList: [signed(authority)] })

test('nobody waits for the signers of set-code transactions but these', async () => {
  const recovery = heldSigners()
  const { pool } = createPool({ params })
  const service = new PoolService({ pool, recovery, clock: systemClock, logger: silentLogger })
  const waiting = Array.from({ length: 20 }, (_, n) => service.submit(signedSetCode(100 + n, 200 + n)))
  const settled: string[] = []
  for (const submission of waiting) void submission.then(() => settled.push('set-code'))
  for (let n = 0; n < 50; n++) await service.submit(signedTransfer(300 + n, { nonce: 0 }))
  expect(settled).toEqual([])
  // One at a time, whatever waits.
  expect(recovery.held.length).toBe(1)
  recovery.release()
  await Promise.all(waiting)
  expect(pool.counts().pending).toBe(70)
  await service.close()
})

test('a full queue refuses the newest of the sender with most, and the pool is checked again after the wait', async () => {
  const recovery = heldSigners()
  const { pool, accounts } = createPool({ params })
  const service = new PoolService({ pool, recovery, clock: systemClock, logger: silentLogger })
  const first = service.submit(signedSetCode(99, 98))
  await expect.poll(() => recovery.held.length).toBe(1)
  const outcomes = Array.from({ length: POOL_LIMITS.setCodeWaiting }, (_, nonce) =>
    service.submit(signedSetCode(5, 6, nonce)).then(
      () => 'admitted',
      error => error.code as string,
    ),
  )
  const honest = service.submit(signedSetCode(7, 8))
  const poor = service.submit(signedSetCode(9, 10))
  // Admitted after those before it have taken their places.
  await service.submit(signedTransfer(400, { nonce: 0 }))
  accounts.balances.set(senderOf(9), 1n)
  recovery.release()
  await first
  await honest
  await expect(poor).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  const refused = (await Promise.all(outcomes)).filter(outcome => outcome === 'RECOVERY_QUEUE_FULL')
  expect(refused.length).toBe(2)
})

test('one sender has only so many authorizations that wait', async () => {
  const recovery = heldSigners()
  const { pool } = createPool({ params })
  const service = new PoolService({ pool, recovery, clock: systemClock, logger: silentLogger })
  const first = service.submit(signedSetCode(99, 98))
  await expect.poll(() => recovery.held.length).toBe(1)
  const many = (nonce: number): Promise<unknown> => {
    const authorizationList = Array.from({ length: 150 }, () => signed(6))
    return service.submit(signedTransfer(5, { nonce, type: 4, gasLimit: 5_000_000n, authorizationList }))
  }
  const [one, two] = [many(0), many(1)]
  await expect(two).rejects.toMatchObject({ code: 'RECOVERY_QUEUE_FULL' })
  recovery.release()
  await Promise.all([first, one])
})

test('every set-code transaction of the journal is restored, more than wait for clients', async () => {
  const storage = new MemoryStorage()
  const count = POOL_LIMITS.setCodeWaiting + 20
  const begin = async () => {
    const { pool } = createPool({ params })
    const live = function* () {
      for (const tx of pool.localTransactions()) yield tx.raw
    }
    const journal = new TransactionJournal({ storage, live, limitBytes: 1 << 20, logger: silentLogger })
    const recovery = { recoverMany: async (raws: readonly Uint8Array[]) => raws.map(raw => recoverSender(raw)) }
    const service = new PoolService({ pool, recovery, journal, clock: systemClock, logger: silentLogger })
    await service.start()
    return { pool, service }
  }
  const { service } = await begin()
  for (let n = 0; n < count; n++) await service.submit(signedSetCode(300 + n, 600 + n))
  await service.close()
  const again = await begin()
  expect(again.pool.counts().pending).toBe(count)
  await again.service.close()
})
