import { Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { type ChunkStream, composeStream } from '@tandem/base/async/chunk-stream.ts'
import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import type { ClientBudget, Meter } from '@tandem/base/client-budget.ts'
import { limitExceeded } from '../../errors.ts'
import type { ResponseChunk } from '../../router/response.ts'

interface ClientSlotLimits {
  /** Slots in use, in total and per client. */
  readonly total: number
  readonly client: number
  /** Queued requests, in total and per client. */
  readonly queue: number
  readonly clientQueue: number
}

/** Ledger that the work is part of, with the amount of one slot. */
interface SlotLedger {
  readonly budget: ClientBudget
  readonly amount: number
}

/** Slots of one piece of work, and the part of them that takes a share of the ledger. */
interface Wanted {
  readonly slots: number
  readonly reserved: number
}

interface Waiting extends Wanted {
  readonly enter: () => void
}

/**
 * Slots for slow work with a limit per client, so that no client takes all of them. Work may take several slots; one that takes more than
 * there are runs alone. Queued clients are served in rotation.
 */
export class ClientSlots {
  readonly #limits: ClientSlotLimits
  readonly #what: string
  readonly #waiting = new FairQueue<Waiting>()
  readonly #takenBy = new Map<string, Wanted>()
  readonly #ledger: SlotLedger | undefined
  /** Shares of the clients in the ledger. */
  readonly #meters = new Map<string, Meter>()
  #taken = 0
  #queued = 0

  /** `what` names the work in the plural, for error messages. */
  constructor(limits: ClientSlotLimits, what: string, ledger?: SlotLedger) {
    this.#limits = limits
    this.#what = what
    this.#ledger = ledger
    ledger?.budget.onRoom(() => this.#enterNext())
  }

  get taken(): number {
    return this.#taken
  }

  /**
   * Resolves with the release of the slot. Throws when too many requests are queued, and Cancelled when cancelled in the queue. `reserved`:
   * slots that take their share of the ledger; 0 for work that charges the ledger itself.
   */
  async take(client: string, cancellation?: Cancellation, slots = 1, reserved = slots): Promise<() => void> {
    const { queue, clientQueue } = this.#limits
    const wanted = { slots, reserved }
    if (this.#waiting.lengthOf(client) === 0 && this.#mayTake(client, wanted)) this.#enter(client, wanted)
    else {
      if (this.#waiting.lengthOf(client) >= clientQueue)
        throw limitExceeded(`too many of your ${this.#what} (limit ${clientQueue}) are waiting, try again later`)
      if (this.#queued >= queue) throw limitExceeded(`too many ${this.#what} are waiting, try again later`)
      await this.#wait(client, cancellation, wanted)
    }
    return () => this.#leave(client, wanted)
  }

  #wait(client: string, cancellation: Cancellation | undefined, wanted: Wanted): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        ...wanted,
        enter: () => {
          forget?.()
          resolve()
        },
      }
      this.#queued++
      this.#waiting.push(client, waiting)
      const forget = cancellation?.onCancel(() => {
        if (this.#waiting.remove(client, waiting)) this.#queued--
        reject(new Cancelled())
      })
    })
  }

  #mayTake(client: string, { slots, reserved }: Wanted): boolean {
    const own = this.#takenBy.get(client)?.slots ?? 0
    const { total, client: limit } = this.#limits
    const isWithin = (own === 0 || own + slots <= limit) && (this.#taken === 0 || this.#taken + slots <= total)
    return isWithin && this.#ledger?.budget.hasRoom(client, reserved * this.#ledger.amount) !== false
  }

  #enter(client: string, { slots, reserved }: Wanted): void {
    this.#taken += slots
    const own = this.#takenBy.get(client)
    this.#count(client, { slots: (own?.slots ?? 0) + slots, reserved: (own?.reserved ?? 0) + reserved })
  }

  #leave(client: string, { slots, reserved }: Wanted): void {
    this.#taken -= slots
    const own = this.#takenBy.get(client) ?? { slots, reserved }
    this.#count(client, { slots: own.slots - slots, reserved: own.reserved - reserved })
    this.#enterNext()
  }

  #count(client: string, taken: Wanted): void {
    if (taken.slots === 0) this.#takenBy.delete(client)
    else this.#takenBy.set(client, taken)
    if (this.#ledger === undefined) return
    const { budget, amount } = this.#ledger
    const meter = this.#meters.get(client) ?? budget.meter(client)
    meter.hold(taken.reserved * amount)
    if (taken.reserved === 0) this.#meters.delete(client)
    else this.#meters.set(client, meter)
  }

  #enterNext(): void {
    while (this.#queued > 0) {
      const next = this.#waiting.shift((owner, wanted) => this.#mayTake(owner, wanted))
      if (next === undefined) return
      this.#queued--
      this.#enter(next.owner, next.item)
      next.item.enter()
    }
  }
}

/** Returns a stream that starts when its client gets a slot and releases it at its end. */
export const streamInTurn = (
  slots: ClientSlots,
  client: string,
  open: () => ChunkStream<ResponseChunk> | Promise<ChunkStream<ResponseChunk>>,
  count = 1,
): ChunkStream<ResponseChunk> => {
  const cancellation = new Cancellation()
  const stream = composeStream<ResponseChunk>(async function* (readSource) {
    const leave = await slots.take(client, cancellation, count)
    try {
      yield* readSource(await open())
    } finally {
      leave()
    }
  })
  return {
    next: stream.next,
    cancel() {
      stream.cancel()
      cancellation.cancel()
    },
  }
}
