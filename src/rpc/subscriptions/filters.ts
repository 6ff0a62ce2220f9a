import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { criteriaBytes, packCriteria } from '../../chain/store/log-criteria.ts'
import type { ChainReadError, ChainView, LogQuery } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { ClientPoolPort } from '../../txpool/pool-service.ts'
import type { LogFilterArgs as RequestedLogs } from '../codecs/filter.ts'
import { serverError } from '../errors.ts'
import { namedNumber } from '../router/block-reads.ts'
import { type Budgets, criteriaFull, filtersFull } from '../router/budgets.ts'
import { blockRangeFromCriteria, isNumber, type LogFilterTarget } from './log-results.ts'
import { PendingHashes } from './pending-hashes.ts'
import type { Shared, SharedCriteria } from './shared-criteria.ts'
import { randomId } from './subscription-entry.ts'

/** Target of a log filter: a block range, and criteria that filters and subscriptions share. */
interface FilterLogs extends Pick<RequestedLogs, 'fromBlock' | 'toBlock'> {
  readonly shared: Shared
}

type Kind =
  | { readonly kind: 'logs'; readonly logs: FilterLogs }
  | { readonly kind: 'blocks' }
  | { readonly kind: 'pending' }

type Filter = Kind & {
  /** First block, or first pending hash, that has not been returned yet. */
  next: number
  /** First block of its range; 0 for filters without one. */
  readonly first: number
  usedMs: number
  readonly client: string
  /** Returns what it holds of its client's budgets. */
  readonly release: () => void
}

type LogFilter = Extract<Filter, { readonly kind: 'logs' }>

type FilterChanges<Logs> = { readonly logs: Logs } | { readonly hashes: readonly Hex[] }

interface FilterOptions {
  readonly view: ChainView
  readonly pool: ClientPoolPort
  readonly budgets: Pick<Budgets, 'criteria' | 'filters'>
  readonly criteria: SharedCriteria
  readonly nowMs?: () => number
}

/** Shortest interval between sweeps forced by a client without room. */
const FORCED_SWEEP_MS = 1_000

/** Errors that a smaller range may avoid. */
export const TOO_MUCH: ReadonlySet<string> = new Set<ChainReadError['code']>(['TOO_MANY_RESULTS', 'RESULTS_TOO_LARGE'])

const notFound = () => serverError('filter not found')

/**
 * Polled filters. Blocks are final, so a block or log filter is only a cursor, and memory does not grow with what it has
 * not fetched yet; pending hashes are kept, within a limit, until every pending filter has returned them or is idle.
 */
export class FilterManager {
  readonly #options: FilterOptions
  readonly #filters = new Map<Hex, Filter>()
  readonly #pending = new PendingHashes(RPC_LIMITS.filterResults)
  #pendingFilters = 0
  readonly #stops: readonly (() => void)[]
  #sweptMs: number

  constructor(options: FilterOptions) {
    this.#options = options
    const { view, pool } = options
    this.#sweptMs = this.#nowMs()
    this.#stops = [
      pool.onPending(({ hash }) => {
        if (this.#pendingFilters === 0) return
        this.#sweep(false)
        this.#pending.push(hash)
      }),
      // Replacing blocks are new (development chains): cursors move back, none before its filter's beginning.
      view.onReplaced?.(({ head }) => {
        for (const filter of this.#filters.values())
          if (filter.kind !== 'pending')
            filter.next = Math.min(filter.next, Math.max(filter.first, head.header.number + 1))
      }) ?? (() => {}),
    ]
  }

  #nowMs(): number {
    return (this.#options.nowMs ?? Date.now)()
  }

  get size(): number {
    return this.#filters.size
  }

  /** Number of pending hashes in memory. */
  get heldHashes(): number {
    return this.#pending.size
  }

  /** `client` is the client whose budgets are charged. */
  newLogFilter(criteria: RequestedLogs, client: string): Hex {
    if (criteria.blockHash !== undefined) throw serverError('a filter takes a range, not a block hash')
    const head = this.#options.view.head().header.number
    const { fromBlock } = blockRangeFromCriteria(criteria, head)
    const packed = packCriteria(criteria)
    const release = this.#reserve(client, criteriaBytes(packed))
    const shared = this.#options.criteria.take(packed)
    const { toBlock } = criteria
    // Existing logs are returned by eth_getFilterLogs; changes start with the next block.
    return this.#add({
      ...{ kind: 'logs', logs: { fromBlock: criteria.fromBlock, toBlock, shared }, client, usedMs: this.#nowMs() },
      ...{ next: Math.max(fromBlock, head + 1), first: isNumber(criteria.fromBlock) ? fromBlock : 0 },
      release: () => {
        shared.release()
        release()
      },
    })
  }

  newBlockFilter(client: string): Hex {
    const release = this.#reserve(client)
    const next = this.#options.view.head().header.number + 1
    return this.#add({ kind: 'blocks', next, first: 0, usedMs: this.#nowMs(), client, release })
  }

  newPendingFilter(client: string): Hex {
    const release = this.#reserve(client)
    const id = this.#add({ kind: 'pending', next: this.#pending.end, first: 0, usedMs: this.#nowMs(), client, release })
    this.#pendingFilters++
    return id
  }

  uninstall(id: Hex): boolean {
    const filter = this.#filters.get(id)
    if (filter === undefined) return false
    this.#filters.delete(id)
    filter.release()
    if (filter.kind === 'pending' && --this.#pendingFilters === 0) this.#pending.dropBefore(this.#pending.end)
    return true
  }

  /** Returns the changes since the last poll; `find` runs log queries. */
  async changes<Logs>(id: Hex, find: (query: LogQuery) => Promise<Logs>): Promise<FilterChanges<Logs>> {
    const filter = this.#use(id)
    switch (filter.kind) {
      case 'logs':
        return { logs: await this.#logChanges(filter, find) }
      case 'blocks':
        return { hashes: await this.#blockChanges(filter) }
      case 'pending': {
        const hashes = this.#pending.from(filter.next)
        filter.next = this.#pending.end
        return { hashes }
      }
    }
  }

  /** Returns the range and criteria of a log filter. */
  criteria(id: Hex): LogFilterTarget {
    const filter = this.#use(id)
    if (filter.kind !== 'logs') throw notFound()
    const { fromBlock, toBlock, shared } = filter.logs
    return { fromBlock, toBlock, criteria: shared.criteria }
  }

  close(): void {
    for (const stop of this.#stops) stop()
    for (const { release } of this.#filters.values()) release()
    this.#filters.clear()
    this.#pending.dropBefore(this.#pending.end)
  }

  /** Returns log changes in portions: a range with too many results is halved, and the rest is returned by the next poll. */
  async #logChanges<Logs>(filter: LogFilter, find: (query: LogQuery) => Promise<Logs>): Promise<Logs> {
    const { toBlock: end = 'latest', shared } = filter.logs
    const head = this.#options.view.head().header.number
    const fromBlock = filter.next
    let toBlock = Math.min(Number(namedNumber(end, head)), head)
    if (fromBlock > toBlock) return find({ fromBlock, toBlock, ...shared.criteria })
    // Advanced before the wait, so that two concurrent polls do not return the same logs.
    filter.next = toBlock + 1
    for (;;) {
      try {
        return await find({ fromBlock, toBlock, ...shared.criteria })
      } catch (error) {
        const canShrink = isCoded(error) && TOO_MUCH.has(error.code) && toBlock > fromBlock
        if (!canShrink) {
          filter.next = fromBlock
          throw error
        }
        toBlock = fromBlock + Math.floor((toBlock - fromBlock) / 2)
        filter.next = toBlock + 1
      }
    }
  }

  async #blockChanges(filter: Filter): Promise<readonly Hex[]> {
    const head = this.#options.view.head().header.number
    const from = filter.next
    const to = Math.min(head, from + RPC_LIMITS.logResults - 1)
    filter.next = to + 1
    const hashes: Hex[] = []
    for (let number = from; number <= to; number++) {
      await sliceOver(filter.client)
      const block = await this.#options.view.blockByNumber(number)
      if (block !== undefined) hashes.push(block.hash)
    }
    return hashes
  }

  /** Reserves room for one more filter in the client's budgets; returns its release. Throws when there is no room. */
  #reserve(client: string, bytes = 0): () => void {
    const { filters, criteria } = this.#options.budgets
    const [count, held] = [filters.meter(client), criteria.meter(client)]
    const needed = RPC_LIMITS.filterBytes + bytes
    if (!count.hold(1)) {
      this.#sweep(true)
      if (!count.hold(1)) throw filtersFull(client, filters)
    }
    if (!held.hold(needed)) {
      count.hold(0)
      throw criteriaFull(client, needed, criteria)
    }
    return () => {
      count.hold(0)
      held.hold(0)
    }
  }

  #add(filter: Filter): Hex {
    this.#sweep(false)
    const id = randomId()
    this.#filters.set(id, filter)
    return id
  }

  #use(id: Hex): Filter {
    const filter = this.#filters.get(id)
    const now = this.#nowMs()
    if (filter === undefined) throw notFound()
    if (now - filter.usedMs > RPC_LIMITS.filterIdleMs) {
      this.uninstall(id)
      throw notFound()
    }
    filter.usedMs = now
    return filter
  }

  /** Drops idle filters and unneeded pending hashes; called on new filters and transactions, the only events that add memory. */
  #sweep(force: boolean): void {
    const now = this.#nowMs()
    if (now - this.#sweptMs < (force ? FORCED_SWEEP_MS : RPC_LIMITS.filterIdleMs / 10)) return
    this.#sweptMs = now
    let wanted = this.#pending.end
    for (const [id, filter] of this.#filters) {
      if (now - filter.usedMs > RPC_LIMITS.filterIdleMs) this.uninstall(id)
      else if (filter.kind === 'pending') wanted = Math.min(wanted, filter.next)
    }
    this.#pending.dropBefore(wanted)
  }
}
