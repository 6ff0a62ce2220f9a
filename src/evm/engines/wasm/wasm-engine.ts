import { CodedError } from '@tandem/base/errors.ts'
import { type CallError, type Engine, engineCounts } from '../../engine.ts'
import { CODE_PAGES } from './evm-module.ts'
import { isStepping, isSuitable } from './message-rules.ts'
import { MessageRun, type RunEnd } from './message-run.ts'
import { acquireMachine, releaseMachine } from './pool.ts'

/** Engine for messages that do not fit the regions; nothing of the message has been written. */
type Fallback = () => Engine | Promise<Engine>

type RunMessage = (...message: Required<Parameters<Engine['run']>>) => ReturnType<Engine['run']>

const outOfMemory = () => new CodedError<CallError>({ code: 'EXECUTION_FAILED', reason: 'out of memory' })

/**
 * Interpreter in WebAssembly. Without waiting the result is not a promise. The fallback runs messages that fill a region, of more than
 * 100 M gas or of codes beyond the size of EIP-170. Throws EXECUTION_FAILED for a traced one, whose steps are reported already, and where
 * the thread has no memory for another call. `codePages`: pages of codes that a message may hold at a time; tests have few.
 */
export const createWasmEngine = (fallback: Fallback, codePages = CODE_PAGES): Engine => {
  const elsewhere: RunMessage = async (journal, env, message, options) => {
    engineCounts.elsewhere++
    return (await fallback()).run(journal, env, message, options)
  }
  const attempt: RunMessage = (journal, env, message, options) => {
    const isStep = isStepping(options)
    const machine = acquireMachine({ codePages, isStepping: isStep })
    if (machine === undefined) {
      if (isStep || options.discards) throw outOfMemory()
      return elsewhere(journal, env, message, options)
    }
    const after = (end: RunEnd) => {
      releaseMachine(machine)
      if (end === undefined) {
        if (isStep) throw outOfMemory()
        return elsewhere(journal, env, message, options)
      }
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
      (isSuitable(message, options) ? attempt : elsewhere)(journal, env, message, options),
  }
}
