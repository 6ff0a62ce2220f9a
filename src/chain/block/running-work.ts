import { CANCELLED } from '@tandem/base/async/cancelled.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockFault } from './block-fault.ts'
import type { ExecutedBlock } from './block-work.ts'

/** Task on the head, from its start to its end. */
interface Running {
  readonly controller: AbortController
  readonly ended: Promise<unknown>
}

interface Validation extends Running {
  readonly outcome: Promise<ExecutedBlock | BlockFault>
  /** A commit waits for it, so its original caller can no longer abort it. */
  isKept: boolean
}

type Work<T> = (signal: AbortSignal) => Promise<T>

/** Concurrent builds and validations on the head. None outlives the head: `abortAll` ends them. */
export class RunningWork {
  readonly #running = new Set<Running>()
  readonly #validations = new Map<Hex, Validation>()

  /** Runs a task until it ends or the signal aborts; settles only when the task has stopped completely. */
  run<T>(work: Work<T>, cancelled?: AbortSignal): Promise<T> {
    return this.#start(work, controller => onAbort(cancelled, () => controller.abort(CANCELLED))).outcome
  }

  /** Like `run` for the validation of a block, which a commit of that block can join. One validation per block at a time. */
  validate(
    hash: Hex,
    work: Work<ExecutedBlock | BlockFault>,
    cancelled?: AbortSignal,
  ): Promise<ExecutedBlock | BlockFault> {
    const known = this.validation(hash)
    if (known !== undefined) return known.outcome
    const listen = (controller: AbortController) =>
      onAbort(cancelled, () => {
        if (!validation.isKept) controller.abort(CANCELLED)
      })
    const forget = () => {
      if (this.#validations.get(hash) === validation) this.#validations.delete(hash)
    }
    const validation: Validation = Object.assign(this.#start(work, listen, forget), { isKept: false })
    this.#validations.set(hash, validation)
    return validation.outcome
  }

  /** Returns the validation under way that has not been aborted. */
  validation(hash: Hex): Validation | undefined {
    const found = this.#validations.get(hash)
    return found?.controller.signal.aborted ? undefined : found
  }

  /** Aborts all tasks, except one validation if given. */
  abortAll(except?: Validation): void {
    for (const running of this.#running) if (running !== except) running.controller.abort(CANCELLED)
  }

  /** Resolves when no task is running. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running].map(({ ended }) => ended))
  }

  /** `forget` runs before the outcome is known to any caller: a time-dependent outcome is not reused for a later caller. */
  #start<T>(work: Work<T>, listen: (controller: AbortController) => () => void, forget = () => {}) {
    const controller = new AbortController()
    const stopListening = listen(controller)
    const outcome = work(controller.signal)
    const end = () => {
      stopListening()
      this.#running.delete(running)
      forget()
    }
    const ended = outcome.then(end, end)
    const running = { controller, outcome, ended }
    this.#running.add(running)
    return running
  }
}

/** Subscribes to an abort and returns the unsubscribe function. A signal that has aborted already counts at once. */
const onAbort = (signal: AbortSignal | undefined, then: () => void): (() => void) => {
  if (signal === undefined) return () => {}
  signal.addEventListener('abort', then)
  if (signal.aborted) queueMicrotask(then)
  return () => signal.removeEventListener('abort', then)
}
