import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { type ChunkStream, composeStream } from '@tandem/base/async/chunk-stream.ts'
import { FairSemaphore, type SemaphoreLimits } from '@tandem/base/async/fair-semaphore.ts'
import type { ClientBudget } from '@tandem/base/client-budget.ts'
import { limitExceeded } from '../errors.ts'
import type { ResponseChunk } from './response.ts'

/** Creates the admission of slow work; `what` names the work in the plural, for error messages. */
export const createSlots = (
  limits: SemaphoreLimits & { readonly clientQueue: number },
  what: string,
  ledger?: ClientBudget,
): FairSemaphore =>
  new FairSemaphore(
    limits,
    full =>
      limitExceeded(
        full === 'owner'
          ? `too many of your ${what} (limit ${limits.clientQueue}) are waiting, try again later`
          : `too many ${what} are waiting, try again later`,
      ),
    ledger,
  )

/** Returns a stream that starts when its client gets a slot and releases it at its end. */
export const streamInTurn = (
  slots: FairSemaphore,
  client: string,
  open: () => ChunkStream<ResponseChunk> | Promise<ChunkStream<ResponseChunk>>,
  demand: { readonly weight?: number; readonly reserved?: number } = {},
): ChunkStream<ResponseChunk> => {
  const cancellation = new Cancellation()
  const stream = composeStream<ResponseChunk>(async function* (readSource) {
    const release = await slots.acquire(client, demand, cancellation)
    try {
      yield* readSource(await open())
    } finally {
      release()
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
