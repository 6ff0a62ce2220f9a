import { describe, expect, test } from 'vitest'
import { BUILD_LIMITS } from '../../../../src/config/limits/execution.ts'
import { createExecutor } from '../../../../src/evm/executor.ts'
import type { BuildBudget, Overrun } from '../../../../src/evm/executor-types.ts'
import type { Transaction } from '../../../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { Hex } from '../../../../src/util/bytes.ts'
import { silentLogger } from '../../../../src/util/logger.ts'
import { SteadyEngine } from '../../../support/steady-engine.ts'
import { code, env, funded, type Key, key, listSource, signed, TOKEN, withCode } from '../world.ts'

const alice = key(1)
const bob = key(2)
const carol = key(3)
const dave = key(4)
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`
const world = () => withCode(funded([alice, bob, carol, dave]), CONTRACT, code(0x00))

/** A clock that only its engine moves, by a millisecond for a million gas. */
const createMachine = () => {
  const engine = new SteadyEngine()
  return { clock: engine.clock, executor: createExecutor({ mode: 'fast', logger: silentLogger, engine }) }
}

const transfer = (from: Key, nonce = 0): Transaction =>
  signed(from, { nonce, to: `0x${'77'.repeat(20)}`, value: 5n, gasLimit: 21_000n })
/** Takes this many milliseconds. */
const slow = (from: Key, ms: number): Transaction => signed(from, { to: CONTRACT, gasLimit: BigInt(ms) * 1_000_000n })
const endless = (from: Key): Transaction => slow(from, 100)

const build = async (
  list: readonly Transaction[],
  budget: { buildMs: number } & Partial<BuildBudget>,
  state = world(),
) => {
  const { clock, executor } = createMachine()
  const overruns = new Map<Hex, Overrun>()
  const source = { ...listSource(list), overran: (tx: Transaction, overrun: Overrun) => overruns.set(tx.from, overrun) }
  const journal = new Journal(state)
  const limits = {
    maxBytes: 1_000_000,
    nowMs: () => clock.ms,
    deadlineMs: budget.buildMs,
    transactionMs: 20,
    ...budget,
  }
  const built = await executor.build(journal, env(), source, limits)
  return { built, overruns, journal, tookMs: clock.ms }
}

describe('a transaction that does not end', () => {
  test('is stopped even where it stands alone, and the block goes on with others', async () => {
    const { built, overruns, journal } = await build([endless(bob), transfer(alice)], { buildMs: 1_000 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
    expect(built.dropped).toEqual([])
    expect(overruns.get(bob.address)).toEqual({ ranMs: 20, isProven: true })
    expect(journal.nonce(bob.address)).toBe(0)
    expect(journal.balance(bob.address)).toBe(1_000_000n * TOKEN)
  })

  test('costs those behind it none of their time: the block has what it would have without', async () => {
    // The stopped one alone takes longer than the whole budget.
    const list = [endless(bob), slow(alice, 2), slow(carol, 2), transfer(dave)]
    const { built, tookMs } = await build(list, { buildMs: 3, transactionMs: 40 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
    expect(tookMs).toBe(43)
  })

  test('is not condemned where it did not have all the time that one may take', async () => {
    const { overruns } = await build([slow(alice, 5), endless(bob)], { buildMs: 20, transactionMs: 30 })
    expect(overruns.get(bob.address)).toEqual({ ranMs: 15, isProven: false })
  })

  test('is not condemned while the thread has other work', async () => {
    const { clock, executor } = createMachine()
    const overruns: Overrun[] = []
    const source = {
      ...listSource([endless(bob)]),
      overran: (_: Transaction, overrun: Overrun) => overruns.push(overrun),
    }
    // Nineteen milliseconds of twenty go to others.
    let isBusy = true
    const work = (): void => {
      clock.ms += 19
      if (isBusy) setImmediate(work)
    }
    setImmediate(work)
    const limits = { maxBytes: 1_000_000, nowMs: () => clock.ms, deadlineMs: 1_000, transactionMs: 200 }
    await executor.build(new Journal(world()), env(), source, limits)
    isBusy = false
    expect(overruns).toMatchObject([{ isProven: false }])
  })

  test('and was stopped takes its sender with it', async () => {
    const list = [endless(bob), signed(bob, { nonce: 1, to: alice.address, gasLimit: 21_000n }), transfer(alice)]
    const { built } = await build(list, { buildMs: 1_000 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
  })

  test('is all that a block tries: others of much gas wait, those of little do not', async () => {
    const list = [endless(bob), endless(carol), slow(dave, Number(BUILD_LIMITS.lightGas / 1_000_000n)), transfer(alice)]
    const { built, overruns } = await build(list, { buildMs: 5_000 })
    expect([...overruns.keys()]).toEqual([bob.address])
    expect(built.transactions.map(tx => tx.from)).toEqual([dave.address, alice.address])
  })
})

test('a long transaction goes in alone, beyond the time of a block', async () => {
  const { built, overruns } = await build([slow(bob, 50), transfer(alice)], { buildMs: 1, transactionMs: 60 })
  expect(built.transactions.map(tx => tx.from)).toEqual([bob.address])
  expect(overruns.size).toBe(0)
})

test('a transaction has no more than its share in a block that has more', async () => {
  const { built, overruns } = await build([slow(alice, 5), slow(bob, 25), transfer(carol)], { buildMs: 1_000 })
  expect(built.transactions.map(tx => tx.from)).toEqual([alice.address, carol.address])
  expect(overruns.get(bob.address)).toEqual({ ranMs: 20, isProven: true })
})

test('a block has no more gas than its budget, but for a first transaction and for transfers', async () => {
  const list = [slow(alice, 5), slow(bob, 5), transfer(carol)]
  const froms = async (maxGas: bigint) =>
    (await build(list, { buildMs: 1_000, maxGas })).built.transactions.map(({ from }) => from)
  expect(await froms(10_000_000n)).toEqual([alice, bob, carol].map(({ address }) => address))
  expect(await froms(9_999_999n)).toEqual([alice, carol].map(({ address }) => address))
  expect(await froms(0n)).toEqual([alice, carol].map(({ address }) => address))
})

describe('transfers have a part of each block that nothing else takes', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => slow(key(100 + at), 100))

  test('of its time, whatever is paid for code before them', async () => {
    const list = [slow(alice, 2), slow(bob, 2), slow(carol, 2), transfer(dave)]
    const { built } = await build(list, { buildMs: 3, transferMs: 1 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address, dave.address])
  })

  test('also behind a long transaction that stands alone', async () => {
    const { built } = await build([slow(bob, 50), transfer(alice)], { buildMs: 1, transactionMs: 60, transferMs: 1 })
    expect(built.transactions.map(tx => tx.from)).toEqual([bob.address, alice.address])
  })

  test('which ends', async () => {
    // Each look at the clock takes a tenth of a millisecond.
    let looks = 0
    const list = Array.from({ length: 100 }, (_, nonce) => transfer(alice, nonce))
    const { built } = await build(list, { buildMs: 0, transferMs: 2, nowMs: () => looks++ / 10 })
    expect(built.transactions.length).toBeGreaterThan(5)
    expect(built.transactions.length).toBeLessThanOrEqual(20)
  })

  test('of its gas', async () => {
    const { maxBlockExecutionGas, maxTxExecutionGas } = env().params
    const whole = Number(maxBlockExecutionGas / maxTxExecutionGas)
    const senders = Array.from({ length: whole }, (_, at) => key(100 + at))
    const list = [...many(whole), transfer(dave)]
    const { built } = await build(
      list,
      { buildMs: 60_000, transactionMs: 60_000 },
      withCode(funded([dave, ...senders]), CONTRACT, code(0x00)),
    )
    // All of them would take all of a block.
    expect(built.transactions.map(tx => tx.from)).toEqual([...senders.slice(0, -1), dave].map(({ address }) => address))
  })

  test('and not by transfers that name much gas', async () => {
    const wide = signed(dave, { to: `0x${'77'.repeat(20)}`, gasLimit: BUILD_LIMITS.transferGas + 1n })
    const { built } = await build([slow(bob, 2), wide, transfer(alice)], { buildMs: 1, transferMs: 1 })
    expect(built.transactions.map(tx => tx.from)).toEqual([bob.address, alice.address])
  })
})

const interrupted = { detail: { code: 'EXECUTION_INTERRUPTED' } }

test('a cancelled block is abandoned at once', async () => {
  const stopping = new AbortController()
  const building = build([endless(bob)], { buildMs: 60_000, transactionMs: 60_000, signal: stopping.signal })
  setImmediate(() => stopping.abort())
  await expect(building).rejects.toMatchObject(interrupted)
})

test('a cancelled validation stops at once, within a transaction', async () => {
  const stopping = new AbortController()
  const { clock, executor } = createMachine()
  const executing = executor.execute(new Journal(world()), env(), [endless(bob)], [], { signal: stopping.signal })
  setImmediate(() => stopping.abort())
  await expect(executing).rejects.toMatchObject(interrupted)
  expect(clock.ms).toBeLessThan(100)
})

test('the engine of the node leaves an endless loop when it is asked to', async () => {
  // JUMPDEST, PUSH0, JUMP.
  const state = withCode(funded([bob]), CONTRACT, code(0x5b, 0x5f, 0x56))
  const stopping = new AbortController()
  const executor = createExecutor({ mode: 'fast', logger: silentLogger })
  const executing = executor.execute(new Journal(state), env(), [endless(bob)], [], { signal: stopping.signal })
  setTimeout(() => stopping.abort(), 5)
  await expect(executing).rejects.toMatchObject(interrupted)
})

test('a transaction for which this block has no gas left waits for the next one', async () => {
  const { executor } = createMachine()
  const list = [slow(alice, 2), transfer(bob), slow(carol, 2)]
  const block = env({ gasLimit: 3_000_000n })
  const limits = { maxBytes: 1_000_000, nowMs: () => 0, deadlineMs: 1_000, transactionMs: 20 }
  const built = await executor.build(new Journal(world()), block, listSource(list), limits)
  expect(built.transactions.map(tx => tx.from)).toEqual([alice.address, bob.address])
  expect(built.dropped).toEqual([])
})

test('logs count with the time that they take after the run', async () => {
  const executor = createExecutor({ mode: 'fast', logger: silentLogger })
  const trial = async (...body: readonly number[]): Promise<Overrun | undefined> => {
    const overruns: Overrun[] = []
    // JUMPDEST, PUSH0 six times, the body, PUSH0, JUMP.
    const state = withCode(world(), CONTRACT, code(0x5b, ...Array<number>(6).fill(0x5f), ...body, 0x5f, 0x56))
    const source = {
      ...listSource([signed(bob, { to: CONTRACT, gasLimit: 80_000_000n })]),
      overran: (_: Transaction, overrun: Overrun) => overruns.push(overrun),
    }
    // The clock stands still: only logs can use up the time.
    const limits = { maxBytes: 1_000_000, nowMs: () => 0, deadlineMs: 1_000, transactionMs: 1 }
    await executor.build(new Journal(state), env(), source, limits)
    return overruns[0]
  }
  // LOG4, or POP six times.
  expect(await trial(0xa4)).toEqual({ ranMs: 0, isProven: true })
  expect(await trial(...Array<number>(6).fill(0x50))).toBeUndefined()
})
