import type { Hex } from '../../util/bytes.ts'
import type { BlockFault } from './block-fault.ts'
import type { ExecutedBlock } from './candidates.ts'

/** Work on the head, from its beginning to its end. */
interface Running {
  readonly controller: AbortController
  readonly ended: Promise<unknown>
}

/** Validation of one block. */
interface Validation extends Running {
  readonly outcome: Promise<ExecutedBlock | BlockFault>
  /** A commit waits for it: the caller that began it can no longer end it. */
  isKept: boolean
}

type Work<T> = (signal: AbortSignal) => Promise<T>

/** The blocks being built and validated on the head, side by side. None outlives the head: `abortAll` ends them. */
export class RunningWork {
  readonly #running = new Set<Running>()
  readonly #validations = new Map<Hex, Validation>()

  /** Runs work until it ends or the signal aborts; the answer comes, or the rejection, when nothing of it runs any more. */
  run<T>(work: Work<T>, cancelled?: AbortSignal): Promise<T> {
    return this.#start(work, controller => onAbort(cancelled, () => controller.abort())).outcome
  }

  /** The same for a block's validation, which a commit of the block can join. One validation of a block at a time. */
  validate(
    hash: Hex,
    work: Work<ExecutedBlock | BlockFault>,
    cancelled?: AbortSignal,
  ): Promise<ExecutedBlock | BlockFault> {
    const known = this.validation(hash)
    if (known !== undefined) return known.outcome
    const listen = (controller: AbortController) =>
      onAbort(cancelled, () => {
        if (!validation.isKept) controller.abort()
      })
    const forget = () => {
      if (this.#validations.get(hash) === validation) this.#validations.delete(hash)
    }
    const validation: Validation = Object.assign(this.#start(work, listen, forget), { isKept: false })
    this.#validations.set(hash, validation)
    return validation.outcome
  }

  /** A validation under way that has not been aborted. */
  validation(hash: Hex): Validation | undefined {
    const found = this.#validations.get(hash)
    return found?.controller.signal.aborted ? undefined : found
  }

  /** Ends all work, except one validation where that is wanted. */
  abortAll(except?: Validation): void {
    for (const running of this.#running) if (running !== except) running.controller.abort()
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running].map(({ ended }) => ended))
  }

  /** `forget` runs before anybody learns the outcome: an outcome that depends on the time is not given to a later caller. */
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

/** Answers how to stop listening. A signal that has aborted counts at once. */
const onAbort = (signal: AbortSignal | undefined, then: () => void): (() => void) => {
  if (signal === undefined) return () => {}
  signal.addEventListener('abort', then)
  if (signal.aborted) queueMicrotask(then)
  return () => signal.removeEventListener('abort', then)
}
