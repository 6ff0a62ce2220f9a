import { EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { createLocalCalls, type LocalState } from '../../../../src/evm/calls/local-calls.ts'
import type { CallRequest, CallService } from '../../../../src/evm/calls/types.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { env, funded, key, withCode } from '../world.ts'

const sender = key(1)
const READER: Hex = `0x${'0a'.repeat(20)}`
const LOOP: Hex = `0x${'0b'.repeat(20)}`
const REVERTS: Hex = `0x${'0c'.repeat(20)}`
const WORKS: Hex = `0x${'0d'.repeat(20)}`

const GAS = 200_000n

/** SLOAD(0) as a word; JUMPDEST and back without end; REVERT; 5,000 rounds of 26 gas. */
const world = () => {
  const reads = withCode(funded([sender]), READER, hexToBytes('0x5f545f5260205ff3'))
  reads.accounts.get(READER)?.storage.set(toWord(0n), toWord(7n))
  const works = withCode(reads, WORKS, hexToBytes('0x6113885b6001900380600357'))
  return withCode(withCode(works, LOOP, hexToBytes('0x5b5f56')), REVERTS, hexToBytes('0x5f5ffd'))
}
const request = (to: Hex): CallRequest => ({
  number: 1_000,
  message: { from: sender.address, to, value: 0n, data: EMPTY_BYTES },
})

/** Workers that tell what reached them, and calls that try this thread first. */
const rig = (state: Partial<LocalState> | null = {}, listGas = GAS) => {
  const sent: Hex[] = []
  const runs = { count: 0 }
  const there = async ({ message }: CallRequest) => {
    sent.push(message.to as Hex)
    return { output: Uint8Array.of(1), gasUsed: 1n }
  }
  const workers = {
    call: there,
    estimateGas: async (asked: CallRequest) => {
      await there(asked)
      return 5n
    },
    createAccessList: async (asked: CallRequest) => {
      await there(asked)
      return { accessList: [], gasUsed: 3n }
    },
  } as unknown as CallService
  const interpreter = createInterpreter()
  const engine = createWasmEngine(() => interpreter)
  const local: LocalState = { reader: world(), env: env(), stands: () => true, ...state }
  const calls = createLocalCalls({
    stateFor: async () => (state === null ? undefined : local),
    workers,
    engine: async () => ({
      ...engine,
      run(...args) {
        runs.count++
        return engine.run(...args)
      },
    }),
    // Time enough for any machine: the gas decides.
    bound: { gas: GAS, listGas, ms: 60_000 },
  })
  return { calls, sent, runs }
}

test('a short call is answered in this thread, and so is its failure', async () => {
  const { calls, sent } = rig()
  const { output } = await calls.call(request(READER), 'a')
  expect(Buffer.from(output).toString('hex')).toBe(toWord(7n).slice(2))
  await expect(calls.call(request(REVERTS), 'a')).rejects.toMatchObject({ code: 'EXECUTION_REVERTED' })
  expect(await calls.estimateGas(request(READER), 'a')).toBeGreaterThan(21_000n)
  expect(sent).toEqual([])
})

test('a call without end goes to a worker, which has bounds of its own', async () => {
  const { calls, sent } = rig()
  await expect(calls.call(request(LOOP), 'a')).resolves.toMatchObject({ gasUsed: 1n })
  expect(await calls.estimateGas(request(LOOP), 'a')).toBe(5n)
  expect(await calls.createAccessList(request(LOOP), 'a')).toMatchObject({ gasUsed: 3n })
  expect(sent).toEqual([LOOP, LOOP, LOOP])
})

test('the runs of an estimate share the bound', async () => {
  const { calls, sent } = rig()
  const used = (await calls.call(request(WORKS), 'a')).gasUsed - 21_000n
  expect(used).toBeGreaterThan(GAS / 2n)
  expect(used).toBeLessThan(GAS)
  expect(sent).toEqual([])
  expect(await calls.estimateGas(request(WORKS), 'a')).toBe(5n)
  expect(sent).toEqual([WORKS])
})

test('a call with much data, overrides or authorizations starts in a worker', async () => {
  const { calls, sent, runs } = rig()
  const small = request(READER)
  const data = new Uint8Array(20_000)
  await calls.call({ ...small, message: { ...small.message, data } }, 'a')
  await calls.call({ ...small, message: { ...small.message, authorizationList: [] } }, 'a')
  await calls.call({ ...small, overrides: { [READER]: { balance: 1n } } }, 'a')
  expect(sent).toHaveLength(3)
  expect(runs.count).toBe(0)
})

test('of many endless calls few are tried here', async () => {
  const { calls, sent, runs } = rig()
  for (let i = 0; i < 40; i++) await calls.call(request(LOOP), 'a')
  expect(sent).toHaveLength(40)
  expect(runs.count).toBe(1)
})

test('what was read while the head moved is read again, the failures too', async () => {
  const { calls, sent } = rig({ stands: () => false })
  for (const to of [READER, REVERTS]) await expect(calls.call(request(to), 'a')).resolves.toMatchObject({ gasUsed: 1n })
  expect(sent).toEqual([READER, REVERTS])
})

test('a state that this thread does not hold is read by workers', async () => {
  const { calls, sent } = rig(null)
  await calls.call(request(READER), 'a')
  expect(sent).toEqual([READER])
})

test('access lists start in a worker where they have no gas here', async () => {
  const { calls, sent, runs } = rig({}, 0n)
  expect(await calls.createAccessList(request(READER), 'a')).toMatchObject({ gasUsed: 3n })
  expect([sent, runs.count]).toEqual([[READER], 0])
})

test('data shorter than a selector', async () => {
  const { calls, sent } = rig()
  const small = request(READER)
  for (const bytes of [0, 1, 3, 4, 5]) {
    const data = new Uint8Array(bytes)
    await calls.call({ ...small, message: { ...small.message, data } }, 'a')
  }
  expect(sent).toEqual([])
})
