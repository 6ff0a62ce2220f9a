import { Cancellation, Cancelled } from '../../../util/async/cancellation.ts'
import { type ChunkStream, composeStream } from '../../../util/async/chunk-stream.ts'
import { FairQueue } from '../../../util/async/fair-queue.ts'
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

/** Slots for slow work with a limit per client, so that no client takes all of them. Queued clients are served in rotation. */
export class ClientSlots {
  readonly #limits: ClientSlotLimits
  readonly #what: string
  readonly #waiting = new FairQueue<() => void>()
  readonly #takenBy = new Map<string, number>()
  #taken = 0
  #queued = 0

  /** `what` names the work in the plural, for error messages. */
  constructor(limits: ClientSlotLimits, what: string) {
    this.#limits = limits
    this.#what = what
  }

  get taken(): number {
    return this.#taken
  }

  /**
   * Resolves with the release of the slot. Throws when too many requests are queued, and Cancelled when cancelled in the queue.
   */
  async take(client: string, cancellation?: Cancellation): Promise<() => void> {
    const { queue, clientQueue } = this.#limits
    if (this.#taken < this.#limits.total && this.#mayTake(client)) this.#enter(client)
    else {
      if (this.#waiting.lengthOf(client) >= clientQueue)
        throw limitExceeded(`too many of your ${this.#what} (limit ${clientQueue}) are waiting, try again later`)
      if (this.#queued >= queue) throw limitExceeded(`too many ${this.#what} are waiting, try again later`)
      await this.#wait(client, cancellation)
    }
    return () => this.#leave(client)
  }

  #wait(client: string, cancellation: Cancellation | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        forget?.()
        resolve()
      }
      this.#queued++
      this.#waiting.push(client, enter)
      const forget = cancellation?.onCancel(() => {
        if (this.#waiting.remove(client, enter)) this.#queued--
        reject(new Cancelled())
      })
    })
  }

  #mayTake(client: string): boolean {
    return (this.#takenBy.get(client) ?? 0) < this.#limits.client
  }

  #enter(client: string): void {
    this.#taken++
    this.#takenBy.set(client, (this.#takenBy.get(client) ?? 0) + 1)
  }

  #leave(client: string): void {
    this.#taken--
    const left = (this.#takenBy.get(client) ?? 1) - 1
    if (left === 0) this.#takenBy.delete(client)
    else this.#takenBy.set(client, left)
    const next = this.#waiting.shift(owner => this.#mayTake(owner))
    if (next === undefined) return
    this.#queued--
    this.#enter(next.owner)
    next.item()
  }
}

/** Returns a stream that starts when its client gets a slot and releases it at its end. */
export const streamInTurn = (
  slots: ClientSlots,
  client: string,
  open: () => ChunkStream<ResponseChunk> | Promise<ChunkStream<ResponseChunk>>,
): ChunkStream<ResponseChunk> => {
  const cancellation = new Cancellation()
  const stream = composeStream<ResponseChunk>(async function* (readSource) {
    const leave = await slots.take(client, cancellation)
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
