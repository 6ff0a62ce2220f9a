import type { Journal } from '../../../state/journal/journal.ts'
import type { EngineEnv } from '../../block-env.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult } from '../../engine.ts'
import { engineCounts } from '../engine-counts.ts'
import { CODE_PAGES } from './evm-module.ts'
import { isSuitable } from './message-rules.ts'
import { MessageRun, type RunEnd } from './message-run.ts'
import { acquireMachine, releaseMachine } from './pool.ts'

/** Engine for a message that this one cannot run; nothing of the message has been written. */
export type Fallback = () => Engine | Promise<Engine>

/**
 * Interpreter in WebAssembly. Without waiting the result is not a promise. Unsupported messages (traces, moved precompiles, access
 * records, messages beyond its memory, other limits of code) are passed to the other engine unchanged.  `codePages`: pages of codes that a message may hold at a time; tests have few.
 */
export const createWasmEngine = (fallback: Fallback, codePages = CODE_PAGES): Engine => {
  const elsewhere = async (
    journal: Journal,
    env: EngineEnv,
    message: EngineMessage,
    options: EngineOptions,
  ): Promise<EngineResult> => {
    engineCounts.elsewhere++
    return (await fallback()).run(journal, env, message, options)
  }

  const attempt = (
    journal: Journal,
    env: EngineEnv,
    message: EngineMessage,
    options: EngineOptions,
  ): EngineResult | Promise<EngineResult> => {
    const machine = acquireMachine(codePages)
    if (machine === undefined) return elsewhere(journal, env, message, options)
    const after = (end: RunEnd): EngineResult | Promise<EngineResult> => {
      releaseMachine(machine)
      if (typeof end === 'object') {
        engineCounts.wasm++
        return end
      }
      return elsewhere(journal, env, message, options)
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
      env.params.codeSizeLimit === undefined && isSuitable(message, options)
        ? attempt(journal, env, message, options)
        : elsewhere(journal, env, message, options),
  }
}
