import { CodedError } from '@tandem/base/errors.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { EngineEnv } from '../../block-env.ts'
import type { CallError } from '../../calls/types.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult } from '../../engine.ts'
import { engineCounts } from '../engine-counts.ts'
import { CODE_PAGES } from './evm-module.ts'
import { isStepping, isSuitable } from './message-rules.ts'
import { MessageRun, type RunEnd } from './message-run.ts'
import { acquireMachine, releaseMachine } from './pool.ts'

/** Engine for a message of more gas than the regions are made for; nothing of the message has been written. */
type Fallback = () => Engine | Promise<Engine>

/** Gas up to which no message fills a region. */
const REGION_GAS = 100_000_000n

/**
 * Interpreter in WebAssembly. Without waiting the result is not a promise. Throws EXECUTION_FAILED where the thread has no memory for
 * another message. `codePages`: pages of codes that a message may hold at a time; tests have few.
 */
export const createWasmEngine = (fallback: Fallback, codePages = CODE_PAGES): Engine => {
  const elsewhere = async (
    journal: Journal,
    env: EngineEnv,
    message: EngineMessage,
    options: EngineOptions,
  ): Promise<EngineResult> => {
    if (message.gas <= REGION_GAS)
      throw new CodedError<CallError>({ code: 'EXECUTION_FAILED', reason: 'out of memory' })
    engineCounts.elsewhere++
    return (await fallback()).run(journal, env, message, options)
  }

  const attempt = (
    journal: Journal,
    env: EngineEnv,
    message: EngineMessage,
    options: EngineOptions,
  ): EngineResult | Promise<EngineResult> => {
    const machine = acquireMachine({ codePages, isStepping: isStepping(options) })
    if (machine === undefined) return elsewhere(journal, env, message, options)
    const after = (end: RunEnd): EngineResult | Promise<EngineResult> => {
      releaseMachine(machine)
      if (end === undefined) return elsewhere(journal, env, message, options)
      engineCounts.wasm++
      return end
    }
    const failed = (error: unknown): never => {
      releaseMachine(machine)
      throw error
    }
    let ended: RunEnd | Promise<RunEnd>
    try {
      ended = new MessageRun(machine, journal, env, message, options).run()
    } catch (error) {
      return failed(error)
    }
    return ended instanceof Promise ? ended.then(after, failed) : after(ended)
  }

  return {
    name: 'wasm',
    run: (journal, env, message, options = {}) =>
      isSuitable(message, options)
        ? attempt(journal, env, message, options)
        : elsewhere(journal, env, message, options),
  }
}
