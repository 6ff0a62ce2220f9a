import type { Hex } from '@tandem/base/bytes.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import type { FrameStart, Tracer } from '../../../src/evm/tracer.ts'

/** Reports the frames of one message to a tracer, in pairs of start and end. */
export class FrameReporter {
  readonly #tracer: Tracer
  /** Gas of the frames under way. */
  readonly #gas: bigint[] = []

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  enter(start: FrameStart): void {
    this.#gas.push(start.gas)
    this.#tracer.enter?.(start)
  }

  exit(gasLeft: bigint, output: Uint8Array, error: string | undefined): void {
    const gas = this.#gas.pop() ?? 0n
    this.#tracer.exit?.({ depth: this.#gas.length, output, gasUsed: gas - gasLeft, error })
  }

  /** A frame refused before its start costs nothing. */
  refuse(start: FrameStart, error: string): void {
    this.enter(start)
    this.exit(start.gas, EMPTY_BYTES, error)
  }

  selfDestruct(depth: number, from: Hex, to: Hex, value: bigint): void {
    this.#tracer.enter?.({ depth, type: 'SELFDESTRUCT', from, to, value, input: EMPTY_BYTES, gas: 0n })
    this.#tracer.exit?.({ depth, output: EMPTY_BYTES, gasUsed: 0n, error: undefined })
  }
}

/** Reasons of refused frames, with the texts of go-ethereum. */
export const REFUSALS = {
  depth: 'max call depth exceeded',
  balance: 'insufficient balance for transfer',
} as const
