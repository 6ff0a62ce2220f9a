import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { PrecompilePrice } from '../../../src/config/precompile-prices.ts'
import type { EngineEnv } from '../../../src/evm/block-env.ts'
import { type EngineMessage, type EngineOptions, gasBoundExceeded } from '../../../src/evm/engine.ts'
import { StepClock } from '../../../src/evm/engines/ethereumjs/watched-run.ts'
import type { Precompile } from '../../../src/evm/engines/precompiles/precompile.ts'
import { isPrecompile } from '../../../src/evm/moved-precompiles.ts'
import type { Prefetcher } from '../../../src/evm/prefetched-reader.ts'
import type { TraceHooks } from '../../../src/evm/tracer.ts'
import { type ExecutionRules, executionRulesAt } from '../../../src/rules/execution-rules.ts'
import type { Journal } from '../../../src/state/journal/journal.ts'
import type { Fault } from '../fault.ts'
import { type Frame, type FrameMarks, type Signal, WAITING } from '../frame/frame.ts'
import type { Workspaces } from '../frame/memory.ts'
import type { EvmRules } from '../rules.ts'
import { AccessSet } from './access-set.ts'
import { type BlockWords, blockWords } from './block-words.ts'
import { MessageEffects } from './effects.ts'
import { FrameReporter } from './reporter.ts'
import { TransientStorage } from './transient-storage.ts'

/** Outcome of a message. */
interface Outcome {
  readonly fault: Fault | undefined
  readonly gasLeft: bigint
  readonly output: Uint8Array
  /** Address of a creation, also of one that failed. */
  readonly created: Hex | null
}

/** Precompile with the network's own price. */
export interface NetworkPrecompile {
  readonly row: Precompile
  readonly price: PrecompilePrice | undefined
}
/** Precompiles of a fork, by address. */
export type Precompiles = ReadonlyMap<string, NetworkPrecompile>

/** Inputs of an execution. */
interface ExecutionParts {
  readonly journal: Journal
  readonly env: EngineEnv
  readonly message: EngineMessage
  readonly options: EngineOptions
  readonly workspaces: Workspaces
  readonly precompiles: Precompiles
  readonly rules: EvmRules
  readonly table: OpcodeTable
}

/** Message under execution, with the state shared by its frames. */
export class Execution {
  readonly journal: Journal
  readonly env: EngineEnv
  readonly executionRules: ExecutionRules
  readonly rules: EvmRules
  readonly table: OpcodeTable
  readonly block: BlockWords
  readonly options: EngineOptions
  readonly workspaces: Workspaces
  readonly clock: StepClock
  readonly prefetch: Prefetcher | undefined
  readonly trace: TraceHooks | undefined
  readonly origin: bigint
  readonly gasPrice: bigint
  readonly blobHashes: readonly Hex[]
  readonly access: AccessSet
  readonly transient = new TransientStorage()
  readonly effects = new MessageEffects()
  /** Refund counter, gas. */
  refund = 0
  /** Current frame; undefined when the message has ended. */
  frame: Frame | undefined = undefined
  outcome: Outcome | undefined = undefined
  /** Promise to wait for. */
  pending: Promise<unknown> | undefined = undefined
  /** Target of the call just priced, and the gas passed to it or to a creation. */
  target: Hex = ZERO_ADDRESS
  passedGas: bigint | number = 0
  /** Block hashes that had to be computed. */
  readonly blockHashes = new Map<number, Hex>()
  readonly reporter: FrameReporter | undefined
  readonly #message: EngineMessage
  readonly #precompiles: Precompiles

  constructor({ journal, env, message, options, workspaces, precompiles, rules, table }: ExecutionParts) {
    this.journal = journal
    this.env = env
    this.executionRules = executionRulesAt(env.params, env.number)
    this.rules = rules
    this.table = table
    this.block = blockWords(env)
    this.options = options
    this.workspaces = workspaces
    this.clock = new StepClock(options.interrupt)
    this.prefetch = options.prefetch
    this.trace = options.trace
    this.origin = BigInt(message.from)
    this.gasPrice = message.gasPrice
    this.blobHashes = message.blobVersionedHashes ?? []
    this.access = new AccessSet(this.executionRules.precompiles)
    this.reporter = options.trace && new FrameReporter(options.trace.tracer)
    this.#message = message
    this.#precompiles = precompiles
  }

  /** Returns the precompile at an address, moved ones at their new address. */
  precompileAt(address: Hex): NetworkPrecompile | undefined {
    const { moves } = this.options
    if (moves === undefined) return this.#precompiles.get(address)
    return isPrecompile(this.executionRules, moves, address)
      ? this.#precompiles.get(moves.get(address) ?? address)
      : undefined
  }

  /**
   * Returns the gas that the message may still use under its bound, where `frame` and its ancestors hold all remaining gas
   * except `elsewhere`; undefined without a bound.
   */
  gasBoundLeft(frame: Frame | undefined, elsewhere: bigint): bigint | undefined {
    const { gasBound } = this.options
    if (gasBound === undefined) return undefined
    let left = elsewhere
    for (let each = frame; each !== undefined; each = each.parent) left += each.gasLeft
    return gasBound - (this.#message.gas - left)
  }

  /** Checks the bound and the clock; returns a promise when it is time to yield. */
  check(frame: Frame): Promise<void> | undefined {
    const left = this.gasBoundLeft(frame, 0n)
    if (left !== undefined && left < 0n) throw gasBoundExceeded()
    return this.clock.check()
  }

  mark(): FrameMarks {
    const { effects } = this
    return {
      journal: this.journal.checkpoint(),
      access: this.access.mark(),
      transient: this.transient.mark(),
      logs: effects.logs.length,
      internal: effects.internal.length,
      destroyed: effects.destroyed.size,
      created: effects.created.size,
      refund: this.refund,
    }
  }

  /** Reverts everything since the mark. */
  revert(marks: FrameMarks): void {
    this.journal.revert(marks.journal)
    this.access.revert(marks.access)
    this.transient.revert(marks.transient)
    this.effects.revert(marks)
    this.refund = marks.refund
  }

  /** Makes a price wait for a promise. */
  waitFor(loading: Promise<unknown>): typeof WAITING {
    this.pending = loading
    return WAITING
  }

  /** Ends the message. */
  end(outcome: Outcome): undefined {
    this.outcome = outcome
    this.frame = undefined
  }

  /** Resumes a frame after the one it had opened. */
  resume(opener: Frame): undefined {
    this.frame = opener
  }
}

/** Dynamic part of an opcode's price, computed before it runs; Infinity when unpayable. */
export type Price = (frame: Frame, vm: Execution) => number

/** Executes a paid opcode; returns nothing when the frame continues. */
export type Operation = (frame: Frame, vm: Execution) => Signal | undefined

/** Opcodes of a fork, by number. */
export interface OpcodeTable {
  /** Gas. */
  readonly fixed: readonly number[]
  /** undefined: only the fixed price. */
  readonly prices: readonly (Price | undefined)[]
  readonly run: readonly Operation[]
  /** Smallest and largest height of the stack before it. */
  readonly least: readonly number[]
  readonly most: readonly number[]
  /** undefined: the fork does not have it. */
  readonly known: readonly boolean[]
}
