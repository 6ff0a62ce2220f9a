interface Ticket {
  finish: (() => void) | undefined
}

/** Delivers results in the order of requests: a client that sends nonces 1, 2, 3 must not see 3 refused for a gap. */
export class OrderedResults {
  #tickets: (Ticket | undefined)[] = []
  #head = 0

  run<T, R>(work: Promise<T>, then: (value: T) => R): Promise<R> {
    const ticket: Ticket = { finish: undefined }
    this.#tickets.push(ticket)
    return new Promise<R>((resolve, reject) => {
      work.then(
        value => {
          ticket.finish = () => {
            try {
              resolve(then(value))
            } catch (error) {
              reject(error)
            }
          }
          this.#drain()
        },
        error => {
          ticket.finish = () => reject(error)
          this.#drain()
        },
      )
    })
  }

  #drain(): void {
    for (let ticket = this.#tickets[this.#head]; ticket?.finish; ticket = this.#tickets[this.#head]) {
      this.#tickets[this.#head++] = undefined
      ticket.finish()
    }
    if (this.#head < 1_024 && this.#head < this.#tickets.length) return
    this.#tickets = this.#tickets.slice(this.#head)
    this.#head = 0
  }
}
