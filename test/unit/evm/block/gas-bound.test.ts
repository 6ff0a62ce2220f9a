import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import type { EngineMessage } from '../../../../src/evm/engine.ts'
import type { Transaction } from '../../../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { randomCase } from '../../../property/evm/cases.ts'
import { createRandom } from '../../../property/executor-plans.ts'
import { outcomeOf } from '../../../support/evm/compare.ts'
import { SEED } from '../../../support/seed.ts'
import type { MemoryState } from '../../state/memory-state.ts'
import { ENGINES, engineOf, executorOf } from '../engines/engines.ts'
import { env, funded, key, messageTo, paramsAt, signed, withCode } from '../world.ts'

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const HELPER: Hex = `0x${'dd'.repeat(20)}`
const BOUND = 1_000_000n
const MOST = 100_000_000n
/** Between two looks at the bound the slower engine may run this much gas. */
const SLACK = 5_000_000n
const COLD_SLOT = 2_100n

const bytes = (code: string): Uint8Array => hexToBytes(`0x${code}`)
const stateWith = (code: string): MemoryState => withCode(funded([sender]), TARGET, bytes(code))
const block = env({ params: paramsAt('cancun') })

/** Reads new slots for ever: the reads tell how far it got. */
const READS = '5b5a54505f56'
const message = (fields: Partial<EngineMessage> = {}): EngineMessage => messageTo(TARGET, MOST, sender, fields)

/** A journal, and the words that were read of the state behind it. */
const watched = (state: MemoryState): { journal: Journal; reads: () => number } => {
  let count = 0
  const journal = new Journal({
    account: address => {
      const account = state.account(address)
      return account && { ...account, storageRoot: toWord(1n) }
    },
    code: address => state.code(address),
    storage: (address, slot) => {
      count++
      return state.storage(address, slot)
    },
  })
  return { journal, reads: () => count }
}

const exceeded = { detail: { code: 'GAS_BOUND_EXCEEDED' } }

describe.each(ENGINES)('the gas bound of a message (%s)', name => {
  const run = async (state: MemoryState, sent: EngineMessage, gasBound?: bigint) => {
    const { journal, reads } = watched(state)
    const engine = await engineOf(name)
    const result = async () => engine.run(journal, block, sent, gasBound === undefined ? {} : { gasBound })
    return { ended: result(), journal, reads }
  }
  const most = Number((BOUND + SLACK) / COLD_SLOT)

  test('stops it soon after', async () => {
    const { ended, reads } = await run(stateWith(READS), message(), BOUND)
    await expect(ended).rejects.toMatchObject(exceeded)
    expect(reads()).toBeLessThan(most)
  })

  test('stops it wherever the bound lies between two opcodes', async () => {
    const engine = await engineOf(name)
    for (let bound = 10_000n; bound < 10_012n; bound++) {
      let slices = 0
      const interrupt = { sliceMs: 0, giveWay: async () => {}, shouldStop: () => ++slices > 1_000 }
      const ended = async () =>
        engine.run(new Journal(stateWith('5b5f56')), block, message(), { interrupt, gasBound: bound })
      await expect(ended(), `bound ${bound}`).rejects.toMatchObject(exceeded)
    }
  })

  test('holds for all frames together', async () => {
    // Each frame takes 50,000 gas for what it reads; the one that calls has time for hundreds.
    const state = stateWith(`5b5f5f5f5f5f73${HELPER.slice(2)}61c350f1505f56`)
    withCode(state, HELPER, bytes(READS))
    const { ended, reads } = await run(state, message(), BOUND)
    await expect(ended).rejects.toMatchObject(exceeded)
    expect(reads()).toBeLessThan(most)
  })

  test('counts the gas of frames that failed', async () => {
    const state = stateWith(`5f5f5f5f5f73${HELPER.slice(2)}5af15b5a5450601c56`)
    withCode(state, HELPER, bytes('fe'))
    const { ended, reads } = await run(state, message(), BOUND)
    await expect(ended).rejects.toMatchObject(exceeded)
    // The call that failed left enough for 700.
    expect(reads()).toBeLessThan(200)
  })

  test('is no gas limit: code sees all of its gas, and running out of it is the failure that it is', async () => {
    const left = stateWith('5a5f5260205ff3')
    const bound = (await (await run(left, message(), BOUND)).ended).output
    expect(bound).toEqual((await (await run(left, message())).ended).output)
    const short = message({ gas: 500_000n })
    await expect((await run(stateWith(READS), short, BOUND)).ended).resolves.toMatchObject({
      gasUsed: 500_000n,
      failure: { kind: 'halt', reason: 'out of gas' },
    })
    const atBound = message({ gas: BOUND })
    await expect((await run(stateWith(READS), atBound, BOUND)).ended).resolves.toMatchObject({ gasUsed: BOUND })
  })

  test('a precompile that needs more than the bound leaves has exceeded it; one that needs more than its gas has failed', async () => {
    // blake2f of 50 M rounds, a gas each, whose input is 213 bytes of zeros but for the count.
    const call = (gas: string) => `6302faf08060e01b5f525f5f60d55f6009${gas}fa5f5260205ff3`
    await expect((await run(stateWith(call('5a')), message(), BOUND)).ended).rejects.toMatchObject(exceeded)
    const { output } = await (await run(stateWith(call('620186a0')), message(), BOUND)).ended
    expect(output).toEqual(hexToBytes(toWord(0n)))
    const direct = message({
      to: '0x0000000000000000000000000000000000000009',
      data: bytes(`02faf080${'00'.repeat(209)}`),
    })
    await expect((await run(stateWith(''), direct, BOUND)).ended).rejects.toMatchObject(exceeded)
  })

  test('a message that keeps to it comes to the same', async () => {
    const engine = await engineOf(name)
    for (let i = 0; i < 40; i++) {
      const { state, env: at, message: sent } = randomCase(createRandom(SEED + i))
      const free = await outcomeOf(engine, state, at, sent)
      const { gasUsed } = await engine.run(new Journal(state), at, sent)
      const bound = await outcomeOf(engine, state, at, sent, { gasBound: gasUsed })
      expect(bound.text, `SEED=${SEED + i}`).toBe(free.text)
    }
  })
})

describe.each(ENGINES)('a block that understates its gas (%s)', name => {
  const executor = executorOf(name)
  const transaction = (fields = {}): Transaction => signed(sender, { to: TARGET, gasLimit: MOST, ...fields })
  const execute = (journal: Journal, list: readonly Transaction[], gasUsed?: bigint) =>
    executor.execute(journal, block, list, [], gasUsed === undefined ? {} : { gasUsed })

  test('is refused before its transaction has run to its end', async () => {
    const { journal, reads } = watched(stateWith(READS))
    await expect(execute(journal, [transaction()], BOUND)).rejects.toMatchObject({
      detail: { code: 'BODY_GAS_USED', index: 0, gasUsed: BOUND },
    })
    // Executed gas may be 5/4 of the gas used after refunds.
    expect(reads()).toBeLessThan(Number(((BOUND * 5n) / 4n + SLACK) / COLD_SLOT))
  })

  test('counts what the transactions before have used', async () => {
    const { journal, reads } = watched(stateWith(READS))
    const list = [transaction({ gasLimit: BOUND }), transaction({ nonce: 1 })]
    await expect(execute(journal, list, BOUND + 500_000n)).rejects.toMatchObject({
      detail: { code: 'BODY_GAS_USED', index: 1 },
    })
    expect(reads()).toBeLessThan(Number((BOUND * 2n + SLACK) / COLD_SLOT))
  })

  test.each([
    ['a loop', READS, 3_000_000n],
    // Clears 40 slots that it has set: the largest refund there is.
    [
      'refunds',
      `${'60015a55'.repeat(20)}${Array.from({ length: 40 }, (_, i) => `5f60${i.toString(16).padStart(2, '0')}55`).join('')}00`,
      3_000_000n,
    ],
  ])('the gas that it does use is enough, a unit less is not: %s', async (_what, code, gasLimit) => {
    const state = stateWith(code)
    for (let i = 0; i < 40; i++) state.accounts.get(TARGET)?.storage.set(toWord(BigInt(i)), toWord(7n))
    const list = [transaction({ gasLimit })]
    const free = await execute(watched(state).journal, list)
    const bound = await execute(watched(state).journal, list, free.gasUsed)
    expect(bound).toEqual(free)
    await expect(execute(watched(state).journal, list, free.gasUsed - 1n)).rejects.toMatchObject({
      detail: { code: 'BODY_GAS_USED', index: 0 },
    })
  })
})
