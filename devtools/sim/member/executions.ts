import type { Hex } from '@tandem/base/bytes.ts'
import type { ValidateContext } from '../../../src/consensus/ports.ts'
import type { Host } from './host.ts'
import { Processor } from './processor.ts'

/** Work on one block. */
interface Execution {
  readonly done: Promise<boolean>
  /** A commit waits for it: no cancellation ends it. */
  isKept: boolean
}

/** Listener of slices of validations. */
export type OnSlice = (hash: Hex, place: ValidateContext) => void

/** How work on a block may end, and what it is work for. */
interface ExecutionEnd {
  readonly cancelled?: AbortSignal | undefined
  /** Of a validation: where its verdict is waited for. */
  readonly place?: ValidateContext
}

/** One reason for all: without it every abort makes an error with its stack. */
const HEAD_MOVED = 'the head has moved'

interface RunEnd {
  readonly cancelled: AbortSignal | undefined
  readonly onSlice?: () => void
}

/**
 * Execution of blocks in one process, in the order of the shipped chain (`chain/chain.ts`, `chain/block/running-work.ts`): side by side on one
 * processor, each until it is done, cancelled, or its head has moved; a commit joins the validation of its block and ends all others.
 */
export class Executions {
  readonly #processor: Processor
  readonly #onSlice: OnSlice
  readonly #running = new Map<Hex, Execution>()
  /** Blocks executed on the head. */
  readonly #executed = new Set<Hex>()
  #head = new AbortController()

  constructor(host: Host, onSlice: OnSlice) {
    this.#processor = new Processor(host)
    this.#onSlice = onSlice
  }

  has(hash: Hex): boolean {
    return this.#executed.has(hash)
  }

  add(hash: Hex): void {
    this.#executed.add(hash)
  }

  /** Work that is not of a block yet: building it. */
  work(workMs: number, cancelled?: AbortSignal): Promise<boolean> {
    return this.#run(workMs, { isKept: false }, { cancelled })
  }

  /** false: cancelled. */
  execute(hash: Hex, workMs: number, { cancelled, place }: ExecutionEnd): Promise<boolean> {
    const control = { isKept: false }
    const onSlice = (): void => {
      if (place !== undefined && !control.isKept) this.#onSlice(hash, place)
    }
    const done = this.#run(workMs, control, { cancelled, onSlice }).finally(() => {
      if (this.#running.get(hash) === execution) this.#running.delete(hash)
    })
    const execution: Execution = Object.assign(control, { done })
    this.#running.set(hash, execution)
    return done
  }

  /** Executes a decided block, unless that is done or under way. */
  async finish(hash: Hex, workMs: number): Promise<void> {
    if (this.has(hash)) return
    const running = this.#running.get(hash)
    if (running !== undefined) running.isKept = true
    this.#endOthers()
    if (running === undefined || !(await running.done)) await this.#processor.run(workMs)
  }

  /** The head moves: nothing on the one before counts any more. */
  moved(): void {
    this.#executed.clear()
    this.#endOthers()
  }

  #endOthers(): void {
    const before = this.#head
    this.#head = new AbortController()
    before.abort(HEAD_MOVED)
  }

  #run(workMs: number, control: { isKept: boolean }, { cancelled, onSlice }: RunEnd): Promise<boolean> {
    const head = this.#head.signal
    const signals = cancelled === undefined ? [head] : [head, cancelled]
    return this.#processor.run(workMs, {
      isCancelled: () => !control.isKept && signals.some(({ aborted }) => aborted),
      wake: listener => {
        for (const signal of signals) signal.addEventListener('abort', listener)
      },
      ...(onSlice && { onSlice }),
    })
  }
}
