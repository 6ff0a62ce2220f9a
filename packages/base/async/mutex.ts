/** Runs asynchronous tasks one at a time, in order; a failure does not affect later ones. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(ignore)
    return result
  }
}

// The caller of `run` handles the failure; the queue only waits for the end.
const ignore = () => {}
