/** Runs asynchronous work one at a time, in the order asked for; a failure does not hold up what follows. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(ignore)
    return result
  }
}

// The failure belongs to whoever called `run`; the queue only needs to know that the turn is over.
const ignore = () => {}
