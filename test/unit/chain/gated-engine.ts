import { yieldToEventLoop } from '@tandem/base/async/delay.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult, InterruptedError } from '../../../src/evm/engine.ts'
import type { Journal } from '../../../src/state/journal/journal.ts'

/** An engine whose messages do not end before it is opened, unless they are interrupted. Each uses all its gas then. */
export class GatedEngine implements Engine {
  readonly name = 'gated'
  /** Messages begun, those that ended, and those that were interrupted. */
  begun = 0
  ended = 0
  interrupted = 0
  isOpen: boolean
  /** Called at each turn of a message that waits. */
  onWait: () => void = () => {}

  constructor({ isOpen }: { readonly isOpen: boolean }) {
    this.isOpen = isOpen
  }

  async run(_: Journal, _env: BlockEnv, { gas }: EngineMessage, options: EngineOptions = {}): Promise<EngineResult> {
    this.begun++
    while (!this.isOpen) {
      await yieldToEventLoop()
      this.onWait()
      if (!options.interrupt?.shouldStop()) continue
      this.interrupted++
      throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    }
    this.ended++
    const failure = { kind: 'halt', reason: 'out of gas' } as const
    return { gasUsed: gas, refund: 0n, output: EMPTY_BYTES, logs: [], created: null, destroyed: [], failure }
  }

  /** Resolves when so many messages have begun. */
  async reached(begun: number): Promise<void> {
    while (this.begun < begun) await yieldToEventLoop()
  }
}
