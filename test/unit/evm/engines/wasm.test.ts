import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test, vi } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { sign } from '../../../../src/crypto/signature.ts'
import type { Engine, EngineMessage } from '../../../../src/evm/engine.ts'
import { dropIdleMachines, forgetDroppedMachines, machineBytes } from '../../../../src/evm/engines/wasm/pool.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { createPrefetchedReader } from '../../../../src/evm/prefetched-reader.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { AsyncStateReader } from '../../../../src/state/state-reader.ts'
import { randomCase } from '../../../property/evm/cases.ts'
import { createRandom } from '../../../property/executor-plans.ts'
import { outcomeOf } from '../../../support/evm/compare.ts'
import { SEED } from '../../../support/seed.ts'
import { env, funded, key, messageTo, withCode } from '../world.ts'

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const MIB = 1024 * 1024

/** An engine that counts what it hands on. */
const counted = (): { engine: Engine; oracle: Engine; elsewhere: () => number } => {
  const oracle = createInterpreter()
  let count = 0
  const engine = createWasmEngine(() => {
    count++
    return oracle
  })
  return { engine, oracle, elsewhere: () => count }
}

const message = (overrides: Partial<EngineMessage> = {}): EngineMessage =>
  messageTo(TARGET, 1_000_000n, sender, overrides)

const stateWith = (code: string) => withCode(funded([sender]), TARGET, hexToBytes(`0x${code}`), 5n)

/** Repeats a piece of code for ever. */
const forever = (body: string): string => `5b${body}5f56`

describe('hostile code', () => {
  test.each([
    ['calls itself as deep as gas goes', '5f5f5f5f5f305af1', 30_000_000n],
    ['delegates to itself as deep as gas goes', '5f5f5f5f305af4', 30_000_000n],
    ['creates itself', '385f5f39385f5ff0', 20_000_000n],
    ['creates the largest init code again and again', forever('61c0005f5ff050'), 20_000_000n],
    ['fills the stack', forever('5a'), 1_000_000n],
    ['reads what it does not have', '50', 1_000_000n],
    ['asks for memory without end', '5f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff52', 1_000_000n],
    ['pays for much memory', '5f62ffffe052', 30_000_000n],
    ['jumps into push data', '600356605b', 1_000_000n],
    ['jumps beyond its end', '61ffff56', 1_000_000n],
    ['ends in the middle of a push', '7f01', 1_000_000n],
    ['logs without end', forever('6103e85fa0'), 10_000_000n],
    ['reads new slots without end', forever('5a5450'), 10_000_000n],
    ['writes new slots without end', forever('60015a55'), 30_000_000n],
    ['writes one slot without end', forever('5a5f55'), 10_000_000n],
    ['asks after new accounts without end', forever('5a3150'), 10_000_000n],
    ['writes transient slots without end', forever('60015a5d'), 10_000_000n],
    ['copies memory over itself', forever('6104005f60205e'), 3_000_000n],
    ['destroys itself for itself', '30ff', 1_000_000n],
    ['returns much and reads it again', '61ffff5ff3', 1_000_000n],
    [
      'calls every precompile with nothing',
      '5f5f5f5f60015af4505f5f5f5f60055af4505f5f5f5f60085af4505f5f5f5f60095af450',
      500_000n,
    ],
  ])('%s', async (_what, code, gas) => {
    const { engine, oracle } = counted()
    const [state, block] = [stateWith(code), env()]
    const expected = await outcomeOf(oracle, state, block, message({ gas }))
    expect((await outcomeOf(engine, state, block, message({ gas }))).text).toBe(expected.text)
  })

  test('a message that fills a region runs again on a larger one, and elsewhere only after that', async () => {
    const { engine, oracle, elsewhere } = counted()
    // 20,000 cold slots: more than the smallest layout has.
    const state = stateWith(forever('5a5450'))
    const gas = 43_000_000n
    const expected = await outcomeOf(oracle, state, env(), message({ gas }))
    expect((await outcomeOf(engine, state, env(), message({ gas }))).text).toBe(expected.text)
    expect(elsewhere()).toBe(0)
  })

  test('10,000 contracts of 24 KiB are not kept', async () => {
    const { engine } = counted()
    const before = machineBytes()
    for (let i = 0; i < 10_000; i++) {
      const code = new Uint8Array(24_576).fill(0x5b)
      code.set(hexToBytes(toWord(BigInt(i))), 0)
      code[0] = 0
      const state = withCode(funded([sender]), TARGET, code)
      const { failure } = await engine.run(new Journal(state), env(), message({ gas: 100_000n }))
      expect(failure).toBeNull()
    }
    expect(machineBytes() - before).toBeLessThan(16 * MIB)
  }, 120_000)
})

test('a machine with large memory is dropped when no other message needs one for a while', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { engine } = counted()
    // Machines of earlier tests.
    dropIdleMachines()
    forgetDroppedMachines()
    const before = machineBytes()
    // MSTORE at 9 MiB.
    const state = withCode(funded([sender]), TARGET, hexToBytes('0x5f6290000052'))
    const { failure } = await engine.run(new Journal(state), env(), message({ gas: 400_000_000n }))
    expect(failure).toBeNull()
    expect(machineBytes() - before).toBeGreaterThan(8 * MIB)
    vi.advanceTimersByTime(10_000)
    forgetDroppedMachines()
    expect(machineBytes() - before).toBeLessThan(8 * MIB)
  } finally {
    vi.useRealTimers()
  }
})

test('a state that is read with promises gives the same', async () => {
  const { engine, oracle, elsewhere } = counted()
  for (let i = 0; i < 60; i++) {
    const { state, env: block, message: sent } = randomCase(createRandom(SEED + i))
    const source: AsyncStateReader = {
      account: async address => state.account(address),
      storage: async (address, slot) => state.storage(address, slot),
      code: async address => state.code(address),
      release: () => {},
    }
    const { reader, prefetch } = createPrefetchedReader(source)
    for (const address of [sent.from, block.miner]) await prefetch.code(address)
    const expected = await outcomeOf(oracle, state, block, sent)
    expect((await outcomeOf(engine, reader, block, sent, { prefetch })).text, `SEED=${SEED + i}`).toBe(expected.text)
  }
  expect(elsewhere()).toBe(0)
})

describe('interrupts', () => {
  const endless = stateWith(forever('5a50'))

  test('an endless loop gives way and stops; the journal is as it was', async () => {
    const { engine } = counted()
    const journal = new Journal(endless)
    let turns = 0
    const interrupt = { sliceMs: 0, giveWay: async () => void turns++, shouldStop: () => turns >= 50 }
    const running = engine.run(journal, env(), message({ gas: 10n ** 15n }), { interrupt })
    await expect(running).rejects.toMatchObject({ detail: { code: 'EXECUTION_INTERRUPTED' } })
    expect(turns).toBe(50)
    expect(journal.changes().accounts.size).toBe(0)
  })

  test('messages take turns on machines of their own', async () => {
    const { engine } = counted()
    const interrupt = {
      sliceMs: 0,
      giveWay: () => new Promise<void>(resolve => setImmediate(resolve)),
      shouldStop: () => false,
    }
    const results = await Promise.all(
      Array.from({ length: 6 }, async (_, i) =>
        engine.run(new Journal(endless), env(), message({ gas: BigInt(3_000_000 + i) }), { interrupt }),
      ),
    )
    expect(results.map(({ gasUsed }) => gasUsed)).toEqual(Array.from({ length: 6 }, (_, i) => BigInt(3_000_000 + i)))
  })
})

test('ecrecover and sha256 are those of EthereumJS', async () => {
  const { engine, oracle } = counted()
  const random = createRandom(SEED)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const words = [0n, 1n, order - 1n, order, order / 2n, order / 2n + 1n]
  const state = stateWith('00')
  const inputs = Array.from({ length: 120 }, (_, i) => {
    const digest = random.bytes(32)
    const signature = sign(digest, sender.secret)
    const v = random.chance(8) ? random.word() : BigInt(27 + (signature[64] as number))
    const s = BigInt(bytesToHex(signature.subarray(32, 64)))
    const highS = random.chance(3) ? order - s : s
    const second = random.chance(6) ? random.pick(words) : highS
    const first = random.chance(6) ? random.pick(words) : BigInt(bytesToHex(signature.subarray(0, 32)))
    const whole = concatBytes(digest, ...[v, first, second].map(word => hexToBytes(toWord(word))))
    return i % 10 === 0 ? whole.subarray(0, random.int(130)) : whole
  })
  for (const data of inputs) {
    for (const to of [`0x${'00'.repeat(19)}01`, `0x${'00'.repeat(19)}02`] as const) {
      for (const gas of [100_000n, BigInt(random.int(3_100))]) {
        const expected = await outcomeOf(oracle, state, env(), message({ to, data, gas }))
        expect((await outcomeOf(engine, state, env(), message({ to, data, gas }))).text).toBe(expected.text)
      }
    }
  }
})

test('accesses, transfers as logs and many blobs need no other engine', async () => {
  const { engine, elsewhere } = counted()
  const state = stateWith('5f54')
  const accesses: string[] = []
  const recorder = { address: () => {}, slot: (address: Hex, slot: Hex) => void accesses.push(address + slot) }
  await engine.run(new Journal(state), env(), message(), { accesses: recorder })
  expect(accesses).toEqual([TARGET + toWord(0n)])
  const transfers = await engine.run(new Journal(state), env(), message({ value: 1n }), { transfers: true })
  expect(transfers.tracedLogs).toHaveLength(1)
  const blobVersionedHashes = Array.from({ length: 300 }, (_, i) => toWord(BigInt(i)))
  const last = stateWith('61012b495f5260205ff3')
  const { output } = await engine.run(new Journal(last), env(), message({ blobVersionedHashes }))
  expect(bytesToHex(output)).toBe(toWord(299n))
  expect(elsewhere()).toBe(0)
})

test('a block hash is asked for once in a message, and again in the next', async () => {
  const { engine, oracle } = counted()
  // The hashes of the two blocks before, in turn, for ever; their sum in memory.
  const state = stateWith(forever('6001430340600243034001' + '5f51015f52'))
  const asked: number[] = []
  const block = env()
  const blockHash = (number: number): Hex => {
    asked.push(number)
    return block.blockHash(number)
  }
  const counting = { ...block, blockHash }
  const expected = await outcomeOf(oracle, state, block, message({ gas: 100_000n }))
  expect((await outcomeOf(engine, state, counting, message({ gas: 100_000n }))).text).toBe(expected.text)
  expect(asked).toEqual([block.number - 1, block.number - 2])
  await engine.run(new Journal(state), counting, message({ gas: 100_000n }))
  expect(asked).toHaveLength(4)
})
