import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { StateReader } from '../../state/state-reader.ts'
import type { Cancellation } from '../../util/async/cancellation.ts'
import { isCoded } from '../../util/errors.ts'
import type { BlockEnv } from '../block-env.ts'
import type { Engine, Interrupt } from '../engine.ts'
import type { CallContext } from './message/call-message.ts'
import { call, createAccessList, estimateGas } from './run-call.ts'
import type { CallRequest, CallService } from './types.ts'

/** State of a call in this thread. */
export interface LocalState {
  readonly reader: StateReader
  readonly env: BlockEnv
  /** false: the state has changed meanwhile. */
  stands(): boolean
}

interface LocalCallsOptions {
  /** Returns undefined when this thread does not hold the state. */
  stateFor(request: CallRequest): Promise<LocalState | undefined>
  /** For all other calls. */
  readonly workers: CallService
  /** EVM engine. */
  engine(): Promise<Engine>
}

type Run<Answer> = (context: CallContext, request: CallRequest) => Promise<Answer>
type There<Answer> = (request: CallRequest, client: string, cancellation?: Cancellation) => Promise<Answer>

/**
 * Runs short calls on the head's state in this thread, which saves the round trip to a worker: for a development chain, whose single
 * client waits for each result. A call that is not finished soon (CALL_LIMITS.localMs) restarts in a worker.
 */
export const createLocalCalls = ({ stateFor, workers, engine }: LocalCallsOptions): CallService => {
  const localFirst =
    <Answer>(run: Run<Answer>, there: There<Answer>): There<Answer> =>
    async (request, client, cancellation) => {
      const state = await stateFor(request)
      if (state === undefined) return there(request, client, cancellation)
      const { reader, env } = state
      const context = { reader, prefetch: undefined, env, engine: await engine(), interrupt: shortly() }
      try {
        const answer = await run(context, request)
        if (state.stands()) return answer
      } catch (error) {
        const isInterrupted = isCoded(error) && error.code === 'EXECUTION_INTERRUPTED'
        if (!isInterrupted && state.stands()) throw error
      }
      return there(request, client, cancellation)
    }
  return {
    call: localFirst(call, workers.call),
    estimateGas: localFirst(estimateGas, workers.estimateGas),
    createAccessList: localFirst(createAccessList, workers.createAccessList),
    simulate: workers.simulate,
    close: workers.close,
  }
}

/** Checks the clock in short steps, without yielding in between. */
const shortly = (): Interrupt => {
  const endMs = performance.now() + CALL_LIMITS.localMs
  return {
    sliceMs: CALL_LIMITS.localMs / 10,
    giveWay: async () => {},
    shouldStop: () => performance.now() >= endMs,
  }
}
