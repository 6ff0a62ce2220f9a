import { yieldToEventLoop } from '@tandem/base/async/delay.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult, InterruptedError } from '../../src/evm/engine.ts'
import type { Journal } from '../../src/state/journal/journal.ts'

/** An engine that takes so many milliseconds of a given clock for each million gas, gives way after each, and uses all gas. */
export class SteadyEngine implements Engine {
  readonly name = 'steady'
  /** Moved by this engine alone. */
  clock = { ms: 0 }
  readonly #msPerMillion: number

  constructor(msPerMillion = 1) {
    this.#msPerMillion = msPerMillion
  }

  async run(
    _: Journal,
    _env: BlockEnv,
    { gas }: EngineMessage,
    { interrupt }: EngineOptions = {},
  ): Promise<EngineResult> {
    for (let left = (Number(gas) / 1e6) * this.#msPerMillion; left > 0; left--) {
      this.clock.ms++
      await (interrupt?.giveWay ?? yieldToEventLoop)()
      if (interrupt?.shouldStop()) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    }
    const failure = { kind: 'halt', reason: 'out of gas' } as const
    return { gasUsed: gas, refund: 0n, output: EMPTY_BYTES, logs: [], created: null, destroyed: [], failure }
  }
}
