import { hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import {
  type AccountEdit,
  putEditedRoot,
  putEditHistory,
  putEditUndo,
  valuesFromEdits,
} from '../../state/world/account-edit.ts'
import { putPreimage } from '../../state/world/preimages.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Chain } from '../chain.ts'
import { queryLogs } from '../logs/log-query.ts'
import { EVERY_LOG } from '../store/log-criteria.ts'
import type { ChainBlock, ChainReplaced, LogEntry } from '../store/types.ts'
import { type RewindParts, type RewindTarget, rewindTo } from './rewind.ts'

interface DevWriterOptions extends RewindParts {
  readonly chain: Chain
  readonly logger: Logger
  /** Called when a revert failed midway: the chain cannot continue until the next start has completed it. */
  readonly onFatal: (error: Error) => void
}

/** Changes that only a development chain allows, serialized with the chain's writes. The engine must be idle: its block would not fit. */
export class DevWriter {
  readonly #options: DevWriterOptions
  readonly #listeners = new Set<(event: ChainReplaced) => void>()
  /** Number of recorded edits of the state at the head. */
  #edits = { number: 0, count: 0 }

  private constructor(options: DevWriterOptions) {
    this.#options = options
  }

  /** Snapshots do not survive the process: their records are deleted, except those that lead back to genesis. */
  static async open(options: DevWriterOptions): Promise<DevWriter> {
    const { development, chain, store } = options
    DevelopmentRules.check(development)
    const writer = new DevWriter(options)
    await store.clear(BUCKETS.editUndo, { gte: numberKey(1) })
    let count = 0
    for await (const _ of store.keys(BUCKETS.editUndo)) count++
    if (chain.headBlock.header.number === 0) writer.#edits = { number: 0, count }
    return writer
  }

  /** Returns the current position of the chain, as a target to revert to. */
  position(): RewindTarget {
    const { number } = this.#options.chain.headBlock.header
    return { number, edits: this.#edits.number === number ? this.#edits.count : 0 }
  }

  onReplaced(listener: (event: ChainReplaced) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Changes accounts in place, without a block. `recorded`: a later revert may return to a position at this block. */
  async edit(edits: readonly AccountEdit[], recorded: boolean): Promise<void> {
    const { chain, store, world } = this.#options
    await chain.replaceHead(async head => {
      const { number, stateRoot } = head.block.header
      const { values, code } = await valuesFromEdits(store, edits)
      const rooted = await world.rootOfValues(values)
      using batch = store.batch()
      const before = await putEditHistory(store, batch, number, rooted.values)
      if (recorded) putEditUndo(batch, number, this.position().edits, before)
      for (const [hash, bytes] of code) batch.put(BUCKETS.code, hexToBytes(hash), bytes)
      for (const { preimages = [] } of edits) for (const name of preimages) putPreimage(batch, name)
      putEditedRoot(batch, number, rooted.root, stateRoot)
      world.writeValues(batch, number, rooted)
      await batch.write()
      if (recorded) this.#edits = { number, count: this.position().edits + 1 }
      await world.replaced(number, rooted)
      return head
    })
    this.#tell(undefined)
  }

  /** Reverts to a position. Throws REWIND_TOO_FAR. */
  async rewind(target: RewindTarget): Promise<void> {
    const { chain, blocks } = this.#options
    const { number, edits } = this.position()
    if (number === target.number && edits === target.edits) return
    let removedLogs: readonly LogEntry[] | undefined
    await chain.replaceHead(async head => {
      // A block may have come since the call.
      const isSameBlock = target.number === head.block.header.number
      if (!isSameBlock) removedLogs = await this.#logsAfter(target.number)
      await this.#rewindTo(target)
      this.#edits = { number: target.number, count: target.edits }
      if (isSameBlock) return head
      return {
        block: (await blocks.block(target.number)) as ChainBlock,
        certificate: (await blocks.certificate(target.number)) ?? null,
      }
    })
    this.#tell(removedLogs)
  }

  async #rewindTo(target: RewindTarget): Promise<void> {
    const { world, onFatal } = this.#options
    const { number, root } = world
    try {
      await rewindTo(this.#options, target)
    } catch (error) {
      if (world.number !== number || world.root !== root)
        onFatal(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  /** Returns no logs when there are more than a query may return: subscribers then get no removal notices, and no client waits for them. */
  async #logsAfter(number: number): Promise<readonly LogEntry[]> {
    const { chain, store, blocks, logger } = this.#options
    const query = { fromBlock: number + 1, toBlock: chain.headBlock.header.number, ...EVERY_LOG }
    const limits = {
      results: RPC_LIMITS.logResults,
      timeoutMs: RPC_LIMITS.logQueryMs,
      nowMs: () => performance.now(),
    }
    try {
      return await queryLogs(store, blocks, query, limits)
    } catch (error) {
      if (!isCoded(error)) throw error
      logger.warn({ reason: error.code }, 'removed logs not announced')
      return []
    }
  }

  #tell(removedLogs: readonly LogEntry[] | undefined): void {
    const { chain, logger } = this.#options
    for (const listener of this.#listeners) {
      try {
        listener({ head: chain.headBlock, removedLogs })
      } catch (error) {
        logger.error({ err: error }, 'head-replaced listener failed')
      }
    }
  }
}
