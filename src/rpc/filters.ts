import type { ChainReadError, ChainView, LogEntry, PoolPort } from '../chain/types.ts'
import { LIMITS } from '../config/limits.ts'
import type { Hex } from '../util/bytes.ts'
import { isCoded } from '../util/errors.ts'
import { turnOver } from '../util/turn.ts'
import type { LogCriteria } from './codecs/filter.ts'
import { serverError } from './errors.ts'
import { randomId } from './ids.ts'
import { rangeOf } from './log-match.ts'
import { PendingHashes } from './pending-hashes.ts'

type Filter =
  | { readonly kind: 'logs'; readonly criteria: LogCriteria; next: number; usedMs: number }
  | { readonly kind: 'blocks'; next: number; usedMs: number }
  | { readonly kind: 'pending'; next: number; usedMs: number }

export type FilterChanges = { readonly logs: readonly LogEntry[] } | { readonly hashes: readonly Hex[] }

export interface FilterOptions {
  readonly view: ChainView
  readonly pool: PoolPort
  readonly nowMs?: () => number
}

/** What a smaller range may cure. */
const TOO_MUCH: ReadonlySet<string> = new Set<ChainReadError['code']>(['TOO_MANY_RESULTS', 'RESULTS_TOO_LARGE'])

const notFound = () => serverError('filter not found')

/**
 * Polled filters. Blocks are final, so a filter is only a cursor and memory does not grow with what it has not fetched yet;
 * pending hashes are kept until every pending filter has had them or is idle, within a limit.
 */
export class Filters {
  readonly #view: ChainView
  readonly #nowMs: () => number
  readonly #filters = new Map<Hex, Filter>()
  readonly #pending = new PendingHashes(LIMITS.rpc.filterResults)
  #pendingFilters = 0
  readonly #stops: readonly (() => void)[]
  #sweptMs: number

  constructor({ view, pool, nowMs = Date.now }: FilterOptions) {
    this.#view = view
    this.#nowMs = nowMs
    this.#sweptMs = nowMs()
    this.#stops = [
      pool.onPending(({ hash }) => this.#remember(hash)),
      view.onReplaced?.(({ head }) => this.#goBack(head.header.number + 1)) ?? (() => {}),
    ]
  }

  get size(): number {
    return this.#filters.size
  }

  /** Pending hashes in memory. */
  get heldHashes(): number {
    return this.#pending.size
  }

  newLogFilter(criteria: LogCriteria): Hex {
    if (criteria.blockHash !== undefined) throw serverError('a filter takes a range, not a block hash')
    const head = this.#view.head().header.number
    const { fromBlock } = rangeOf(criteria, head)
    // What is already in the chain is for eth_getFilterLogs; changes start with the next block.
    return this.#add({ kind: 'logs', criteria, next: Math.max(fromBlock, head + 1), usedMs: this.#nowMs() })
  }

  newBlockFilter(): Hex {
    return this.#add({ kind: 'blocks', next: this.#view.head().header.number + 1, usedMs: this.#nowMs() })
  }

  newPendingFilter(): Hex {
    const id = this.#add({ kind: 'pending', next: this.#pending.end, usedMs: this.#nowMs() })
    this.#pendingFilters++
    return id
  }

  uninstall(id: Hex): boolean {
    const filter = this.#filters.get(id)
    if (filter === undefined) return false
    this.#filters.delete(id)
    if (filter.kind === 'pending' && --this.#pendingFilters === 0) this.#pending.dropBefore(this.#pending.end)
    return true
  }

  /** What is new since the last time. */
  async changes(id: Hex): Promise<FilterChanges> {
    const filter = this.#use(id)
    switch (filter.kind) {
      case 'logs':
        return { logs: await this.#logChanges(filter) }
      case 'blocks':
        return { hashes: await this.#blockChanges(filter) }
      case 'pending': {
        const hashes = this.#pending.from(filter.next)
        filter.next = this.#pending.end
        return { hashes }
      }
    }
  }

  /** What a log filter looks for. */
  criteria(id: Hex): LogCriteria {
    const filter = this.#use(id)
    if (filter.kind !== 'logs') throw notFound()
    return filter.criteria
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#filters.clear()
    this.#pending.dropBefore(this.#pending.end)
  }

  /** In portions: a range that holds too many results is halved, and the rest comes next time. */
  async #logChanges(filter: Extract<Filter, { kind: 'logs' }>): Promise<readonly LogEntry[]> {
    const { addresses, topics, toBlock: end } = filter.criteria
    const head = this.#view.head().header.number
    const fromBlock = filter.next
    let toBlock = end === 'earliest' ? 0 : typeof end === 'number' ? Math.min(end, head) : head
    if (fromBlock > toBlock) return []
    // Claimed before the wait, so that two polls at once do not answer the same logs.
    filter.next = toBlock + 1
    for (;;) {
      try {
        return await this.#view.logs({ fromBlock, toBlock, addresses, topics })
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
    const head = this.#view.head().header.number
    const from = filter.next
    const to = Math.min(head, from + LIMITS.rpc.logResults - 1)
    filter.next = to + 1
    const hashes: Hex[] = []
    for (let number = from; number <= to; number++) {
      await turnOver()
      const block = await this.#view.blockByNumber(number)
      if (block !== undefined) hashes.push(block.hash)
    }
    return hashes
  }

  /** Blocks were taken back (development chains): those that come in their place are new. */
  #goBack(next: number): void {
    for (const filter of this.#filters.values())
      if (filter.kind !== 'pending') filter.next = Math.min(filter.next, next)
  }

  #add(filter: Filter): Hex {
    this.#sweep(this.#filters.size >= LIMITS.rpc.filters)
    if (this.#filters.size >= LIMITS.rpc.filters) throw serverError(`too many filters, at most ${LIMITS.rpc.filters}`)
    const id = randomId()
    this.#filters.set(id, filter)
    return id
  }

  #use(id: Hex): Filter {
    const filter = this.#filters.get(id)
    const now = this.#nowMs()
    if (filter === undefined) throw notFound()
    if (now - filter.usedMs > LIMITS.rpc.filterIdleMs) {
      this.uninstall(id)
      throw notFound()
    }
    filter.usedMs = now
    return filter
  }

  #remember(hash: Hex): void {
    if (this.#pendingFilters === 0) return
    this.#sweep(false)
    this.#pending.push(hash)
  }

  /** Idle filters, and hashes nobody waits for, cost memory only while somebody makes new ones or transactions arrive, and both come by here. */
  #sweep(force: boolean): void {
    const now = this.#nowMs()
    if (!force && now - this.#sweptMs < LIMITS.rpc.filterIdleMs / 10) return
    this.#sweptMs = now
    let wanted = this.#pending.end
    for (const [id, filter] of this.#filters) {
      if (now - filter.usedMs > LIMITS.rpc.filterIdleMs) this.uninstall(id)
      else if (filter.kind === 'pending') wanted = Math.min(wanted, filter.next)
    }
    this.#pending.dropBefore(wanted)
  }
}
