import type { EvmFork } from '../../../config/forks.ts'
import type { ExecutionRules } from '../../../rules/execution-rules.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { EngineEnv } from '../../block-env.ts'
import type { EngineOptions } from '../../engine.ts'
import type { Machine } from './machine.ts'

/** Parts of a running message that its start, its precompiles and the exchange of state with its machine need. */
export interface RunState {
  readonly machine: Machine
  readonly journal: Journal
  readonly env: EngineEnv
  readonly options: EngineOptions
  readonly rules: ExecutionRules
  /** Present on a step machine. */
  readonly steps: { precompileFailed(reason: string): void } | undefined
  /** Returns true when the block's fork is this one or a later one. */
  since(fork: EvmFork): boolean
  /** Returns a promise when the time slice is over, or when logs became many; it rejects when the message must stop. */
  check(): Promise<void> | undefined
}
