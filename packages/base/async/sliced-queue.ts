import { runSlicedWork, type SlicedWork } from './sliced-work.ts'

interface SlicedQueueOptions {
  /** Returns a promise to await before the next part. */
  readonly pauseIfDue: () => Promise<void> | undefined
  /** Limit of waiting work. */
  readonly limit: number
  /** Called when the limit is reached or work fails, after which the queue takes no more. */
  readonly onEnd: () => void
}

/** Sliced work that runs one after the other, at once as long as no pause is due. */
export class SlicedQueue {
  readonly #options: SlicedQueueOptions
  readonly #waiting: SlicedWork<void>[] = []
  #isBusy = false
  #hasEnded = false

  constructor(options: SlicedQueueOptions) {
    this.#options = options
  }

  add(slicedWork: SlicedWork<void>): void {
    if (this.#hasEnded) return
    if (!this.#isBusy) this.#run(slicedWork)
    else if (this.#waiting.length < this.#options.limit) this.#waiting.push(slicedWork)
    else this.giveUp()
  }

  /** Drops what waits; the running work must end by itself. */
  end(): void {
    this.#hasEnded = true
    this.#waiting.length = 0
  }

  /** Takes no more work, and says so. */
  giveUp(): void {
    if (this.#hasEnded) return
    this.end()
    this.#options.onEnd()
  }

  #run(first: SlicedWork<void> | undefined): void {
    for (let next = first; next !== undefined; next = this.#waiting.shift()) {
      const running = runSlicedWork(next, this.#options.pauseIfDue)
      if (!(running instanceof Promise)) continue
      this.#isBusy = true
      const goOn = (): void => {
        this.#isBusy = false
        this.#run(this.#waiting.shift())
      }
      running.then(goOn, () => {
        this.giveUp()
        goOn()
      })
      return
    }
  }
}
