import { waitUntil } from '@tandem/base/async/delay.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { isStoreError } from '../../../storage/errors.ts'
import { fetchFailed, type PeerSource } from './fetch-headers.ts'
import type { SnapshotProgress } from './snapshot-progress.ts'
import type { StagingMethods } from './staging-worker.ts'

interface FetchChunksOptions {
  readonly network: PeerSource
  readonly staging: Pick<WorkerClient<StagingMethods>, 'call'>
  readonly id: Hex
  /** Number of the snapshot's block. */
  readonly number: number
  /** Range of chunks, `to` exclusive. */
  readonly from: number
  readonly to: number
  /** Imported chunks; new ones are added. */
  readonly done: Set<number>
  readonly progress: SnapshotProgress
  readonly clock: Clock
  readonly logger: Logger
  readonly stopping: AbortSignal
}

/** Error of a download that the node's end has cut short: what is missing is fetched by the next run. */
export const endOfRun = () => fetchFailed('more: the node stops')

/**
 * Fetches, verifies and stores chunks from several peers, the lowest first, a failed one again before later ones; reports senders of false
 * ones. Throws NOT_OBTAINED after a while without any.
 */
export const fetchChunks = async (options: FetchChunksOptions): Promise<void> => {
  const { number, from, to, done, stopping } = options
  const failed: number[] = []
  let next = from
  /** Failures since the last imported chunk. */
  let failures = 0
  let fault: { readonly error: unknown } | undefined
  const take = (): number | undefined => {
    if (fault !== undefined || stopping.aborted) return undefined
    if (failed.length > 0) return failed.shift()
    while (next < to && done.has(next)) next++
    return next < to ? next++ : undefined
  }
  const fetchInTurn = async (): Promise<void> => {
    for (let index = take(); index !== undefined; index = take()) {
      if (await fetchChunk(options, index)) {
        failures = 0
        continue
      }
      failed.push(index)
      failed.sort((a, b) => a - b)
      if (++failures >= SNAPSHOT_LIMITS.attempts) fault ??= { error: fetchFailed(`chunks of snapshot ${number}`) }
    }
  }
  // Several at once, which bounds the memory; the first error ends all, and those of the others explain nothing more.
  const parallel = Array.from({ length: SNAPSHOT_LIMITS.parallel }, () =>
    fetchInTurn().catch(error => {
      fault ??= { error }
    }),
  )
  await Promise.all(parallel)
  if (fault !== undefined) throw fault.error
  if (stopping.aborted) throw endOfRun()
}

/** Returns false when no peer sent the chunk. */
const fetchChunk = async (options: FetchChunksOptions, index: number): Promise<boolean> => {
  const { network, staging, id, done, progress, clock, logger, stopping } = options
  try {
    const { answer, from } = await network.request(
      'getChunk',
      { snapshot: id, index },
      { validate: chunk => (chunk.byteLength === 0 ? 'empty' : 'good') },
    )
    try {
      progress.imported(await staging.call('import', index, answer), answer.byteLength)
      done.add(index)
      return true
    } catch (error) {
      if (!isCoded(error) || error.code !== 'SNAPSHOT_FALSE') throw error
      // The peer responded for this snapshot id, so it has the same chunks, or lies.
      logger.warn({ peer: from, index, err: error }, 'peer sent an invalid chunk')
      network.reportForgery(from, `chunk ${index} of a snapshot: ${error.message}`)
    }
  } catch (error) {
    if (!isCoded(error) || isStoreError(error)) throw error
    logger.debug({ index, err: error }, 'chunk not received')
    // Without a pause a peer that returns nothing would get the next request at once.
    await waitUntil(clock, clock.nowMs() + SNAPSHOT_LIMITS.retryMs, stopping)
  }
  return false
}
