import { delayUntil } from '@tandem/base/async/delay.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { isStoreError } from '../../../storage/errors.ts'
import { ChunkPlan } from './chunk-plan.ts'
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
  readonly isStopped: () => boolean
}

/** Error of a download that the node's end has cut short: what is missing is fetched by the next run. */
export const endOfRun = () => fetchFailed('more: the node stops')

/** Fetches, verifies and stores chunks from several peers; reports senders of false ones. Throws NOT_OBTAINED after a while without any. */
export const fetchChunks = async (options: FetchChunksOptions): Promise<void> => {
  const { number, from, to, done, isStopped } = options
  const plan = new ChunkPlan({ from, to, done, parallel: SNAPSHOT_LIMITS.parallel })
  const underWay = new Set<Promise<void>>()
  while (!plan.isDone && !isStopped()) {
    for (const index of plan.ask()) {
      const work = fetchChunk(options, plan, index)
      const ended: Promise<void> = work.finally(() => underWay.delete(ended))
      underWay.add(ended)
    }
    await firstOf(underWay)
    if (plan.failures < SNAPSHOT_LIMITS.attempts) continue
    await Promise.all(underWay)
    throw fetchFailed(`chunks of snapshot ${number}`)
  }
  await Promise.all(underWay)
  if (isStopped()) throw endOfRun()
}

/** Waits for one of them; after a failure for all, whose own failures explain nothing more. */
const firstOf = async (underWay: ReadonlySet<Promise<void>>): Promise<void> => {
  try {
    await Promise.race(underWay)
  } catch (error) {
    await Promise.allSettled(underWay)
    throw error
  }
}

const fetchChunk = async (options: FetchChunksOptions, plan: ChunkPlan, index: number): Promise<void> => {
  const { network, staging, id, done, progress, clock, logger, isStopped } = options
  try {
    const { answer, from } = await network.request(
      'getChunk',
      { snapshot: id, index },
      { validate: chunk => (chunk.byteLength === 0 ? 'empty' : 'good') },
    )
    try {
      progress.imported(await staging.call('import', index, answer), answer.byteLength)
      done.add(index)
      plan.imported(index)
      return
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
    if (!isStopped()) await delayUntil(clock, clock.nowMs() + SNAPSHOT_LIMITS.retryMs).over
  }
  plan.failed(index)
}
