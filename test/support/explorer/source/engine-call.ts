import { copyBytes, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import type { BlockEnv } from '../../../../src/evm/block-env.ts'
import { prepareCall, runCall as runPrepared } from '../../../../src/evm/calls/message/call-message.ts'
import type { Engine, Interrupt } from '../../../../src/evm/engine.ts'
import type { StateReader } from '../../../../src/state/state-reader.ts'

/** State and block that calls of the explorer see. */
interface CallSite {
  readonly reader: StateReader
  readonly env: BlockEnv
  readonly engine: Engine
}

/** Result of a call to a contract; undefined when it fails, or takes too much gas, time or bytes. Never throws because of the contract. */
export const callContract = async (site: CallSite, to: Hex, data: Uint8Array): Promise<Uint8Array | undefined> => {
  const { gas, callMs, answerBytes } = EXPLORER_LIMITS.token
  const deadlineMs = performance.now() + callMs
  const interrupt: Interrupt = {
    sliceMs: callMs / 5,
    giveWay: async () => {},
    shouldStop: () => performance.now() >= deadlineMs,
  }
  const message = { from: ZERO_ADDRESS, to, value: 0n, data, gas }
  try {
    const prepared = await prepareCall(
      { ...site, prefetch: undefined, interrupt },
      { message, number: site.env.number },
    )
    const { output, failure } = await runPrepared(prepared, gas)
    return failure === null && output.byteLength <= answerBytes ? copyBytes(output) : undefined
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}
