import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { COUNCIL_ADDRESS } from '../../../config/networks.ts'
import { chunksOf, encodeManifest } from '../../../network/wire/snapshot.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { encodeRlpList } from '../../../primitives/rlp/rlp.ts'
import { mintedUpTo } from '../../../rules/money/supply.ts'
import { hashedKey } from '../../../state/flat-tables.ts'
import type { HistoryTip } from '../backfill/history-rows.ts'
import type { ValidManifest } from './choose-snapshot.ts'
import { accountChunk, type ChunkRange, storageChunks } from './chunk-places.ts'
import { endOfRun, fetchChunks } from './fetch-chunks.ts'
import { fetchCertificate, fetchFailed, importHistory } from './fetch-headers.ts'
import { SnapshotProgress } from './snapshot-progress.ts'
import type { SnapshotSelector, SnapshotSyncOptions } from './snapshot-selector.ts'
import type { MissingCodes } from './staging.ts'

/** Download of selected snapshots into the staging store, in an order in which each piece can be verified. */
export class SnapshotDownload {
  readonly #options: SnapshotSyncOptions
  readonly #selector: Pick<SnapshotSelector, 'reject'>
  readonly #stopping: AbortSignal
  /** Progress of the last download that was begun. */
  progress: SnapshotProgress | undefined

  constructor(options: SnapshotSyncOptions, selector: Pick<SnapshotSelector, 'reject'>, stopping: AbortSignal) {
    this.#options = options
    this.#selector = selector
    this.#stopping = stopping
  }

  /** Throws CodedError: SNAPSHOT_GONE, or that no peer responded. */
  async run(sound: ValidManifest, isBegun: boolean): Promise<void> {
    const { staging, genesis, logger } = this.#options
    const { manifest, header, hash, offeredBy } = sound
    const { number } = header
    if (!isBegun) {
      logger.info({ number, hash, chunks: chunksOf(manifest) }, 'snapshot chosen')
      await staging.call('begin', encodeRlpList([encodeManifest(manifest)]), genesis.rows)
    }
    const { done, ...counts } = await staging.call('progress')
    const { nowMs } = this.#options.clock
    const progress = new SnapshotProgress({ chunks: chunksOf(manifest), done: done.length, ...counts }, nowMs, logger)
    this.progress = progress
    const fetch = this.#fetcher(sound, new Set(done), progress)
    const certificate = await this.#records(sound, fetch)
    const accountsAt = manifest.records.length
    const storagesAt = accountsAt + manifest.accounts.length
    await fetch({ from: accountsAt, to: storagesAt })
    if (!(await staging.call('hasTrueStorages'))) throw this.#selector.reject(sound, 'storages of other accounts')
    await fetch({ from: storagesAt, to: chunksOf(manifest) })
    await this.#codes()
    const { history, balance } = await staging.call('progress')
    await this.#ancestors(history ?? { number, hash, certificate }, this.#lowest(number))
    const burntWei = genesis.wei + mintedUpTo(number, this.#options.identity.params.rewards) - balance
    if (burntWei < 0n) throw this.#selector.reject(sound, 'a state that holds more than was minted')
    await staging.call('finish', burntWei)
    logger.info({ number, hash, ...progress.totals, offeredBy }, 'snapshot sync finished')
  }

  #fetcher({ id, header }: ValidManifest, done: Set<number>, progress: SnapshotProgress) {
    const stopping = this.#stopping
    return (range: ChunkRange): Promise<void> =>
      fetchChunks({ ...this.#options, ...range, id, number: header.number, done, progress, stopping })
  }

  /** Fetches council records, proven by the contract's storage, which comes first; returns a certificate by the committee they name. */
  async #records(sound: ValidManifest, fetch: (range: ChunkRange) => Promise<void>): Promise<Certificate> {
    const { network, staging } = this.#options
    const { manifest, header, hash, offeredBy } = sound
    const owner = hashedKey(COUNCIL_ADDRESS)
    const account = accountChunk(manifest, owner)
    if (account === undefined) throw this.#selector.reject(sound, 'a state without the council')
    await fetch({ from: account, to: account + 1 })
    await fetch(storageChunks(manifest, owner))
    await fetch({ from: 0, to: manifest.records.length })
    const fault = await staging.call('recordsFault')
    if (fault !== null) throw this.#selector.reject(sound, `council records that the state does not hold: ${fault}`)
    const { certificate } = manifest
    if ((await staging.call('certificateFault', certificate)) === null) return certificate
    // The certificate is not part of the content: of several peers that offer the same content, only the first one's was checked.
    for (const peer of offeredBy.slice(0, 1))
      network.reportForgery(peer, `a false certificate of block ${header.number}`)
    const other = await fetchCertificate(network, { number: header.number, hash })
    if ((await staging.call('certificateFault', other)) !== null)
      throw fetchFailed(`a certificate of block ${header.number}`)
    return other
  }

  async #codes(): Promise<void> {
    const { staging, network } = this.#options
    let after: Uint8Array | null = null
    for (;;) {
      if (this.#stopping.aborted) throw endOfRun()
      const { hashes, last }: MissingCodes = await staging.call('missingCodes', after, SNAPSHOT_LIMITS.codes)
      if (hashes.length === 0) return
      after = last
      for (let left = hashes; left.length > 0; ) {
        const { answer, from } = await network.request('getCodes', left, {
          validate: codes => (codes.length === 0 ? 'empty' : 'good'),
        })
        const count = await staging.call('putCodes', left, answer)
        if (count < answer.length) network.reportForgery(from, 'a code with another hash')
        left = left.slice(count)
      }
    }
  }

  /** Returns the number below the ancestors: the record of the snapshot's cycle follows from the headers of that cycle. */
  #lowest(number: number): number {
    const { cycleBlocks } = this.#options.identity.params.rewards
    return Math.max(0, number - Math.max(SNAPSHOT_LIMITS.ancestors, cycleBlocks + 1))
  }

  async #ancestors(first: HistoryTip | 'whole', lowest: number): Promise<void> {
    const { network, staging } = this.#options
    if (first === 'whole') return
    let count: number = SNAPSHOT_LIMITS.historyBlocks
    for (let tip = first; tip.number > lowest; ) {
      if (this.#stopping.aborted) throw endOfRun()
      const wanted = Math.min(count, tip.number - lowest)
      const step = await importHistory(network, tip, wanted, (range, at) => staging.call('putBlocks', range, at))
      tip = step.tip
      count = step.nextCount
    }
  }
}
