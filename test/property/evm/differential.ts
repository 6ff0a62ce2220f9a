import { bytesToHex } from '@tandem/base/bytes.ts'
import { createInterpreter } from '../../../devtools/interpreter/engine.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { isForkSince } from '../../../src/config/forks.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { Engine, EngineMessage } from '../../../src/evm/engine.ts'
import { createWasmEngine } from '../../../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { type Effects, effectsIn, effectsText, sameEffects } from '../../support/evm/compare.ts'
import { createStepOracle } from '../../support/step-oracle.ts'
import type { MemoryState } from '../../unit/state/memory-state.ts'
import { createRandom } from '../executor-plans.ts'
import { changeCode, nextMessage, randomCase, withLessGas } from './cases.ts'
import type { RealContract } from './real-contracts.ts'

/*
 * Long form of the differential test: random worlds with many messages each, since a world costs more than thirty runs. A message runs on
 * the interpreter in WebAssembly and on the one in TypeScript, and a share of all messages on EthereumJS.
 */

interface DifferentialShares {
  readonly messagesPerWorld: number
  /** Every message of this number runs on EthereumJS too, under rules from Cancun on. */
  readonly ethereumJsMessages: number
  /** A world whose messages take longer is left; by default none. What a world's messages are does not depend on it. */
  readonly mostWorldMs?: number
}

/** Messages that ran, by engine; every count is of messages compared. */
interface DifferentialCounts {
  worlds: number
  messages: number
  ethereumJs: number
  succeeded: number
  elsewhere: number
}

/** Messages after which a world gets another code. */
const CODE_EVERY = 6
/** One message in so many that succeed runs again with less gas. */
const LESS_GAS = 2

interface Difference {
  readonly world: number
  readonly message: number
  readonly engine: string
  readonly text: string
}

export class DifferentialRun {
  readonly counts: DifferentialCounts = {
    worlds: 0,
    messages: 0,
    ethereumJs: 0,
    succeeded: 0,
    elsewhere: 0,
  }
  readonly #shares: DifferentialShares
  readonly #contracts: readonly RealContract[]
  readonly #interpreter = createInterpreter()
  readonly #wasm: Engine
  readonly #ethereumJs = createStepOracle({ records: false })

  constructor(shares: DifferentialShares, contracts: readonly RealContract[]) {
    this.#shares = shares
    this.#contracts = contracts
    const fallback = (): Engine => {
      this.counts.elsewhere++
      return this.#interpreter
    }
    this.#wasm = createWasmEngine(fallback)
  }

  /** Runs the messages of a world, which its number determines; returns the first difference. */
  async world(seed: number): Promise<Difference | undefined> {
    const random = createRandom(seed)
    const { state, env, message: first, fork } = randomCase(random, this.#contracts)
    this.counts.worlds++
    const endMs = performance.now() + (this.#shares.mostWorldMs ?? Number.POSITIVE_INFINITY)
    let [whole, message] = [first, first]
    for (let at = 0; at < this.#shares.messagesPerWorld; at++) {
      const expected = await effectsIn(this.#interpreter, new Journal(state), env, message)
      for (const engine of this.#enginesFor(fork)) {
        const got = await effectsIn(engine, new Journal(state), env, message)
        if (sameEffects(...comparable(engine, expected, got))) continue
        return {
          world: seed,
          message: at,
          engine: engine.name,
          text: report({ state, env, message, fork }, expected, got),
        }
      }
      this.counts.messages++
      if (expected.result?.failure === null) this.counts.succeeded++
      if (performance.now() > endMs) return undefined
      if (at % CODE_EVERY === CODE_EVERY - 1) changeCode(state, fork, random)
      const gasUsed = expected.result?.failure === null ? expected.result.gasUsed : 0n
      if (gasUsed > 0n && random.chance(LESS_GAS)) message = withLessGas(whole, gasUsed, random)
      else message = whole = nextMessage(whole, random)
    }
    return undefined
  }

  *#enginesFor(fork: EvmFork): Iterable<Engine> {
    yield this.#wasm
    if (this.counts.messages % this.#shares.ethereumJsMessages === 0 && isForkSince(fork, 'cancun')) {
      this.counts.ethereumJs++
      yield this.#ethereumJs
    }
  }
}

/** EthereumJS names failures otherwise and does not list internal transfers. */
const comparable = (engine: Engine, expected: Effects, got: Effects): [Effects, Effects] => {
  if (engine.name !== 'steps' || expected.result === undefined || got.result === undefined) return [expected, got]
  const plain = (effects: typeof expected): Effects => ({
    ...effects,
    result: { ...effects.result, internal: [], failure: effects.result.failure === null ? null : { kind: 'revert' } },
  })
  return [plain(expected), plain(got)]
}

const report = (
  { state, message, fork }: { state: MemoryState; env: BlockEnv; message: EngineMessage; fork: EvmFork },
  expected: Effects,
  got: Effects,
): string =>
  [
    `${fork}, from ${message.from} to ${message.to}, gas ${message.gas}, value ${message.value}, data ${bytesToHex(message.data)}`,
    ...[...state.accounts.keys()].map(at => `${at} ${bytesToHex(state.code(at))}`),
    'expected:',
    effectsText(expected),
    'got:',
    effectsText(got),
  ].join('\n')
