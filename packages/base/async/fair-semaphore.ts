import type { ClientBudget } from '../client-budget.ts'
import { type Cancellation, Cancelled } from './cancellation.ts'
import { FairQueue } from './fair-queue.ts'

export interface SemaphoreLimits {
  /** Weight that runs, in total and of one client. */
  readonly total: number
  readonly client: number
  /** Work that waits, in total and of one client; any number by default. */
  readonly queue?: number
  readonly clientQueue?: number
  /** A full queue drops the newest work of the client with most, in favour of a client with less. */
  readonly displaces?: boolean
}

interface Demand {
  /** 1 by default. */
  readonly weight?: number
  /** Amount in the ledger while the work runs. */
  readonly reserved?: number
}

interface Waiting extends Required<Demand> {
  enter(): void
  refuse(full: 'owner' | 'total'): void
}

/** Ends the work. */
export type Release = () => void

/**
 * Admission of work with a limit per client, so that no client takes all of it. Work heavier than a limit runs alone. Clients that wait are
 * served in rotation, and work that waits for the total holds up the lighter work behind it, so that none waits for ever.
 */
export class FairSemaphore {
  readonly #limits: SemaphoreLimits
  readonly #refusal: (full: 'owner' | 'total') => Error
  readonly #ledger: ClientBudget | undefined
  readonly #waiting: FairQueue<Waiting>
  readonly #takenBy = new Map<string, number>()
  #taken = 0
  /** The next work in rotation waits for the total. */
  #isHeldUp = false

  /** `refusal` creates the error of work that finds the queue of its client or of all clients full. */
  constructor(limits: SemaphoreLimits, refusal: (full: 'owner' | 'total') => Error, ledger?: ClientBudget) {
    const { queue = Number.POSITIVE_INFINITY, clientQueue = Number.POSITIVE_INFINITY, displaces = false } = limits
    this.#limits = limits
    this.#refusal = refusal
    this.#ledger = ledger
    this.#waiting = new FairQueue({ total: queue, owner: clientQueue, displaces })
    ledger?.onRoom(() => this.#enterNext())
  }

  /** Weight of the work that runs. */
  get taken(): number {
    return this.#taken
  }

  /** Returns true while work waits for the total, and not this client's alone. */
  isWantedBesides(client: string): boolean {
    return this.#isHeldUp && this.#waiting.size > this.#waiting.lengthOf(client)
  }

  /** Returns the release of work that may run now; undefined when it would have to wait. */
  tryAcquire(client: string, { weight = 1, reserved = 0 }: Demand = {}): Release | undefined {
    if (this.#isHeldUp || this.#waiting.lengthOf(client) > 0) return undefined
    return this.#obstacle(client, weight, reserved) === undefined ? this.#enter(client, weight, reserved) : undefined
  }

  /** Resolves with the release of the work. Rejects when the queue is full, and with Cancelled when cancelled in the queue. */
  acquire(client: string, demand: Demand = {}, cancellation?: Cancellation): Promise<Release> {
    const release = this.tryAcquire(client, demand)
    if (release !== undefined) return Promise.resolve(release)
    const { weight = 1, reserved = 0 } = demand
    return new Promise((resolve, reject) => {
      let forget: (() => void) | undefined
      const waiting: Waiting = {
        weight,
        reserved,
        enter: () => {
          forget?.()
          resolve(this.#enter(client, weight, reserved))
        },
        refuse: full => {
          forget?.()
          reject(this.#refusal(full))
        },
      }
      const refused = this.#waiting.push(client, waiting)
      refused?.item.refuse(refused.full)
      if (this.#obstacle(client, weight, reserved) === 'total') this.#isHeldUp = true
      forget = cancellation?.onCancel(() => {
        reject(new Cancelled())
        if (this.#waiting.remove(client, waiting)) this.#enterNext()
      })
    })
  }

  /** Limit that work does not fit into. */
  #obstacle(client: string, weight: number, reserved: number): 'client' | 'total' | undefined {
    const own = this.#takenBy.get(client) ?? 0
    if (own > 0 && own + weight > this.#limits.client) return 'client'
    if (this.#ledger?.hasRoom(client, reserved) === false) return 'client'
    return this.#taken > 0 && this.#taken + weight > this.#limits.total ? 'total' : undefined
  }

  #enter(client: string, weight: number, reserved: number): Release {
    const meter = reserved > 0 ? this.#ledger?.meter(client) : undefined
    meter?.hold(reserved)
    this.#count(client, weight)
    return () => {
      this.#count(client, -weight)
      meter?.hold(0)
      this.#enterNext()
    }
  }

  #count(client: string, weight: number): void {
    this.#taken += weight
    const own = (this.#takenBy.get(client) ?? 0) + weight
    if (own === 0) this.#takenBy.delete(client)
    else this.#takenBy.set(client, own)
  }

  #enterNext(): void {
    for (;;) {
      this.#isHeldUp = false
      const next = this.#waiting.shift((owner, { weight, reserved }) => {
        const obstacle = this.#isHeldUp ? 'total' : this.#obstacle(owner, weight, reserved)
        if (obstacle === 'total') this.#isHeldUp = true
        return obstacle === undefined
      })
      if (next === undefined) return
      next.item.enter()
    }
  }
}
