import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../../src/config/limits.ts'
import type { BuildBudget, Overrun } from '../../../src/evm/execution.ts'
import { createExecutor } from '../../../src/evm/executor.ts'
import type { Transaction } from '../../../src/primitives/transaction.ts'
import { Journal } from '../../../src/state/journal.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { silentLogger } from '../../../src/util/logger.ts'
import { code, env, funded, key, listSource, signed, TOKEN, withCode } from './world.ts'

const alice = key(1)
const bob = key(2)
const carol = key(3)
const dave = key(4)
const executor = createExecutor({ mode: 'fast', logger: silentLogger })
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`
/** JUMPDEST, PUSH0, JUMP: a hundred million gas of it take far longer than any budget here. */
const LOOP = code(0x5b, 0x5f, 0x56)
const world = () => withCode(funded([alice, bob, carol, dave]), CONTRACT, LOOP)

const transfer = (from: typeof alice, nonce = 0): Transaction =>
  signed(from, { nonce, to: `0x${'77'.repeat(20)}`, value: 5n, gasLimit: 21_000n })
const endless = (from: typeof alice, gasLimit = 100_000_000n): Transaction => signed(from, { to: CONTRACT, gasLimit })

/** A block of these candidates; the clock is that of the machine, as the engine's own slices are. */
const build = async (list: readonly Transaction[], budget: { buildMs: number } & Partial<BuildBudget>) => {
  const overruns = new Map<Hex, Overrun>()
  const source = { ...listSource(list), overran: (tx: Transaction, overrun: Overrun) => overruns.set(tx.from, overrun) }
  const journal = new Journal(world())
  const nowMs = () => performance.now()
  const built = await executor.build(journal, env(), source, {
    maxBytes: 1_000_000,
    nowMs,
    deadlineMs: nowMs() + budget.buildMs,
    transactionMs: 20,
    ...budget,
  })
  return { built, overruns, journal }
}

describe('a transaction that does not end', () => {
  test('is stopped even where it stands alone, and the block goes on with others', async () => {
    const { built, overruns, journal } = await build([endless(bob), transfer(alice)], { buildMs: 1_000 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
    expect(built.dropped).toEqual([])
    expect(overruns.get(bob.address)).toMatchObject({ isProven: true })
    expect(journal.nonce(bob.address)).toBe(0)
    expect(journal.balance(bob.address)).toBe(1_000_000n * TOKEN)
  })

  test('costs those behind it none of their time: the block has what it would have without', async () => {
    // The stopped one alone takes longer than the whole budget.
    const { built } = await build([endless(bob), transfer(alice), transfer(carol)], { buildMs: 10, transactionMs: 40 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address, carol.address])
  })

  test('is not condemned where it did not have all the time that one may take', async () => {
    const { overruns } = await build([transfer(alice), endless(bob)], { buildMs: 20, transactionMs: 10_000 })
    expect(overruns.get(bob.address)).toMatchObject({ isProven: false })
  })

  test('and was stopped takes its sender with it', async () => {
    const list = [endless(bob), signed(bob, { nonce: 1, to: alice.address, gasLimit: 21_000n }), transfer(alice)]
    const { built } = await build(list, { buildMs: 1_000 })
    expect(built.transactions.map(tx => tx.from)).toEqual([alice.address])
  })

  test('is all that a block tries: others of much gas wait, those of little do not', async () => {
    const list = [endless(bob), endless(carol), endless(dave, LIMITS.block.lightGas), transfer(alice)]
    const { built, overruns } = await build(list, { buildMs: 5_000 })
    expect([...overruns.keys()]).toEqual([bob.address])
    expect(built.transactions.map(tx => tx.from)).toEqual([dave.address, alice.address])
  })
})

test('a long transaction goes in alone, beyond the time of a block', async () => {
  const { built, overruns } = await build([endless(bob, 1_000_000n), transfer(alice)], {
    buildMs: 1,
    transactionMs: 60_000,
  })
  expect(built.transactions.map(tx => tx.from)).toEqual([bob.address])
  expect(overruns.size).toBe(0)
})

test('a block that nobody wants any more is left at once', async () => {
  const stopping = new AbortController()
  const building = build([endless(bob)], { buildMs: 60_000, transactionMs: 60_000, signal: stopping.signal })
  setTimeout(() => stopping.abort(), 5)
  await expect(building).rejects.toMatchObject({ detail: { code: 'EXECUTION_INTERRUPTED' } })
})

test('a proposal that nobody wants judged any more is left at once, within a transaction', async () => {
  const stopping = new AbortController()
  const executing = executor.execute(new Journal(world()), env(), [endless(bob)], [], { signal: stopping.signal })
  setTimeout(() => stopping.abort(), 5)
  await expect(executing).rejects.toMatchObject({ detail: { code: 'EXECUTION_INTERRUPTED' } })
})
