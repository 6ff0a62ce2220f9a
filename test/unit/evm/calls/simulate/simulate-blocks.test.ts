import { bytesToBigint, bytesToHex, EMPTY_BYTES, type Hex, toWord } from '@tandem/base/bytes.ts'
import type { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../../devtools/interpreter/engine.ts'
import { SIMULATE_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { NETWORKS } from '../../../../../src/config/networks.ts'
import type { CallMessage } from '../../../../../src/evm/calls/message/call-args.ts'
import type { CallContext } from '../../../../../src/evm/calls/message/call-message.ts'
import { simulateBlocks } from '../../../../../src/evm/calls/simulate/simulate-blocks.ts'
import type { HashBlocks, PlannedBlock, SimulationPlan } from '../../../../../src/evm/calls/simulate/types.ts'
import type { CallError } from '../../../../../src/evm/engine.ts'
import { createPrefetchedReader } from '../../../../../src/evm/prefetched-reader.ts'
import { nextBaseFee } from '../../../../../src/rules/money/base-fee.ts'
import type { MemoryState } from '../../../state/memory-state.ts'
import { code, env, funded, GWEI, key, TOKEN, withCode } from '../../world.ts'

const [rich, poor] = [key(1), key(2)]
const BASE = 1_000
const COUNTER: Hex = `0x${'0c'.repeat(20)}`
const PROBE: Hex = `0x${'0d'.repeat(20)}`
const LOGGER: Hex = `0x${'0e'.repeat(20)}`
/** slot 0 + 1, stored and answered. */
const COUNT = code(0x5f, 0x54, 0x60, '01', 0x01, 0x80, 0x5f, 0x55, 0x5f, 0x52, 0x60, '20', 0x5f, 0xf3)
/** BLOCKHASH(NUMBER - 1). */
const PARENT_HASH = code(0x60, '01', 0x43, 0x03, 0x40, 0x5f, 0x52, 0x60, '20', 0x5f, 0xf3)
/** LOG0 of a million bytes. */
const LOG_MUCH = code(0x62, '0f4240', 0x5f, 0xa0)

const world = (): MemoryState =>
  withCode(withCode(withCode(funded([rich], TOKEN), COUNTER, COUNT), PROBE, PARENT_HASH), LOGGER, LOG_MUCH)

const context = (more: Partial<CallContext> = {}): CallContext => ({
  reader: world(),
  prefetch: undefined,
  env: env({ number: BASE }),
  engine: createInterpreter(),
  interrupt: undefined,
  ...more,
})

const call = (message: Partial<CallMessage> = {}): CallMessage => ({
  from: rich.address,
  to: COUNTER,
  value: 0n,
  data: EMPTY_BYTES,
  ...message,
})

const block = (number: number, calls: readonly CallMessage[], more: Partial<PlannedBlock> = {}): PlannedBlock => {
  const { params, blockHash, stateRoot, baseFeePerGas, ...plain } = env({ number })
  return { env: plain, baseFeePerGas: undefined, state: {}, calls, ...more }
}

const hashOf = (number: number): Hex => toWord(BigInt(number * 7))
const hash: HashBlocks = async blocks => blocks.map(({ env }) => hashOf(env.number))

const plan = (blocks: readonly PlannedBlock[], more: Partial<SimulationPlan> = {}): SimulationPlan => ({
  number: BASE,
  validation: false,
  traceTransfers: false,
  gas: 100_000_000n,
  base: {
    number: BASE,
    hash: hashOf(BASE),
    gasLimit: 999_999_999_999n,
    gasUsed: 40_000_000n,
    baseFeePerGas: 50n * GWEI,
  },
  blocks,
  ...more,
})

const run = (blocks: readonly PlannedBlock[], more: Partial<SimulationPlan> = {}, on = context(), from = hash) =>
  simulateBlocks(on, plan(blocks, more), from)

const refusal = async (promise: Promise<unknown>): Promise<CallError> =>
  promise.then(
    () => {
      throw new Error('nothing was refused')
    },
    (error: CodedError<CallError>) => error.detail,
  )
const numbers = (blocks: Awaited<ReturnType<typeof run>>) =>
  blocks.map(({ calls }) => calls.map(({ output }) => bytesToBigint(output)))

describe('calls', () => {
  test('stand on what those before them left, over blocks', async () => {
    const blocks = await run([block(BASE + 1, [call(), call()]), block(BASE + 2, []), block(BASE + 3, [call()])])
    expect(numbers(blocks)).toEqual([[1n, 2n], [], [3n]])
    expect(blocks.map(({ changes }) => changes?.entries)).toEqual([3, undefined, 3])
    expect(blocks[0]?.execution.transactions.map(({ nonce }) => Number(nonce))).toEqual([0, 1])
    expect(blocks[2]?.execution.receipts[0]?.cumulativeGasUsed).toBe(blocks[2]?.execution.gasUsed)
  })

  test('see overrides of their own block and of those before', async () => {
    const state = { [COUNTER]: { stateDiff: { [toWord(0n)]: toWord(41n) } } }
    const blocks = await run([block(BASE + 1, [call()], { state }), block(BASE + 2, [call()])])
    expect(numbers(blocks)).toEqual([[42n], [43n]])
  })

  test('an override that sets nothing makes no account', async () => {
    const precompile: Hex = `0x${'1'.padStart(40, '0')}`
    const state = { [PROBE]: {}, [precompile]: { movePrecompileTo: poor.address } }
    const [done] = await run([block(BASE + 1, [], { state })])
    expect(done?.changes).toBeNull()
  })

  test('a failed one stands in its block with its gas, and leaves nothing', async () => {
    const state = { [PROBE]: { code: code(0x60, '20', 0x5f, 0xfd) }, [LOGGER]: { code: code(0xfe) } }
    const calls = [call({ to: PROBE }), call({ to: LOGGER, gas: 50_000n })]
    const [done] = await run([block(BASE + 1, calls, { state })])
    expect(done?.calls.map(({ failure }) => failure)).toEqual([
      { kind: 'revert' },
      { kind: 'halt', reason: 'invalid opcode' },
    ])
    expect(done?.calls[0]?.output).toHaveLength(32)
    expect(done?.calls[1]?.gasUsed).toBe(50_000n)
    expect(done?.execution.receipts.map(({ status }) => status)).toEqual([0, 0])
  })

  test('are the same on a state that is read with promises', async () => {
    const state = world()
    const source = createPrefetchedReader({
      account: async address => state.account(address),
      storage: async (address, slot) => state.storage(address, slot),
      code: async address => state.code(address),
      release: () => {},
    })
    const blocks = [block(BASE + 1, [call(), call({ to: poor.address, value: 5n })]), block(BASE + 2, [call()])]
    const strict = { validation: true }
    const priced = blocks.map(one => ({
      ...one,
      calls: one.calls.map(c => ({ ...c, gas: 60_000n, gasPrice: 60n * GWEI })),
    }))
    expect(await run(priced, strict, context(source))).toEqual(await run(priced, strict))
  })
})

describe('hashes of simulated blocks', () => {
  test('are asked for when code wants one, and not before', async () => {
    let asked: number[] = []
    const counting: HashBlocks = async blocks => {
      asked.push(blocks.length)
      return hash(blocks)
    }
    const probes = [1, 2, 3].map(i => block(BASE + i, [call({ to: PROBE }), call({ to: PROBE })]))
    const blocks = await run(probes, {}, context(), counting)
    expect(numbers(blocks)).toEqual([0, 1, 2].map(i => Array(2).fill(BigInt(hashOf(BASE + i)))))
    // Each block once.
    expect(asked).toEqual([1, 1])
    asked = []
    await run([block(BASE + 1, [call()]), block(BASE + 2, [call()])], {}, context(), counting)
    expect(asked).toEqual([])
  })

  test('are bounded in the work they make', async () => {
    const slots = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [toWord(BigInt(i)), toWord(1n)]))
    const first = block(BASE + 1, [], { state: { [LOGGER]: { stateDiff: slots } } })
    const probes = Array.from({ length: 10 }, (_, i) => block(BASE + 2 + i, [call({ to: PROBE })]))
    expect(await refusal(run([first, ...probes]))).toMatchObject({
      code: 'SIMULATION_LIMIT',
      what: expect.stringContaining('hashes'),
    })
  })
})

describe('fees', () => {
  test('without validation no call pays fees, and the base fee is zero', async () => {
    const [done] = await run([block(BASE + 1, [call({ from: poor.address })])])
    expect(done?.env.baseFeePerGas).toBe(0n)
    expect(done?.execution.transactions[0]).toMatchObject({ type: 2, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })
  })

  test('with validation the base fee moves by the rule of the chain', async () => {
    const { baseFee } = NETWORKS.devnet
    const { base } = plan([])
    const blocks = await run([block(BASE + 1, []), block(BASE + 2, [])], { validation: true })
    const first = nextBaseFee(base, baseFee)
    expect(first).toBeGreaterThan(base.baseFeePerGas)
    const second = nextBaseFee({ ...base, number: BASE + 1, gasUsed: 0n, baseFeePerGas: first }, baseFee)
    expect(blocks.map(({ env }) => env.baseFeePerGas)).toEqual([first, second])
  })

  test('what a block takes is shared at its end', async () => {
    const price = 60n * GWEI
    const [done] = await run([block(BASE + 1, [call({ gasPrice: price, gas: 100_000n })])], { validation: true })
    const used = done?.execution.gasUsed ?? 0n
    expect(done?.execution.fees.burnt).toBe((used * price) / 2n)
    // Sender, counter, slot, and the three who get shares.
    expect(done?.changes?.entries).toBe(6)
  })
})

describe('is refused', () => {
  const strict = { validation: true }
  const invalid = (code: string, index = 0) => ({
    code: 'SIMULATION_CALL_INVALID',
    number: BASE + 1,
    index,
    reason: { code },
  })
  test.each<[string, CallMessage, object, object]>([
    ['a sender without funds', call({ from: poor.address, value: 1n }), {}, invalid('INSUFFICIENT_FUNDS')],
    ['too little gas', call({ gas: 0n }), {}, invalid('INTRINSIC_GAS')],
    ['more gas than a block has', call({ gas: 10n ** 12n }), {}, invalid('GAS_LIMIT_TOO_HIGH')],
    [
      'init code that is too long',
      call({ to: null, data: new Uint8Array(49_153) }),
      {},
      invalid('INIT_CODE_TOO_LARGE'),
    ],
    ['a fee below the base fee', call({ maxFeePerGas: 1n }), strict, invalid('FEE_BELOW_BASE_FEE')],
    ['no fee where fees count', call(), strict, invalid('FEE_BELOW_BASE_FEE')],
    ['a nonce that is used', call({ nonce: -1, gasPrice: 60n * GWEI }), strict, invalid('NONCE_TOO_LOW')],
    ['a nonce to come', call({ nonce: 1, gasPrice: 60n * GWEI }), strict, invalid('NONCE_TOO_HIGH')],
  ])('%s', async (_, message, more, detail) => {
    expect(await refusal(run([block(BASE + 1, [message])], more))).toMatchObject(detail)
  })

  test('without validation a nonce is shown and does not count', async () => {
    const [done] = await run([block(BASE + 1, [call({ nonce: 77 }), call()])])
    expect(done?.execution.transactions.map(({ nonce }) => Number(nonce))).toEqual([77, 1])
  })

  test.each([
    ['a precompile that is none', { [COUNTER]: { movePrecompileTo: PROBE } }, 'NOT_A_PRECOMPILE'],
    [
      'one moved to itself',
      { [`0x${'1'.padStart(40, '0')}`]: { movePrecompileTo: `0x${'1'.padStart(40, '0')}` } },
      'PRECOMPILE_MOVED_TO_ITSELF',
    ],
    [
      'one moved to an account with overrides',
      { [`0x${'1'.padStart(40, '0')}`]: { movePrecompileTo: PROBE }, [PROBE]: { balance: 1n } },
      'ALREADY_OVERRIDDEN',
    ],
    ['two kinds of storage', { [PROBE]: { state: {}, stateDiff: {} } }, 'OVERRIDE_CONFLICT'],
  ])('%s', async (_, state, code) => {
    expect(await refusal(run([block(BASE + 1, [], { state } as Partial<PlannedBlock>)]))).toMatchObject({ code })
  })
})

describe('bounds', () => {
  const limit = (what: RegExp) => ({ code: 'SIMULATION_LIMIT', what: expect.stringMatching(what) })

  test('all calls share their gas; what is left is what a call without a limit gets', async () => {
    const forever = { [PROBE]: { code: code(0x5b, 0x5f, 0x56) } }
    const calls = [call(), call({ to: PROBE })]
    const [done] = await run([block(BASE + 1, calls, { state: forever })], { gas: 300_000n })
    const [first, second] = done?.execution.transactions ?? []
    expect(first?.gasLimit).toBe(300_000n)
    expect(second?.gasLimit).toBe(300_000n - (done?.calls[0]?.gasUsed ?? 0n))
    expect(done?.calls[1]?.failure).toEqual({ kind: 'halt', reason: 'out of gas' })
    const more = [block(BASE + 1, calls, { state: forever }), block(BASE + 2, [call()])]
    expect(await refusal(run(more, { gas: 300_000n }))).toMatchObject(limit(/300000 gas/))
  })

  test('answers are bounded in bytes', async () => {
    const calls = Array(9).fill(call({ to: LOGGER }))
    expect(await refusal(run([block(BASE + 1, calls)]))).toMatchObject(limit(/bytes/))
  })

  test('changes are bounded', async () => {
    const half = SIMULATE_LIMITS.changes / 2
    const blocks = [1, 2, 3].map(i => {
      const slots = Array.from({ length: half }, (_, k) => [toWord(BigInt(k)), toWord(BigInt(i))])
      return block(BASE + i, [], { state: { [LOGGER]: { stateDiff: Object.fromEntries(slots) } } })
    })
    expect(await refusal(run(blocks))).toMatchObject(limit(/changed/))
  })

  test('an interrupt ends a simulation between its calls, however small these are', async () => {
    let turns = 0
    const interrupt = { sliceMs: 0, giveWay: async () => {}, shouldStop: () => ++turns > 3 }
    const transfers = Array(10).fill(call({ to: poor.address, value: 1n }))
    const error = await refusal(run([block(BASE + 1, transfers)], {}, context({ interrupt })))
    expect(error).toMatchObject({ code: 'EXECUTION_INTERRUPTED' })
    expect(turns).toBe(4)
  })
})

test('transfers are logged beside what code logs, and stand in no receipt', async () => {
  const calls = [call({ to: poor.address, value: 3n }), call({ value: 4n }), call({ to: poor.address })]
  const [done] = await run([block(BASE + 1, calls)], { traceTransfers: true })
  const seen = done?.calls.map(({ logs }) => logs.map(({ data }) => bytesToBigint(data)))
  expect(seen).toEqual([[3n], [4n], []])
  expect(done?.execution.receipts.flatMap(({ logs }) => logs)).toEqual([])
  expect(bytesToHex(done?.execution.logsBloom ?? EMPTY_BYTES)).toBe(`0x${'00'.repeat(256)}`)
})
