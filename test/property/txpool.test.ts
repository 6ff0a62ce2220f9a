import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NETWORKS } from '../../src/config/networks.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import { TxPool } from '../../src/txpool/pool.ts'
import { Accounts, address, FLOOR, GWEI, SMALL_LIMITS, selected, transaction } from '../unit/txpool/fixtures.ts'
import { ModelPool } from './txpool-model.ts'

const SEED = Number(process.env['SEED'] ?? 20_250_217)
const SENDERS = [1, 2, 3, 4, 5].map(address)
const COST = 21_000n * 30n * GWEI
/** Costs that such an account can pay: more than the gas of a transaction that may never pay. */
const RICH = 2_000
const LIMITS = { ...SMALL_LIMITS, lifetimeSweeps: 4 }

const sender = fc.nat(SENDERS.length - 1)
/** With some wei beside the round sum: ten percent more of it is no whole number. */
const gwei = (min: number, max: number) =>
  fc.tuple(fc.integer({ min, max }), fc.nat(12)).map(([n, wei]) => BigInt(n) * GWEI + BigInt(wei))

/** One thing that happens to a pool. Nonces and blocks are relative to the account's state when it happens. */
const operation = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      who: sender,
      ahead: fc.oneof({ weight: 3, arbitrary: fc.constant('next' as const) }, fc.integer({ min: -1, max: 7 })),
      fee: gwei(25, 45),
      tip: fc.option(gwei(0, 10), { nil: undefined }),
      value: fc.constantFrom(0n, 0n, COST, 3n * COST),
      bytes: fc.constantFrom(110, 110, 110, 1_100, 2_500),
      gas: fc.constantFrom(21_000n, 21_000n, 21_000n, 21_000n, 12_600_000n),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('discard' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('block' as const),
      take: fc.integer({ min: 0, max: 6 }),
      overtake: fc.option(sender, { nil: undefined }),
      balances: fc.array(fc.tuple(sender, fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(RICH))), {
        maxLength: 2,
      }),
      told: fc.boolean(),
      baseFee: gwei(25, 36),
      ms: fc.integer({ min: 100, max: 1_500 }),
    }),
  },
)
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

class Run {
  readonly accounts = new Accounts(9n * COST)
  readonly pool = new TxPool({
    params: NETWORKS.devnet,
    accounts: this.accounts,
    number: 1,
    baseFee: FLOOR,
    limits: LIMITS,
  })
  readonly model = new ModelPool(this.accounts, LIMITS, FLOOR)
  number = 0
  nowMs = 0

  constructor() {
    for (const who of SENDERS.slice(0, 3)) this.accounts.balances.set(who, BigInt(RICH) * COST)
  }

  apply(op: Operation): void {
    if (op.kind === 'admit') this.admit(this.transactionOf(op))
    else if (op.kind === 'block') this.block(op)
    else {
      const { items } = this.model
      const item = items[op.pick % Math.max(1, items.length)]
      if (item === undefined) return
      if (op.kind === 'again') this.admit(item.tx)
      else {
        this.pool.discard(item.tx.hash)
        this.model.discard(item.tx.hash)
      }
    }
  }

  transactionOf(op: Extract<Operation, { kind: 'admit' }>): Transaction {
    const from = SENDERS[op.who]!
    const nonce =
      op.ahead === 'next' ? this.pool.nextNonce(from) : Math.max(0, Number(this.accounts.nonce(from)) + op.ahead)
    const tip = op.tip === undefined || op.tip > op.fee ? op.fee : op.tip
    return transaction({
      from,
      nonce,
      type: op.tip === undefined ? 0 : 2,
      maxFeePerGas: op.fee,
      maxPriorityFeePerGas: tip,
      value: op.value,
      gasLimit: op.gas,
      raw: new Uint8Array(op.bytes),
    })
  }

  admit(tx: Transaction): void {
    const expected = this.model.admit(tx)
    let got: string | Hex[]
    try {
      got = this.pool.admit(tx, 'local').executable.map(({ hash }) => hash)
    } catch (error) {
      if (!isCoded(error)) throw error
      got = error.code
    }
    expect(got).toEqual(expected)
  }

  /** Includes the front of the selection, lets an account be overtaken by a transaction from elsewhere, moves money. */
  block(op: Extract<Operation, { kind: 'block' }>): void {
    const transactions = selected(this.pool).slice(0, op.take)
    if (op.overtake !== undefined) {
      const from = SENDERS[op.overtake]!
      const nonce = Math.max(
        Number(this.accounts.nonce(from)),
        ...transactions.filter(tx => tx.from === from).map(tx => Number(tx.nonce) + 1),
      )
      transactions.push(transaction({ from, nonce }))
    }
    for (const { from, nonce } of transactions) this.accounts.nonces.set(from, Number(nonce) + 1)
    const touched: Hex[] = []
    for (const [who, costs] of op.balances) {
      this.accounts.balances.set(SENDERS[who]!, BigInt(costs) * COST)
      if (op.told) touched.push(SENDERS[who]!)
    }
    this.number++
    this.nowMs += op.ms
    const block = { number: this.number, transactions, baseFee: op.baseFee, nowMs: this.nowMs, touched }
    const fresh = this.pool.onBlock(block).map(({ hash }) => hash)
    expect(fresh.sort()).toEqual(this.model.onBlock(block).sort())
  }

  compare(): void {
    const { pool, model } = this
    const content = pool.content()
    const slots = pool.slots()
    for (const who of SENDERS) {
      const executable = model.executable(who).map(item => item.tx)
      const rest = model
        .of(who)
        .map(item => item.tx)
        .slice(executable.length)
      expect(content.pending.get(who) ?? []).toEqual(executable)
      expect(content.queued.get(who) ?? []).toEqual(rest)
    }
    expect(slots).toEqual(model.slots())
    expect(slots.ready).toBeLessThanOrEqual(LIMITS.pending)
    expect(slots.queued).toBeLessThanOrEqual(LIMITS.queued)
    const pending = [...content.pending.values()].flat()
    expect(pool.counts()).toEqual({ pending: pending.length, queued: model.items.length - pending.length })
    expect(selected(pool).map(tx => tx.hash)).toEqual(model.select())
    expect(pool.senders).toBe(model.senders().length)
    for (const { tx } of model.items) expect(pool.get(tx.hash)).toBe(tx)
  }
}

test('the pool behaves like the model under any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 80, size: 'max' }), operations => {
      const run = new Run()
      for (const op of operations) {
        run.apply(op)
        run.compare()
      }
    }),
    { seed: SEED, numRuns: Number(process.env['RUNS'] ?? 300) },
  )
})
