import type { Hex } from '@tandem/base/bytes.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import type { AccountReader, PoolBlock, PoolLimits } from '../../src/txpool/pool/types.ts'

interface Item {
  readonly tx: Transaction
  readonly slots: number
  readonly arrival: number
  readonly sweep: number
}
interface Seen {
  nonce: number
  balance: bigint
  includedSweep: number
}

/**
 * The pool as its rules read, with one flat list and everything sorted and counted anew each time it is asked. Slow and, it is hoped,
 * obviously right. Form checks are left to unit tests: what comes here has good form.
 */
export class ModelPool {
  items: Item[] = []
  readonly announced = new Set<Hex>()
  readonly #seen = new Map<Hex, Seen>()
  readonly #accounts: AccountReader
  readonly #limits: PoolLimits
  baseFee: bigint
  #arrivals = 0
  #sweptMs = 0
  #sweeps = 0

  constructor(accounts: AccountReader, limits: PoolLimits, baseFee: bigint) {
    this.#accounts = accounts
    this.#limits = limits
    this.baseFee = baseFee
  }

  senders(): Hex[] {
    return [...new Set(this.items.map(item => item.tx.from))]
  }

  of(who: Hex): Item[] {
    return this.items.filter(item => item.tx.from === who).sort((a, b) => Number(a.tx.nonce) - Number(b.tx.nonce))
  }

  /** The longest run from the account's nonce that the balance pays for. */
  ready(who: Hex): Item[] {
    const { nonce, balance } = this.#view(who)
    const out: Item[] = []
    let spent = 0n
    for (const item of this.of(who)) {
      spent += cost(item.tx)
      if (item.tx.nonce !== nonce + out.length || spent > balance) break
      out.push(item)
    }
    return out
  }

  queued(who: Hex): Item[] {
    return this.of(who).slice(this.ready(who).length)
  }

  /** Of the ready ones, those before the first that does not reach the base fee. */
  executable(who: Hex): Item[] {
    const ready = this.ready(who)
    const end = ready.findIndex(item => item.tx.maxFeePerGas < this.baseFee)
    return end < 0 ? ready : ready.slice(0, end)
  }

  /** The code of the refusal, or the hashes that became executable for the first time. */
  admit(tx: Transaction): string | Hex[] {
    const { from, nonce } = tx
    if (this.items.some(item => item.tx.hash === tx.hash)) return 'ALREADY_KNOWN'
    if (tx.maxFeePerGas < this.baseFee) return 'UNDERPRICED'
    if (this.of(from).length > 0) {
      this.#look(from)
      this.#trim([from])
    }
    const account = this.#view(from)
    const old = this.of(from).find(item => item.tx.nonce === nonce)
    const ready = this.ready(from)
    if (nonce < account.nonce) return 'NONCE_TOO_LOW'
    let want = cost(tx)
    for (const item of ready) if (item !== old) want += cost(item.tx)
    if (want > account.balance) return 'INSUFFICIENT_FUNDS'
    const slots = Math.ceil(tx.raw.byteLength / this.#limits.slotBytes)
    if (old) {
      const percent = BigInt(100 + this.#limits.replacementBumpPercent)
      const enough = (now: bigint, before: bigint): boolean => now * 100n >= before * percent
      if (!enough(tx.maxFeePerGas, old.tx.maxFeePerGas)) return 'REPLACEMENT_UNDERPRICED'
      if (!enough(tx.maxPriorityFeePerGas, old.tx.maxPriorityFeePerGas)) return 'REPLACEMENT_UNDERPRICED'
      if (slots > old.slots && !this.#fits(from, slots - old.slots, ready.includes(old))) return 'POOL_FULL'
      this.#remove(old)
    }
    this.items.push({ tx, slots, arrival: this.#arrivals++, sweep: this.#sweeps })
    this.#seen.set(from, account)
    this.#trim([from])
    if (!this.items.some(item => item.tx === tx)) return 'POOL_FULL'
    return this.#announce([from])
  }

  onBlock(block: PoolBlock): Hex[] {
    this.baseFee = block.baseFee
    const touched = new Set([
      ...block.transactions.flatMap(tx => (tx.to ? [tx.from, tx.to] : [tx.from])),
      ...(block.touched ?? []),
    ])
    const sweep = block.nowMs - this.#sweptMs >= this.#limits.sweepMs
    if (sweep) {
      this.#sweptMs = block.nowMs
      this.#sweeps++
    }
    for (const tx of block.transactions) {
      const seen = this.#seen.get(tx.from)
      if (seen) seen.includedSweep = this.#sweeps
    }
    const looked = this.senders().filter(who => sweep || touched.has(who))
    for (const who of looked) this.#look(who)
    if (sweep) this.#expire()
    this.#trim(looked)
    return this.#announce(this.senders())
  }

  discard(hash: Hex): void {
    const item = this.items.find(candidate => candidate.tx.hash === hash)
    if (item === undefined) return
    this.#remove(item)
    this.#trim([item.tx.from])
  }

  select(): Hex[] {
    const waiting = this.senders().map(who => this.executable(who))
    const out: Hex[] = []
    for (;;) {
      const heads = waiting.filter(list => list.length > 0)
      if (heads.length === 0) return out
      heads.sort((a, b) => this.#byTip(b[0]!, a[0]!) || a[0]!.arrival - b[0]!.arrival)
      out.push(heads[0]!.shift()!.tx.hash)
    }
  }

  slots(): { ready: number; queued: number } {
    const senders = this.senders()
    return {
      ready: sum(senders.flatMap(who => this.ready(who))),
      queued: sum(senders.flatMap(who => this.queued(who))),
    }
  }

  #view(who: Hex): Seen {
    const seen = this.of(who).length > 0 ? this.#seen.get(who) : undefined
    return seen ?? { nonce: Number(this.#accounts.nonce(who)), balance: this.#accounts.balance(who), includedSweep: 0 }
  }

  /** Reads the account, drops what is used up or unpayable. */
  #look(who: Hex): void {
    const nonce = Number(this.#accounts.nonce(who))
    const balance = this.#accounts.balance(who)
    const seen = this.#seen.get(who)!
    // Judged only when the account moved; what was admitted at these values stays.
    if (seen.nonce !== nonce || seen.balance !== balance) {
      this.items = this.items.filter(({ tx }) => tx.from !== who || (tx.nonce >= nonce && cost(tx) <= balance))
    }
    this.#seen.set(who, { ...seen, nonce, balance })
  }

  #expire(): void {
    for (const item of this.items) {
      const since = Math.max(item.sweep, this.#seen.get(item.tx.from)!.includedSweep)
      if (this.#sweeps - since >= this.#limits.lifetimeSweeps) this.#remove(item)
    }
  }

  #trim(senders: readonly Hex[]): void {
    const { accountQueued, accountPending, pending, queued } = this.#limits
    for (const who of senders) while (sum(this.queued(who)) > accountQueued) this.#remove(this.queued(who).at(-1)!)
    const worst = (
      list: (who: Hex) => Item[],
      guaranteed: number,
      order: (a: readonly Item[], b: readonly Item[]) => number,
    ): Item => {
      const tails = this.senders()
        .map(list)
        .filter(items => items.length > 0)
        .map(items => ({ size: Math.max(guaranteed, sum(items)), items }))
      tails.sort((a, b) => b.size - a.size || order(a.items, b.items))
      return tails[0]!.items.at(-1)!
    }
    const doubts = (items: readonly Item[]): number =>
      Number(items.some(({ tx }) => tx.gasLimit > 12_500_000n || tx.maxFeePerGas < this.baseFee))
    // None is included before those ahead of it.
    const lowest = (items: readonly Item[]): Item => items.toSorted((a, b) => this.#byTip(a, b))[0]!
    const cheapest = (a: readonly Item[], b: readonly Item[]): number =>
      doubts(b) - doubts(a) || this.#byTip(lowest(a), lowest(b)) || b.at(-1)!.arrival - a.at(-1)!.arrival
    const isBusy = ({ tx }: Item): number =>
      Number(this.executable(tx.from).length > 0 && doubts(this.ready(tx.from)) === 0)
    const oldest = (a: readonly Item[], b: readonly Item[]): number =>
      isBusy(a.at(-1)!) - isBusy(b.at(-1)!) || a.at(-1)!.arrival - b.at(-1)!.arrival
    while (this.slots().ready > pending) this.#remove(worst(who => this.ready(who), accountPending, cheapest))
    while (this.slots().queued > queued) this.#remove(worst(who => this.queued(who), accountPending, oldest))
  }

  #fits(who: Hex, more: number, ready: boolean): boolean {
    const slots = this.slots()
    if (ready) return slots.ready + more <= this.#limits.pending
    return sum(this.queued(who)) + more <= this.#limits.accountQueued && slots.queued + more <= this.#limits.queued
  }

  #announce(senders: readonly Hex[]): Hex[] {
    const fresh = senders
      .flatMap(who => this.executable(who).map(item => item.tx.hash))
      .filter(hash => !this.announced.has(hash))
    for (const hash of fresh) this.announced.add(hash)
    return fresh
  }

  #remove(item: Item): void {
    this.items = this.items.filter(other => other !== item)
  }

  #byTip(a: Item, b: Item): number {
    const difference = this.#tip(a.tx) - this.#tip(b.tx)
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  }

  #tip(tx: Transaction): bigint {
    const left = tx.maxFeePerGas - this.baseFee
    return left < tx.maxPriorityFeePerGas ? left : tx.maxPriorityFeePerGas
  }
}

const cost = (tx: Transaction): bigint => tx.gasLimit * tx.maxFeePerGas + tx.value
const sum = (items: readonly Item[]): number => items.reduce((total, item) => total + item.slots, 0)
