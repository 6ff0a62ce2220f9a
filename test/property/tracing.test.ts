import { bytesToHex, type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { Replay } from '../../src/evm/block/replay.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import { assignFees } from '../../src/rules/money/fees.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { SEED } from '../support/seed.ts'
import { createStepOracle, type OracleStep } from '../support/step-oracle.ts'
import { CALLS, engine, PRESTATE, STRUCT_LOGS, traceAll } from '../support/trace.ts'
import { ample, env, listSource } from '../unit/evm/world.ts'
import { type MemoryState, memoryAccount } from '../unit/state/memory-state.ts'
import { createRandom, randomTransactions, setUpZoo } from './executor-plans.ts'

/*
 * Random transactions over a zoo of contracts, traced, and held against what is known otherwise: EthereumJS' own step events, the
 * receipts, and what the block changed. COUNT= for a longer run, SEED= for another one.
 */
const COUNT = Number(process.env['COUNT'] ?? 60)
const PER_BLOCK = 20

interface StructLog extends Omit<OracleStep, 'refund' | 'cost' | 'memory'> {
  readonly gasCost: number
  readonly refund?: number
  readonly memory?: readonly string[]
  readonly error?: string
}
interface StructLogs {
  readonly gas: number
  readonly failed: boolean
  readonly structLogs: readonly StructLog[]
}
interface Frame {
  readonly gasUsed: Hex
  readonly error?: string
  readonly logs?: readonly {
    readonly address: Hex
    readonly topics: readonly Hex[]
    readonly data: Hex
    readonly index: Hex
  }[]
  readonly calls?: readonly Frame[]
}
interface Shown {
  readonly balance?: Hex
  readonly nonce?: number
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}
interface Difference {
  readonly pre: Readonly<Record<Hex, Shown>>
  readonly post: Readonly<Record<Hex, Shown>>
}

/** Opcodes whose price is not what the next step has less: frames run in between. */
const OPENS_FRAME = /^(CALL|CALLCODE|DELEGATECALL|STATICCALL|CREATE|CREATE2)$/

const ENDS_FRAME = /^(STOP|RETURN|REVERT|SELFDESTRUCT)$/

const nameOf = (op: string): string => (/not defined/.test(op) ? 'INVALID' : op)

/** Of ours EthereumJS shows no STOP behind the end of the code, where it just ends, and no REVERT without its operands. */
const comparable = (ours: readonly StructLog[], oracle: readonly OracleStep[]): readonly StructLog[] => {
  let at = 0
  return ours.filter(step => {
    const other = oracle[at]
    if (step.op === 'REVERT' && step.error?.startsWith('stack underflow')) return false
    if (step.op === 'STOP' && !(other?.op === 'STOP' && other.pc === step.pc && other.depth === step.depth))
      return false
    at++
    return true
  })
}

const compareSteps = (ours: readonly StructLog[], oracle: readonly OracleStep[]): void => {
  const steps = comparable(ours, oracle)
  const plain = steps.map(({ pc, op, gas, depth, stack, memory = [] }) => ({
    pc,
    op: nameOf(op),
    gas,
    depth,
    stack,
    memory: memory.map(word => word.slice(2)).join(''),
  }))
  expect(plain).toEqual(oracle.map(({ pc, op, gas, depth, stack, memory }) => ({ pc, op, gas, depth, stack, memory })))
  for (const [i, { op, gasCost, refund = 0, depth }] of steps.entries()) {
    const other = oracle[i] as OracleStep
    // Only one of the two tracers prices an opcode that ends its frame by failing.
    const next = steps[i + 1]
    if ((next === undefined || next.depth < depth) && !ENDS_FRAME.test(op)) continue
    expect([i, op, refund]).toEqual([i, op, other.refund])
    if (!OPENS_FRAME.test(op) && nameOf(op) !== 'INVALID') expect([i, op, gasCost]).toEqual([i, op, other.cost])
  }
}

/** Within a frame the next step has what the last one left. */
const checkGasChain = (steps: readonly StructLog[]): void => {
  for (const [i, step] of steps.entries()) {
    const next = steps[i + 1]
    if (next === undefined || next.depth !== step.depth || OPENS_FRAME.test(step.op)) continue
    expect([i, step.op, next.gas]).toEqual([i, step.op, step.gas - step.gasCost])
  }
}

const frames = (root: Frame): readonly Frame[] => [root, ...(root.calls ?? []).flatMap(frames)]

const apply = (state: MemoryState, { pre, post }: Difference): void => {
  for (const address of Object.keys(pre) as Hex[]) if (post[address] === undefined) state.accounts.delete(address)
  for (const [address, shown] of Object.entries(post) as [Hex, Shown][]) {
    const account = state.accounts.get(address) ?? memoryAccount()
    state.accounts.set(address, account)
    if (shown.balance !== undefined) account.balance = BigInt(shown.balance)
    if (shown.nonce !== undefined) account.nonce = shown.nonce
    for (const slot of Object.keys(pre[address]?.storage ?? {}) as Hex[]) account.storage.delete(slot)
    for (const [slot, word] of Object.entries(shown.storage ?? {}) as [Hex, Hex][]) account.storage.set(slot, word)
    if (shown.code === undefined) continue
    const journal = new Journal(state)
    journal.setCode(address, Buffer.from(shown.code.slice(2), 'hex'))
    account.codeHash = journal.codeHash(address)
    state.codes.set(account.codeHash, journal.code(address))
  }
}

const credit = (state: MemoryState, address: Hex, wei: bigint): void => {
  if (wei === 0n) return
  const account = state.accounts.get(address) ?? memoryAccount()
  state.accounts.set(address, account)
  account.balance += wei
}

test(
  `${COUNT} random transactions are traced as they ran (SEED=${SEED})`,
  async () => {
    const { world, deploys, state } = await setUpZoo(createRandom(SEED))
    const executor = createExecutor({ mode: 'wasm', logger: silentLogger, engine })
    const oracle = createStepOracle()
    const nonces = new Map<Hex, number>()
    let before = state
    let [done, steps, calls, failures] = [0, 0, 0, 0]
    for (let number = 1_000; done < COUNT; number++) {
      const candidates = number === 1_000 ? deploys : randomTransactions(world, nonces, PER_BLOCK)
      const block = env({ number, timestamp: number * 2 })
      const journal = new Journal(before)
      const built = await executor.build(journal, block, listSource(candidates), ample)
      const { transactions, receipts } = built
      for (const { transaction } of built.dropped)
        nonces.set(transaction.from, Number(before.account(transaction.from)?.nonce ?? 0))

      const logs = await traceAll(before, block, transactions, { ...STRUCT_LOGS, enableMemory: true })
      const trees = await traceAll(before, block, transactions, CALLS)
      const differences = await traceAll(before, block, transactions, { ...PRESTATE, diffMode: true })
      const replay = await Replay.begin({
        reader: before,
        prefetch: undefined,
        env: block,
        engine: oracle,
        interrupt: undefined,
      })
      const after = before.copy()
      for (const [i, tx] of transactions.entries()) {
        oracle.steps = []
        await replay.trace(
          tx as Transaction,
          { blockHash: toWord(0n), index: i },
          { tracer: { result: () => [] }, backpressure: NEVER_FULL },
        )
        const trace = logs[i]?.json as StructLogs
        const tree = trees[i]?.json as Frame
        const receipt = receipts[i]
        compareSteps(trace.structLogs, oracle.steps)
        checkGasChain(trace.structLogs)
        expect(trace.gas).toBe(Number(receipt?.gasUsed))
        expect(trace.failed).toBe(receipt?.status === 0)
        expect(BigInt(tree.gasUsed)).toBe(receipt?.gasUsed)
        expect(tree.error === undefined).toBe(receipt?.status === 1)
        // Of the data of logs a trace keeps only what it shows.
        const shown = frames(tree).flatMap(frame => frame.logs ?? [])
        const inOrder = shown.toSorted((a, b) => Number(a.index) - Number(b.index))
        expect(inOrder.map(({ address, topics, data }) => ({ address, topics, data }))).toEqual(
          receipt?.logs.map(({ address, topics, data }) => ({ address, topics, data: bytesToHex(data) })),
        )
        expect(logs[i]?.receipt).toEqual(receipt)
        apply(after, differences[i]?.json as Difference)
        steps += trace.structLogs.length
        calls += frames(tree).length
        failures += frames(tree).filter(({ error }) => error !== undefined).length
      }
      const fees = assignFees(
        receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n),
        block.params.feeShares,
        block.miner,
      )
      credit(after, block.proposerReward, fees.proposer)
      credit(after, block.miner, fees.miner)
      credit(after, block.foundation, fees.foundation)
      before = before.with(journal.changes())
      expect(after.plain()).toEqual(before.plain())
      done += transactions.length
    }
    console.log(`${done} transactions: ${steps} steps, ${calls} frames, ${failures} of them failed`)
    expect(calls).toBeGreaterThan(done)
    expect(failures).toBeGreaterThan(done / 10)
  },
  24 * 3_600_000,
)

const NEVER_FULL = { isFull: false, drained: () => Promise.resolve() }
