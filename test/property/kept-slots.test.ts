import { toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Engine, EngineMessage } from '../../src/evm/engine.ts'
import { createWasmEngine } from '../../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { nextStorageVersion } from '../../src/state/state-reader.ts'
import { outcomeIn, resultText } from '../support/evm/compare.ts'
import { SEED } from '../support/seed.ts'
import { CONTRACTS, randomCase } from './evm/cases.ts'
import { loadRealContracts } from './evm/real-contracts.ts'
import { createRandom, type Random } from './executor-plans.ts'

/*
 * The module keeps slots from one message to the next (docs/design/evm-engine.md#slots-between-messages): sequences of messages on few
 * slots, some kept, some reverted or dropped, with storage changed in between by others, against the engine on EthereumJS, which keeps
 * nothing. CASES= for the long form, SEED= for others.
 */
const CASES = Number(process.env['CASES'] ?? 120)
const STEPS = 12

type Case = ReturnType<typeof randomCase>

/** Two journals with the same changes: one for each engine. */
const twins = (state: Case['state']) => [new Journal(state), new Journal(state)] as const
type Twins = ReturnType<typeof twins>

/** A change of storage that the engine does not see. */
const changeOutside = (journals: Twins, random: Random): void => {
  const [at, slot, word] = [random.pick(CONTRACTS), toWord(BigInt(random.int(5))), toWord(BigInt(random.int(3)))]
  const kind = random.int(6)
  for (const journal of journals) {
    const mark = journal.checkpoint()
    if (kind === 0) journal.deleteAccount(at)
    else if (kind === 1) journal.createAccount(at)
    else journal.setStorage(at, slot, word)
    if (kind >= 4) journal.revert(mark)
    journal.endTransaction()
  }
}

/** The state of a later block, where one slot differs. */
const moveState = (state: Case['state'], random: Random): void => {
  const storage = state.accounts.get(random.pick(CONTRACTS))?.storage
  storage?.set(toWord(BigInt(random.int(5))), toWord(BigInt(1 + random.int(3))))
  state.storageVersion = nextStorageVersion()
}

const messageFor = (message: EngineMessage, random: Random): EngineMessage => ({
  ...message,
  value: 0n,
  ...(message.to !== null && random.chance(2) && { to: random.pick(CONTRACTS) }),
  ...(random.chance(2) && { data: random.bytes(random.int(100)) }),
  gas: BigInt(random.chance(3) ? random.int(60_000) : 500_000),
})

type Run = (engine: Engine, journal: Journal, env: BlockEnv, message: EngineMessage) => Promise<string>

const kept: Run = async (engine, journal, env, message) => (await outcomeIn(engine, journal, env, message)).text

/** Runs a message and reverts it, as a call does. */
const dropped =
  (discards: boolean): Run =>
  async (engine, journal, env, message) => {
    const mark = journal.checkpoint()
    const result = await engine.run(journal, env, message, { discards })
    journal.revert(mark)
    // A touch of RIPEMD-160 outlives a revert, within its transaction (EIP-161).
    journal.endTransaction()
    // Nobody reads what a discarded message told.
    return resultText({ ...result, destroyed: [], ...(discards && { logs: [], internal: [] }) })
  }
const reverted = dropped(false)
const discarded = dropped(true)

test(
  `${CASES} sequences of messages come to the same with slots kept between them (SEED=${SEED})`,
  async () => {
    const oracle = createInterpreter()
    const wasm = createWasmEngine(() => oracle)
    const real = loadRealContracts()
    let succeeded = 0
    for (let i = 0; i < CASES; i++) {
      const random = createRandom(SEED + i)
      const { state, env, message } = randomCase(random, real)
      state.storageVersion = nextStorageVersion()
      let journals = twins(state)
      for (let step = 0; step < STEPS; step++) {
        if (random.chance(4)) changeOutside(journals, random)
        if (random.chance(4)) {
          if (random.chance(2)) moveState(state, random)
          journals = twins(state)
        }
        const next = messageFor(message, random)
        const run = random.pick([kept, kept, reverted, discarded])
        const got = await run(wasm, journals[0], env, next)
        const where = `case ${SEED + i}, step ${step}`
        expect(`${where}\n${got}`).toBe(`${where}\n${await run(oracle, journals[1], env, next)}`)
        if (run === kept && got.includes('succeeded')) succeeded++
      }
    }
    expect(succeeded).toBeGreaterThan(CASES)
  },
  24 * 3_600_000,
)
