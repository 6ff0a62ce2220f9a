import { getOrMake } from '@tandem/base/get-or-make.ts'
import { EVM_FORKS, type EvmFork } from '../../../config/forks.ts'
import { type ExecutionRules, executionRulesAt } from '../../../rules/execution-rules.ts'
import type { EngineEnv } from '../../block-env.ts'
import type { EngineMessage, EngineOptions } from '../../engine.ts'
import { SIZE } from './protocol.ts'

/** Position of every fork in their order, as the module knows it. */
export const FORK_PLACES = Object.fromEntries(EVM_FORKS.map((fork, place) => [fork, place])) as Record<EvmFork, number>

const known = new WeakMap<EngineEnv, ExecutionRules>()

/** Rules of execution of a block, computed once. */
export const executionRulesOf = (env: EngineEnv): ExecutionRules =>
  getOrMake(known, env, ({ params, number }) => executionRulesAt(params, number))

/** Steps are reported with gas as a number. */
const MOST_STEP_GAS = BigInt(Number.MAX_SAFE_INTEGER)

/** True where opcodes, frames or accesses of the message are reported. */
export const isStepping = ({ trace, accesses }: EngineOptions): boolean => (trace ?? accesses) !== undefined

/** True for a message that this engine runs. */
export const isSuitable = ({ gas, blobVersionedHashes = [] }: EngineMessage, options: EngineOptions): boolean =>
  gas >= 0n && gas < (isStepping(options) ? MOST_STEP_GAS : 1n << 60n) && blobVersionedHashes.length <= SIZE.maxBlobs
