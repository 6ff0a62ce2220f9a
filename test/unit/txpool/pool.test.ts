import type { Nonce } from '@tandem/base/uint64.ts'
import { describe, expect, test } from 'vitest'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import type { PoolBlock } from '../../../src/txpool/pool/types.ts'
import type { TxPool } from '../../../src/txpool/pool.ts'
import {
  Accounts,
  address,
  createPool,
  FLOOR,
  GWEI,
  refusalOf,
  SMALL_LIMITS,
  selected,
  TOKEN,
  transaction,
} from './fixtures.ts'

const ALICE = address(1)
const BOB = address(2)
const CAROL = address(3)
const COST = 21_000n * 30n * GWEI

const nonces = (transactions: readonly Transaction[]): Nonce[] => transactions.map(tx => tx.nonce)

describe('nonce gaps', () => {
  test('queue, and are promoted when filled', () => {
    const { pool } = createPool()
    pool.admit(transaction({ from: ALICE, nonce: 2 }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 'local')
    expect(pool.counts()).toEqual({ pending: 0, queued: 2 })
    expect(pool.nextNonce(ALICE)).toBe(0)
    const { status, executable } = pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    expect(status).toBe('pending')
    expect(nonces(executable)).toEqual([0, 1, 2])
    expect(pool.counts()).toEqual({ pending: 3, queued: 0 })
    expect(pool.nextNonce(ALICE)).toBe(3)
  })

  test('what the balance does not reach waits although its nonce follows', () => {
    const { pool, accounts } = createPool()
    accounts.balances.set(ALICE, 2n * COST)
    pool.admit(transaction({ from: ALICE, nonce: 1, value: COST }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    expect(pool.counts()).toEqual({ pending: 1, queued: 1 })
    accounts.balances.set(ALICE, 3n * COST)
    pool.onBlock({
      number: 1,
      transactions: [transaction({ from: BOB, nonce: 0, to: ALICE })],
      baseFee: FLOOR,
      nowMs: 0,
    })
    expect(pool.counts()).toEqual({ pending: 2, queued: 0 })
  })

  test('64 of an account: the highest nonce gives way, a higher one is refused', () => {
    const { pool } = createPool()
    for (let nonce = 2; nonce < 66; nonce++) pool.admit(transaction({ from: ALICE, nonce }), 'local')
    expect(pool.counts().queued).toBe(64)
    expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 66 }), 'local'))).toEqual({
      code: 'POOL_FULL',
      scope: 'account',
      limit: 64,
    })
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 'local')
    const queued = pool.content().queued.get(ALICE) ?? []
    expect([queued.length, queued.at(0)?.nonce, queued.at(-1)?.nonce]).toEqual([64, 1, 64])
    pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    expect(pool.counts()).toEqual({ pending: 65, queued: 0 })
  })

  test('that become payable by a cheaper replacement ahead of them are executable at once', () => {
    const accounts = new Accounts(2n * TOKEN)
    const { pool } = createPool({ accounts })
    const send = (nonce: number, value: bigint, gwei = 30n) =>
      pool.admit(transaction({ from: ALICE, nonce, value, maxFeePerGas: gwei * GWEI }), 'local')
    for (const nonce of [0, 2, 1]) send(nonce, nonce === 0 ? TOKEN : TOKEN / 2n)
    expect(pool.counts()).toEqual({ pending: 2, queued: 1 })
    expect(send(0, 0n, 40n).executable.map(({ nonce }) => nonce)).toEqual([0, 2])
    expect(pool.counts()).toEqual({ pending: 3, queued: 0 })
    // So is the first that the balance no longer reaches, when it costs less itself.
    accounts.balances.set(ALICE, TOKEN)
    pool.onBlock({ number: 1, transactions: [], touched: [ALICE], baseFee: FLOOR, nowMs: 0 })
    expect(pool.counts()).toEqual({ pending: 2, queued: 1 })
    expect(send(2, 0n, 40n)).toMatchObject({ status: 'pending', executable: [{ nonce: 2 }] })
  })

  test('of thousands of cheap accounts keep nobody out: those that wait longest make room, whatever they offer', () => {
    const { pool } = createPool()
    const { queued } = pool.limits
    for (let n = 0; n < queued; n++)
      pool.admit(transaction({ from: address(1_000 + n), nonce: 1, maxFeePerGas: 900n * GWEI }), 'remote')
    pool.admit(transaction({ from: ALICE, nonce: 1, maxFeePerGas: FLOOR }), 'local')
    expect(pool.content().queued.has(ALICE)).toBe(true)
    expect(pool.content().queued.has(address(1_000))).toBe(false)
    expect(pool.slots().queued).toBe(queued)
    // Nor do they take from one that waits for a transaction on its way what others have free.
    for (let nonce = 2; nonce <= 16; nonce++) pool.admit(transaction({ from: ALICE, nonce }), 'local')
    expect(pool.content().queued.get(ALICE)?.length).toBe(16)
    // One with a transaction on its way is no idle account: later floods pass it by.
    pool.admit(transaction({ from: BOB, nonce: 0 }), 'local')
    pool.admit(transaction({ from: BOB, nonce: 2 }), 'local')
    for (let n = 0; n < 2 * queued; n++)
      pool.admit(transaction({ from: address(10_000 + n), nonce: 1, maxFeePerGas: 900n * GWEI }), 'remote')
    expect([ALICE, BOB].map(who => pool.content().queued.has(who))).toEqual([false, true])
  })

  test('behind what may never pay keep nobody out either: that is no transaction on its way', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    for (let n = 0; n < SMALL_LIMITS.queued; n++) {
      pool.admit(transaction({ from: address(10 + n), nonce: 0, gasLimit: 20_000_000n }), 'remote')
      pool.admit(transaction({ from: address(10 + n), nonce: 2 }), 'remote')
    }
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 'local')
    expect([ALICE, address(10)].map(who => pool.content().queued.has(who))).toEqual([true, false])
  })
})

describe('a transaction that no block includes', () => {
  const { lifetimeSweeps, sweepMs } = SMALL_LIMITS
  const high = 900n * GWEI
  let number = 0
  /** So many blocks, as far apart as sweeps. */
  const blocks = (pool: TxPool, count: number, block: Partial<PoolBlock> = {}) => {
    for (let i = 0; i < count; i++)
      pool.onBlock({ number: ++number, transactions: [], baseFee: FLOOR, nowMs: number * sweepMs, ...block })
  }

  test('leaves the pool in the end, whatever it waits for', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    blocks(pool, 1)
    // Executable, behind a gap, and below a risen base fee.
    for (const nonce of [0, 5]) pool.admit(transaction({ from: ALICE, nonce, maxFeePerGas: 2n * high }), 'local')
    pool.admit(transaction({ from: BOB, nonce: 0 }), 'local')
    blocks(pool, lifetimeSweeps - 1, { baseFee: high })
    expect(pool.counts()).toEqual({ pending: 1, queued: 2 })
    // A later one stays.
    pool.admit(transaction({ from: BOB, nonce: 1, maxFeePerGas: high }), 'local')
    blocks(pool, 1, { baseFee: high })
    expect(pool.content()).toEqual({
      pending: new Map(),
      queued: new Map([[BOB, [expect.objectContaining({ nonce: 1 })]]]),
    })
    expect(pool.drops.expired).toBe(3)
  })

  test('stays as long as its sender has others included', () => {
    const { pool, accounts } = createPool({ limits: SMALL_LIMITS })
    blocks(pool, 1)
    const [first, second] = [0, 1].map(nonce => transaction({ from: ALICE, nonce })) as [Transaction, Transaction]
    for (const tx of [first, second]) pool.admit(tx, 'local')
    blocks(pool, lifetimeSweeps - 1)
    accounts.nonces.set(ALICE, 1)
    blocks(pool, 1, { transactions: [first] })
    blocks(pool, lifetimeSweeps - 1)
    expect(pool.has(second.hash)).toBe(true)
    blocks(pool, 1)
    expect(pool.has(second.hash)).toBe(false)
  })

  test('grows no older while no block comes', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    blocks(pool, 1)
    pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    number += 1_000 * lifetimeSweeps
    blocks(pool, 1)
    expect(pool.counts()).toEqual({ pending: 1, queued: 0 })
  })
})

describe('selection', () => {
  test('effective tip, then arrival, nonces in sequence', () => {
    const { pool } = createPool()
    const cheap = transaction({ from: ALICE, nonce: 0, maxFeePerGas: 26n * GWEI })
    const dear = transaction({ from: ALICE, nonce: 1, maxFeePerGas: 99n * GWEI })
    const middle = transaction({ from: BOB, nonce: 0, maxFeePerGas: 30n * GWEI })
    // Pays 5 gwei above the base fee like Bob, in another form, and came later.
    const same = transaction({
      from: CAROL,
      nonce: 0,
      type: 2,
      maxFeePerGas: 500n * GWEI,
      maxPriorityFeePerGas: 5n * GWEI,
    })
    for (const tx of [cheap, dear, middle, same]) pool.admit(tx, 'local')
    expect(selected(pool)).toEqual([middle, same, cheap, dear])
  })

  test('tells tips apart that are equal as doubles', () => {
    const accounts = new Accounts(10n ** 9n * TOKEN)
    const { pool } = createPool({ accounts })
    const tip = 2n ** 60n
    for (const [i, who] of [ALICE, BOB, CAROL].entries()) {
      pool.admit(transaction({ from: who, nonce: 0, maxFeePerGas: FLOOR + tip + BigInt(i) }), 'local')
    }
    expect(selected(pool).map(tx => tx.from)).toEqual([CAROL, BOB, ALICE])
  })

  test('at another base fee leaves out what does not reach it', () => {
    const { pool } = createPool()
    pool.admit(transaction({ from: ALICE, nonce: 0, maxFeePerGas: 50n * GWEI }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1, maxFeePerGas: 30n * GWEI }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 2, maxFeePerGas: 50n * GWEI }), 'local')
    expect(nonces(selected(pool, 31n * GWEI))).toEqual([0])
    expect(nonces(selected(pool))).toEqual([0, 1, 2])
  })

  test('skipSender ends a sender, the current one or another', () => {
    const { pool } = createPool()
    for (const who of [ALICE, BOB, CAROL]) {
      for (const nonce of [0, 1]) pool.admit(transaction({ from: who, nonce }), 'local')
    }
    const selection = pool.select()
    const first = selection.next() as Transaction
    expect(first.from).toBe(ALICE)
    selection.skipSender(first)
    selection.skipSender(transaction({ from: CAROL, nonce: 0 }))
    const rest: Transaction[] = []
    for (let tx = selection.next(); tx; tx = selection.next()) rest.push(tx)
    expect(rest.map(tx => [tx.from, tx.nonce])).toEqual([
      [BOB, 0],
      [BOB, 1],
    ])
    expect(selection.next()).toBeUndefined()
  })

  test('goes on undisturbed while the pool changes', () => {
    const { pool, accounts } = createPool()
    for (const nonce of [0, 1, 2]) pool.admit(transaction({ from: ALICE, nonce }), 'local')
    const selection = pool.select()
    const first = selection.next() as Transaction
    accounts.nonces.set(ALICE, 1)
    pool.onBlock({ number: 1, transactions: [first], baseFee: FLOOR, nowMs: 0 })
    pool.admit(transaction({ from: ALICE, nonce: 3 }), 'local')
    expect([selection.next()?.nonce, selection.next()?.nonce, selection.next()]).toEqual([1, 2, undefined])
  })
})

test('a selection ends with what it began with, though others took the place of what was evicted', () => {
  const { pool } = createPool({ limits: SMALL_LIMITS })
  for (let nonce = 0; nonce < 8; nonce++) pool.admit(transaction({ from: ALICE, nonce }), 'local')
  const selection = pool.select()
  expect(selection.next()?.nonce).toBe(0)
  for (const nonce of [0, 1]) pool.admit(transaction({ from: BOB, nonce }), 'local')
  for (const nonce of [9, 10]) pool.admit(transaction({ from: ALICE, nonce }), 'local')
  const rest: Nonce[] = []
  for (let tx = selection.next(); tx; tx = selection.next()) rest.push(tx.nonce)
  expect(rest).toEqual([1, 2, 3, 4, 5])
})

describe('blocks', () => {
  test('drop what they include, and what another transaction of the same nonce overtook', () => {
    const { pool, accounts } = createPool()
    const mine = [0, 1, 2].map(nonce => transaction({ from: ALICE, nonce }))
    for (const tx of mine) pool.admit(tx, 'local')
    accounts.nonces.set(ALICE, 2)
    const elsewhere = transaction({ from: ALICE, nonce: 1 })
    pool.onBlock({ number: 1, transactions: [mine[0]!, elsewhere], baseFee: FLOOR, nowMs: 0 })
    expect(selected(pool)).toEqual([mine[2]])
    expect(mine.map(tx => pool.has(tx.hash))).toEqual([false, false, true])
    expect(pool.drops.stale).toBe(2)
    expect(pool.nextNonce(ALICE)).toBe(3)
  })

  test('a balance that went elsewhere drops what it cannot pay and queues what followed', () => {
    const { pool, accounts } = createPool()
    pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1, value: TOKEN }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 2 }), 'local')
    accounts.balances.set(ALICE, TOKEN)
    pool.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs: 0, touched: [ALICE] })
    expect(nonces(pool.content().pending.get(ALICE) ?? [])).toEqual([0])
    expect(nonces(pool.content().queued.get(ALICE) ?? [])).toEqual([2])
    expect(pool.drops.unpayable).toBe(1)
  })

  test('a risen base fee demotes, a fallen one promotes, nothing is lost or announced twice', () => {
    const { pool } = createPool()
    for (let nonce = 0; nonce < 200; nonce++) {
      const maxFeePerGas = nonce === 1 ? 26n * GWEI : 40n * GWEI
      pool.admit(transaction({ from: ALICE, nonce, maxFeePerGas }), 'local')
    }
    const block = { transactions: [], nowMs: 0 }
    expect(pool.onBlock({ ...block, number: 1, baseFee: 27n * GWEI })).toEqual([])
    expect(pool.counts()).toEqual({ pending: 1, queued: 199 })
    expect(pool.nextNonce(ALICE)).toBe(200)
    expect(pool.onBlock({ ...block, number: 2, baseFee: 26n * GWEI })).toEqual([])
    expect(pool.counts()).toEqual({ pending: 200, queued: 0 })
  })

  test('one replaced while it waited for the price is announced when the price falls', () => {
    const { pool } = createPool()
    pool.admit(transaction({ from: ALICE, nonce: 0, maxFeePerGas: 27n * GWEI }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1, maxFeePerGas: 27n * GWEI }), 'local')
    pool.onBlock({ number: 1, transactions: [], baseFee: 30n * GWEI, nowMs: 0 })
    const next = transaction({ from: ALICE, nonce: 1, maxFeePerGas: 31n * GWEI })
    expect(pool.admit(next, 'local')).toMatchObject({ status: 'queued', executable: [] })
    expect(pool.onBlock({ number: 2, transactions: [], baseFee: FLOOR, nowMs: 0 })).toEqual([next])
  })

  test('a head that moved before the pool was told is seen at admission', () => {
    const { pool, accounts } = createPool()
    pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    accounts.nonces.set(ALICE, 1)
    expect(pool.nextNonce(ALICE)).toBe(1)
    expect(pool.admit(transaction({ from: ALICE, nonce: 1 }), 'local').status).toBe('pending')
    expect(pool.counts()).toEqual({ pending: 1, queued: 0 })
  })

  test('discard lets go of one and queues those behind it', () => {
    const { pool } = createPool()
    const txs = [0, 1, 2].map(nonce => transaction({ from: ALICE, nonce }))
    for (const tx of txs) pool.admit(tx, 'local')
    expect(pool.discard(txs[1]!.hash)).toBe(true)
    expect(pool.discard(txs[1]!.hash)).toBe(false)
    expect(pool.counts()).toEqual({ pending: 1, queued: 1 })
  })
})

describe('room', () => {
  // 8 ready slots, 2 of them guaranteed to each account.
  const fill = (sizes: Readonly<Record<string, number>>, maxFeePerGas = 30n * GWEI) => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    for (const [who, count] of Object.entries(sizes)) {
      for (let nonce = 0; nonce < count; nonce++) {
        pool.admit(transaction({ from: who as typeof ALICE, nonce, maxFeePerGas }), 'local')
      }
    }
    return pool
  }

  test('one account may use all that is free', () => {
    const pool = fill({ [ALICE]: 8 })
    expect(pool.counts()).toEqual({ pending: 8, queued: 0 })
    expect(
      refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 8, maxFeePerGas: 99n * GWEI }), 'local')),
    ).toEqual({
      code: 'POOL_FULL',
      scope: 'pending',
      limit: 8,
    })
  })

  test('the largest sender makes room for smaller ones, whatever it pays', () => {
    const pool = fill({ [ALICE]: 8 }, 99n * GWEI)
    for (let nonce = 0; nonce < 4; nonce++) pool.admit(transaction({ from: BOB, nonce, maxFeePerGas: FLOOR }), 'local')
    const { pending } = pool.content()
    expect([pending.get(ALICE)?.length, pending.get(BOB)?.length]).toEqual([4, 4])
    expect(pool.drops.evicted).toBe(4)
    expect(
      refusalOf(() => pool.admit(transaction({ from: BOB, nonce: 4, maxFeePerGas: FLOOR }), 'local')),
    ).toMatchObject({
      code: 'POOL_FULL',
    })
  })

  test('between senders within their guarantee the lower tip goes, between equal tips the newcomer', () => {
    const pool = fill({ [ALICE]: 2, [BOB]: 2, [CAROL]: 2, [address(4)]: 2 })
    expect(refusalOf(() => pool.admit(transaction({ from: address(5), nonce: 0 }), 'local'))).toMatchObject({
      code: 'POOL_FULL',
    })
    pool.admit(transaction({ from: address(5), nonce: 0, maxFeePerGas: 31n * GWEI }), 'local')
    expect(nonces(pool.content().pending.get(address(4)) ?? [])).toEqual([0])
  })

  test('what may never pay gives way to what will, with all behind it, whatever it offers', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    for (const who of [ALICE, BOB, CAROL, address(4)]) {
      // A block has time for 12.5 M gas that are certain to end.
      const gasLimit = who === CAROL ? 12_500_000n : 12_500_001n
      pool.admit(transaction({ from: who, nonce: 0, gasLimit }), 'remote')
      pool.admit(transaction({ from: who, nonce: 1, maxFeePerGas: 900n * GWEI }), 'remote')
    }
    for (let n = 5; n < 11; n++) pool.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: FLOOR }), 'remote')
    expect([...pool.content().pending.keys()]).toEqual([CAROL, ...[5, 6, 7, 8, 9, 10].map(address)])
    const replaced = transaction({ from: CAROL, nonce: 0, maxFeePerGas: 40n * GWEI, gasLimit: 13_000_000n })
    pool.admit(replaced, 'remote')
    pool.admit(transaction({ from: address(11), nonce: 0, maxFeePerGas: FLOOR }), 'remote')
    expect(pool.content().pending.get(CAROL)).toEqual([replaced])
    const other = transaction({ from: BOB, nonce: 0, maxFeePerGas: 900n * GWEI, gasLimit: 12_500_001n })
    expect(refusalOf(() => pool.admit(other, 'remote'))).toBeUndefined()
    expect(pool.content().pending.get(CAROL)).toBeUndefined()
  })

  test('nor does what a build stopped, of whatever gas', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    const stopped = transaction({ from: ALICE, nonce: 0, gasLimit: 3_000_000n, maxFeePerGas: 900n * GWEI })
    pool.admit(stopped, 'remote')
    for (let n = 5; n < 12; n++) pool.admit(transaction({ from: address(n), nonce: 0 }), 'remote')
    pool.overran(stopped, 200, 0)
    pool.admit(transaction({ from: BOB, nonce: 0, maxFeePerGas: FLOOR }), 'remote')
    expect([ALICE, BOB].map(who => pool.content().pending.has(who))).toEqual([false, true])
  })

  test('nor does the next heavy one of a sender that a build stopped, until blocks try it again', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    const heavy = (gasLimit: bigint, gwei: bigint) =>
      transaction({ from: ALICE, nonce: 0, gasLimit, maxFeePerGas: gwei * GWEI })
    const stopped = heavy(50_000_000n, 30n)
    pool.admit(stopped, 'remote')
    pool.overran(stopped, 250, 0)
    // It surely ends in time, but no block tries it for a while.
    pool.admit(heavy(3_000_000n, 40n), 'remote')
    pool.admit(transaction({ from: ALICE, nonce: 1, maxFeePerGas: 900n * GWEI }), 'remote')
    for (let n = 5; n < 13; n++) pool.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: FLOOR }), 'remote')
    expect(pool.content().pending.get(ALICE)).toBeUndefined()
    expect(pool.counts()).toEqual({ pending: 8, queued: 0 })
    // Light ones are tried by every block.
    pool.admit(transaction({ from: ALICE, nonce: 0, gasLimit: 2_000_000n, maxFeePerGas: 26n * GWEI }), 'remote')
    expect(pool.content().pending.has(ALICE)).toBe(true)
  })

  test('nor do heavy ones behind the one that a build stopped, when a light one takes its place', () => {
    const { pool, accounts } = createPool({ limits: SMALL_LIMITS })
    const [stopped, next, last] = [50_000_000n, 3_000_000n, 21_000n].map((gasLimit, nonce) =>
      transaction({ from: ALICE, nonce, gasLimit, maxFeePerGas: 900n * GWEI }),
    ) as [Transaction, Transaction, Transaction]
    for (const tx of [stopped, next, last]) pool.admit(tx, 'remote')
    pool.overran(stopped, 250, 0)
    const light = transaction({ from: ALICE, nonce: 0, maxFeePerGas: 990n * GWEI })
    pool.admit(light, 'remote')
    accounts.nonces.set(ALICE, 1)
    pool.onBlock({ number: 1, transactions: [light], baseFee: FLOOR, nowMs: 1_000 })
    expect(pool.content().pending.get(ALICE)).toEqual([next, last])
    for (let n = 5; n < 13; n++) pool.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: FLOOR }), 'remote')
    expect(pool.content().pending.get(ALICE)).toBeUndefined()
  })

  test('a large tip behind a small one keeps nobody out who offers more than that', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    for (const who of [ALICE, BOB, CAROL, address(4)]) {
      pool.admit(transaction({ from: who, nonce: 0, maxFeePerGas: 26n * GWEI }), 'remote')
      pool.admit(transaction({ from: who, nonce: 1, maxFeePerGas: 900n * GWEI }), 'remote')
    }
    for (let n = 5; n < 13; n++)
      pool.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: 27n * GWEI }), 'remote')
    expect([...pool.content().pending.keys()]).toEqual([5, 6, 7, 8, 9, 10, 11, 12].map(address))
    // The tip that counts rises with a replacement of the small one.
    const { pool: other } = createPool({ limits: SMALL_LIMITS })
    for (let n = 1; n < 5; n++) {
      other.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: 26n * GWEI }), 'remote')
      other.admit(transaction({ from: address(n), nonce: 1, maxFeePerGas: 50n * GWEI }), 'remote')
    }
    other.admit(transaction({ from: ALICE, nonce: 0, maxFeePerGas: 40n * GWEI }), 'remote')
    for (const n of [5, 6]) other.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: 30n * GWEI }), 'remote')
    expect(other.content().pending.get(ALICE)?.length).toBe(2)
  })

  test('transfers of a large tip behind one that waits for a lower base fee keep nobody out', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    for (const who of [ALICE, BOB, CAROL, address(4)]) {
      pool.admit(transaction({ from: who, nonce: 0, maxFeePerGas: FLOOR }), 'remote')
      pool.admit(transaction({ from: who, nonce: 1, maxFeePerGas: 900n * GWEI }), 'remote')
    }
    pool.onBlock({ number: 1, transactions: [], baseFee: 26n * GWEI, nowMs: 0 })
    for (let n = 5; n < 13; n++)
      pool.admit(transaction({ from: address(n), nonce: 0, maxFeePerGas: 26n * GWEI }), 'remote')
    expect(pool.counts()).toEqual({ pending: 8, queued: 0 })
  })

  test('who pays least is judged at the new base fee', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    // At 25 gwei Alice tips 5 and Bob 3; at 30 gwei nothing is left for Alice, and Bob still tips 3.
    for (const nonce of [0, 1]) {
      pool.admit(transaction({ from: ALICE, nonce, maxFeePerGas: 30n * GWEI }), 'local')
      const fees = { type: 2, maxFeePerGas: 90n * GWEI, maxPriorityFeePerGas: 3n * GWEI } as const
      pool.admit(transaction({ from: BOB, nonce, ...fees }), 'local')
      for (const who of [CAROL, address(4)])
        pool.admit(transaction({ from: who, nonce, maxFeePerGas: 60n * GWEI }), 'local')
    }
    for (const who of [ALICE, BOB])
      for (const nonce of [5, 6, 7]) {
        const fees =
          who === ALICE ? {} : ({ type: 2, maxFeePerGas: 90n * GWEI, maxPriorityFeePerGas: 3n * GWEI } as const)
        pool.admit(transaction({ from: who, nonce, ...fees }), 'local')
      }
    const cheap = transaction({ from: address(5), nonce: 0, maxFeePerGas: 26n * GWEI })
    expect(refusalOf(() => pool.admit(cheap, 'local'))).toMatchObject({ code: 'POOL_FULL' })
    pool.onBlock({ number: 1, transactions: [], baseFee: 30n * GWEI, nowMs: 0 })
    pool.admit(transaction({ from: address(5), nonce: 9, maxFeePerGas: 50n * GWEI }), 'local')
    pool.admit(transaction({ from: address(5), nonce: 0, maxFeePerGas: 50n * GWEI }), 'local')
    expect(nonces(pool.content().queued.get(ALICE) ?? [])).not.toContain(7)
    expect(nonces(pool.content().queued.get(BOB) ?? [])).toEqual([5, 6, 7])
    expect(pool.content().pending.get(BOB)?.length).toBe(2)
    expect([...pool.content().pending.keys()]).toContain(address(5))
  })

  test('an account keeps within its queue when a block unlinks what it had ready', () => {
    const { pool, accounts } = createPool({ limits: SMALL_LIMITS })
    for (let nonce = 0; nonce < 6; nonce++) {
      pool.admit(transaction({ from: ALICE, nonce, value: nonce === 0 ? TOKEN : 0n }), 'local')
    }
    accounts.balances.set(ALICE, TOKEN)
    pool.onBlock({ number: 1, transactions: [], baseFee: FLOOR, nowMs: 0, touched: [ALICE] })
    expect(pool.counts()).toEqual({ pending: 0, queued: 3 })
    expect(nonces(pool.content().queued.get(ALICE) ?? [])).toEqual([1, 2, 3])
  })

  test('large transactions count by their bytes', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    pool.admit(transaction({ from: ALICE, nonce: 0, raw: new Uint8Array(5 * 1_024) }), 'local')
    expect(pool.slots()).toEqual({ ready: 5, queued: 0 })
    pool.admit(transaction({ from: ALICE, nonce: 5, raw: new Uint8Array(1_025) }), 'local')
    expect(pool.slots()).toEqual({ ready: 5, queued: 2 })
  })

  test('a larger replacement without room leaves the old one in place', () => {
    const pool = fill({ [ALICE]: 8 })
    const larger = transaction({ from: ALICE, nonce: 0, maxFeePerGas: 40n * GWEI, raw: new Uint8Array(2_000) })
    expect(refusalOf(() => pool.admit(larger, 'local'))).toMatchObject({ code: 'POOL_FULL' })
    expect(pool.counts()).toEqual({ pending: 8, queued: 0 })
  })

  test('queued ones have a room of their own', () => {
    const { pool } = createPool({ limits: SMALL_LIMITS })
    for (const who of [ALICE, BOB]) {
      for (const nonce of [1, 2, 3]) pool.admit(transaction({ from: who, nonce }), 'local')
    }
    expect(pool.counts()).toEqual({ pending: 0, queued: 6 })
    pool.admit(transaction({ from: CAROL, nonce: 1 }), 'local')
    expect(pool.counts()).toEqual({ pending: 0, queued: 6 })
    expect(pool.content().queued.get(ALICE)?.length).toBe(2)
    pool.admit(transaction({ from: CAROL, nonce: 0 }), 'local')
    expect(pool.counts()).toEqual({ pending: 2, queued: 5 })
  })
})

test('a journal that is written meanwhile misses none behind what is evicted', () => {
  const { pool } = createPool({ limits: SMALL_LIMITS })
  for (const nonce of [0, 1, 2, 5, 6]) pool.admit(transaction({ from: ALICE, nonce }), 'local')
  const written: Nonce[] = []
  for (const { nonce } of pool.localTransactions()) {
    written.push(nonce)
    // Six others take the room of her last one that is ready.
    if (nonce === 5) for (let n = 5; n < 11; n++) pool.admit(transaction({ from: address(n), nonce: 0 }), 'remote')
  }
  expect(nonces(pool.content().queued.get(ALICE) ?? [])).toEqual([5, 6])
  expect(pool.drops.evicted).toBe(1)
  expect(written).toEqual([0, 1, 2, 5, 6])
})

test('reads', () => {
  const { pool } = createPool()
  const local = transaction({ from: ALICE, nonce: 0 })
  const remote = transaction({ from: BOB, nonce: 0 })
  const gap = transaction({ from: BOB, nonce: 2 })
  pool.admit(local, 'local')
  pool.admit(remote, 'remote')
  pool.admit(gap, 'remote')
  expect([...pool.localTransactions()]).toEqual([local])
  expect([...pool.pendingTransactions()]).toEqual([local, remote])
  expect(pool.content()).toEqual({
    pending: new Map([
      [ALICE, [local]],
      [BOB, [remote]],
    ]),
    queued: new Map([[BOB, [gap]]]),
  })
  expect(pool.nextNonce(CAROL)).toBe(0)
})
