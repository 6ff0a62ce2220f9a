import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { BUILD_LIMITS } from '../../../../src/config/limits/execution.ts'
import { buildBlock } from '../../../../src/evm/block/block-builder.ts'
import { createEngineRunner } from '../../../../src/evm/block/engine-runner.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import type { BuildBudget, TransactionSource } from '../../../../src/evm/executor-types.ts'
import type { Transaction } from '../../../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
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
  return { clock: engine.clock, executor: createExecutor({ mode: 'wasm', logger: silentLogger, engine }) }
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
  pool: Partial<TransactionSource> = {},
) => {
  const { clock, executor } = createMachine()
  /** Processor time of those that were stopped, by sender. */
  const overruns = new Map<Hex, number>()
  const passedOver: Hex[] = []
  const source: TransactionSource = {
    ...listSource(list),
    overran: (tx, ranMs) => overruns.set(tx.from, ranMs),
    passedOver: tx => passedOver.push(tx.from),
    ...pool,
  }
  const journal = new Journal(state)
  const limits = {
    maxBytes: 1_000_000,
    nowMs: () => clock.ms,
    deadlineMs: budget.buildMs,
    transactionMs: 20,
    ...budget,
  }
  const built = await executor.build(journal, env(), source, limits)
  const froms = built.transactions.map(({ from }) => from)
  return { built, froms, overruns, passedOver, journal, tookMs: clock.ms }
}

describe('a transaction that does not end', () => {
  test('is stopped even where it stands alone, and the block goes on with others', async () => {
    const { built, overruns, journal } = await build([endless(bob), transfer(alice)], { buildMs: 1_000 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
    expect(built.dropped).toEqual([])
    expect(overruns.get(bob.address)).toBe(20)
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

  test('is told with the time that it had', async () => {
    const { overruns } = await build([slow(alice, 5), endless(bob)], { buildMs: 20, transactionMs: 30 })
    expect(overruns.get(bob.address)).toBe(15)
  })

  test('is told with its own processor time, without that of other work of the thread', async () => {
    const { clock, executor } = createMachine()
    const overruns: number[] = []
    const overran = (_: Transaction, ranMs: number) => overruns.push(ranMs)
    // Nineteen milliseconds of twenty go to others.
    let isBusy = true
    const work = (): void => {
      clock.ms += 19
      if (isBusy) setImmediate(work)
    }
    setImmediate(work)
    const limits = { maxBytes: 1_000_000, nowMs: () => clock.ms, deadlineMs: 1_000, transactionMs: 200 }
    await executor.build(new Journal(world()), env(), { ...listSource([endless(bob)]), overran }, limits)
    isBusy = false
    expect(overruns[0]).toBeLessThan(20)

    const machine = createMachine()
    const cpuMs = () => machine.clock.ms / 4
    const onOthersCore = { ...limits, nowMs: () => machine.clock.ms, cpuMs, transactionMs: 80 }
    const again = { ...listSource([endless(bob)]), overran }
    await machine.executor.build(new Journal(world()), env(), again, onOthersCore)
    expect(overruns[1]).toBe(20)
  })

  test('and was stopped takes its sender with it', async () => {
    const list = [endless(bob), signed(bob, { nonce: 1, to: alice.address, gasLimit: 21_000n }), transfer(alice)]
    const { built } = await build(list, { buildMs: 1_000 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
  })

  test('is all that a block tries: others that may take as long wait, those that cannot do not', async () => {
    const heavy = slow(dave, Number(BUILD_LIMITS.lightGas / 1_000_000n) + 1)
    const list = [endless(bob), endless(carol), heavy, transfer(alice)]
    const { froms, overruns, passedOver } = await build(list, { buildMs: 1_000 })
    expect([...overruns.keys()]).toEqual([bob.address])
    expect(passedOver).toEqual([carol.address])
    expect(froms).toEqual([dave.address, alice.address])
    // 60 ms that its gas may take are too many here.
    expect((await build(list, { buildMs: 59 })).froms).toEqual([alice.address])
  })

  test('leaves half of the time for stopped ones to the one that waits longest, whatever their prices', async () => {
    const list = [endless(bob), endless(carol), slow(dave, 30), transfer(alice)]
    const limits = { buildMs: 100, transactionMs: 80 }
    const waiting = { longestWaiting: list[2]!.hash }
    const { froms, overruns, passedOver } = await build(list, limits, world(), waiting)
    expect(froms).toEqual([dave.address, alice.address])
    expect(overruns).toEqual(new Map([[bob.address, 40]]))
    expect(passedOver).toEqual([carol.address])
    expect((await build(list, limits)).froms).toEqual([alice.address])
  })

  test('waits where the block has less time than its sender needs, and is not passed over', async () => {
    const needed = (ms: number) =>
      build([slow(bob, 5), transfer(alice)], { buildMs: 100 }, world(), { neededMs: () => ms })
    expect((await needed(20)).froms).toEqual([bob.address, alice.address])
    expect(await needed(21)).toMatchObject({ froms: [alice.address], passedOver: [] })
  })

  test('where its gas should have ended it costs half of the block once, and not the half of the one that waits longest', async () => {
    // Twenty times as long as their gas allows for.
    const engine = new SteadyEngine(400)
    const executor = createExecutor({ mode: 'wasm', logger: silentLogger, engine })
    const keys = [bob, carol, dave, key(5)]
    const list = keys.map(from => slow(from, 3))
    const overruns: Hex[] = []
    const source = {
      ...listSource([...list, transfer(alice)]),
      overran: ({ from }: Transaction) => overruns.push(from),
    }
    const limits = { maxBytes: 1_000_000, nowMs: () => engine.clock.ms, deadlineMs: 250, transactionMs: 300 }
    const state = () => withCode(funded([alice, ...keys]), CONTRACT, code(0x00))
    const { transactions } = await executor.build(new Journal(state()), env(), source, limits)
    expect(overruns).toEqual([bob.address, carol.address])
    expect(transactions.map(({ from }) => from)).toEqual([alice.address])
    expect(engine.clock.ms).toBeLessThan(300 + 250 / 2 + 10)
    // Two with half of the time each, then half of the block for one, and what was kept.
    const waiting = { ...source, ...listSource([...list, transfer(alice)]), longestWaiting: list[3]!.hash }
    await executor.build(new Journal(state()), env(), waiting, { ...limits, deadlineMs: engine.clock.ms + 250 })
    expect(overruns.slice(2)).toEqual([bob, carol, key(5)].map(({ address }) => address))
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
  expect(overruns.get(bob.address)).toBe(20)
})

test('a block has no more gas than its budget, but for a first transaction and for transfers', async () => {
  const list = [slow(alice, 5), slow(bob, 5), transfer(carol)]
  const froms = async (maxGas: bigint) =>
    (await build(list, { buildMs: 1_000, maxGas })).built.transactions.map(({ from }) => from)
  expect(await froms(10_000_000n)).toEqual([alice, bob, carol].map(({ address }) => address))
  expect(await froms(9_999_999n)).toEqual([alice, carol].map(({ address }) => address))
  expect(await froms(0n)).toEqual([alice, carol].map(({ address }) => address))
})

test('passing over what has no room takes time of the block', async () => {
  let passed = 0
  const next = () => (passed++ === 0 ? slow(alice, 3) : passed < 10_000 ? slow(bob, 3) : undefined)
  // A read of an account each, a millisecond.
  const budget = { buildMs: 50, transferMs: 20, maxGas: 4_000_000n, nowMs: () => passed }
  const { froms } = await build([], budget, world(), { next })
  expect(froms).toEqual([alice.address])
  expect(passed).toBeLessThan(80)
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
    const whole = Number(maxBlockExecutionGas / (maxTxExecutionGas as bigint))
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
  const executor = createExecutor({ mode: 'wasm', logger: silentLogger })
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
  const executor = createExecutor({ mode: 'wasm', logger: silentLogger })
  const trial = async (...body: readonly number[]): Promise<number | undefined> => {
    const overruns: number[] = []
    // JUMPDEST, PUSH0 six times, the body, PUSH0, JUMP.
    const state = withCode(world(), CONTRACT, code(0x5b, ...Array<number>(6).fill(0x5f), ...body, 0x5f, 0x56))
    const source = {
      ...listSource([signed(bob, { to: CONTRACT, gasLimit: 80_000_000n })]),
      overran: (_: Transaction, ranMs: number) => overruns.push(ranMs),
    }
    // The clock stands still: only logs can use up the time.
    const limits = { maxBytes: 1_000_000, nowMs: () => 0, deadlineMs: 1_000, transactionMs: 1 }
    await executor.build(new Journal(state), env(), source, limits)
    return overruns[0]
  }
  // LOG4, or POP six times.
  expect(await trial(0xa4)).toBeGreaterThanOrEqual(1)
  expect(await trial(...Array<number>(6).fill(0x50))).toBeUndefined()
})

test('what is loaded before the first transaction of a process takes no time from it', async () => {
  const { engine, clock } = { engine: new SteadyEngine(), clock: { ms: 0 } }
  const loaded = createEngineRunner({ loaded: engine, load: async () => engine }, silentLogger)
  const runner = {
    ...loaded,
    async begin(...args: Parameters<typeof loaded.begin>) {
      clock.ms += 5_000
      return loaded.begin(...args)
    },
  }
  const budget = { maxBytes: 1_000_000, nowMs: () => clock.ms, deadlineMs: 250, transactionMs: 1_000 }
  const source = listSource([signed(bob, { to: CONTRACT, gasLimit: 100_000n }), transfer(alice)])
  const { transactions } = await buildBlock(runner, new Journal(world()), env(), source, budget, [])
  expect(transactions.map(({ from }) => from)).toEqual([bob.address, alice.address])
})
