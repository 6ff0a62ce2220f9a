import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { type ChunkStream, composeStream } from '@tandem/base/async/chunk-stream.ts'
import { FairSemaphore, type SemaphoreLimits } from '@tandem/base/async/fair-semaphore.ts'
import { StallTimer } from '@tandem/base/async/stall-timer.ts'
import type { ClientBudget } from '@tandem/base/client-budget.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { limitExceeded, type RpcError } from '../errors.ts'
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

const READ_TOO_SLOWLY = limitExceeded('others waited for this work, and its result was read too slowly')

/** Returns a stream that starts when its client gets a slot and releases it at its end, or when others wait and its reader is slow. */
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
  let failure: RpcError | undefined
  const stop = (reason?: RpcError): void => {
    failure = reason
    stream.cancel()
    cancellation.cancel()
  }
  const isPatient = () => !slots.isWantedBesides(client)
  const stall = new StallTimer(RPC_LIMITS.wantedSlot, () => stop(READ_TOO_SLOWLY), isPatient)
  return {
    async next() {
      stall.stop()
      if (failure !== undefined) throw failure
      const piece = await stream.next()
      if (piece === undefined) return undefined
      stall.count(piece.length)
      stall.wait()
      return piece
    },
    cancel() {
      stall.stop()
      stop()
    },
  }
}
