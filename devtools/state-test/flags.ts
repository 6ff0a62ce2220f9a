import type { EngineName } from '../../src/evm/engines/select-engine.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'

/** Parsed options of `tandem statetest`. */
export interface StateTestFlags {
  readonly execution: ExecutionMode
  readonly evm?: EngineName
  readonly fork?: readonly string[]
  readonly jobs: number
}
