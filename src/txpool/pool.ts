import { POOL_LIMITS } from '../config/limits/pool.ts'
import type { ChainParams } from '../config/networks.ts'
import type { DecodedTransaction, Transaction } from '../primitives/transaction/transaction.ts'
import { maxCostWei } from '../rules/transaction.ts'
import type { Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import type { Nonce } from '../util/nonce.ts'
import type { PoolError } from './errors.ts'
import { type AdmissionRules, admissionRules, checkAccount, checkForm, checkReplacement } from './pool/admission.ts'
import { noDrops } from './pool/drops.ts'
import type { PoolEntry } from './pool/entry.ts'
import { largerQueued, largerReady } from './pool/eviction.ts'
import { IndexedHeap } from './pool/indexed-heap.ts'
import { Retries } from './pool/retries.ts'
import { Selection } from './pool/selection.ts'
import { SenderQueue } from './pool/sender-queue.ts'
import { type QuarantinedTransaction, TransactionQuarantine } from './pool/transaction-quarantine.ts'
import type { AccountReader } from './ports.ts'

/** `restored`: a local one that was acknowledged before a restart. */
export type Origin = 'local' | 'remote' | 'restored'

/** Limits, in slots of `slotBytes`: a transaction takes one for each begun slot of its serialised length. */
export interface PoolLimits {
  readonly slotBytes: number
  /** Ready slots that an account keeps in a full pool, whatever other senders offer. */
  readonly accountPending: number
  readonly accountQueued: number
  readonly pending: number
  readonly queued: number
  readonly replacementBumpPercent: number
  readonly queuedLifetimeMs: number
  readonly sweepMs: number
  readonly quarantined: number
  readonly retried: number
}

export interface TxPoolOptions {
  readonly params: ChainParams
  readonly accounts: AccountReader
  /** Number and base fee (wei) of the block after the head. */
  readonly number: number
  readonly baseFee: bigint
  /** Accepts legacy transactions without EIP-155 replay protection. */
  readonly allowUnprotected?: boolean
  readonly limits?: PoolLimits
}

interface AdmitResult {
  readonly status: 'pending' | 'queued'
  /** Hash of the transaction it replaced. */
  readonly replaced: Hex | undefined
  /** Transactions executable for the first time: this one, and those for which it was the missing nonce. */
  readonly executable: readonly Transaction[]
}

/** Committed block as the pool sees it; the account reader must already return the state after it. */
export interface PoolBlock {
  /** Number of the committed block. */
  readonly number: number
  readonly transactions: readonly Transaction[]
  /** Base fee of the next block, wei. */
  readonly baseFee: bigint
  readonly nowMs: number
  /** Other accounts the block changed; without them, an account that was only paid by a contract is read again at the next sweep. */
  readonly touched?: Iterable<Hex>
  /** Not the successor of the last block: a development chain reverted blocks or edited its state, so every account is read again. */
  readonly replaced?: boolean
}

export interface PoolContent {
  readonly pending: ReadonlyMap<Hex, readonly Transaction[]>
  readonly queued: ReadonlyMap<Hex, readonly Transaction[]>
}

/**
 * Pool of transactions waiting for a block; pure: time is an argument, and results are return values. It holds three kinds, of which RPC
 * shows the last two as one:
 * - executable: nonces follow the account's without a gap, the balance pays for all, the price reaches the next base fee, and neither it
 * nor one ahead of it is quarantined;
 * - ready except for the price: the base fee rose above its price or that of one ahead of it; it keeps its place and waits;
 * - queued: behind a nonce gap, or beyond the balance.
 *
 * Ready ones share `limits.pending`, queued ones `limits.queued`. When full, the largest sender loses its last transaction; between equals
 * (all within the guaranteed slots count as equal) the one of the lowest tip, and between equal tips the newest. Local transactions get no
 * extra room: on a public node everything submitted is local.
 */
export class TxPool {
  readonly drops = noDrops()
  readonly limits: PoolLimits
  readonly #accounts: AccountReader
  readonly #byHash = new Map<Hex, PoolEntry>()
  readonly #senders = new Map<Hex, SenderQueue>()
  readonly #readyVictims: IndexedHeap<SenderQueue>
  readonly #queuedVictims: IndexedHeap<SenderQueue>
  readonly #quarantine: TransactionQuarantine
  readonly #retries: Retries
  #rules: AdmissionRules
  /** The eviction heaps exist only while the pool is full; a block, which changes many senders, discards them. */
  #ordered = false
  #readySlots = 0
  #queuedSlots = 0
  #executable = 0
  #arrivals = 0
  #sweptMs = 0

  constructor(options: TxPoolOptions) {
    const { params, accounts, number, baseFee, allowUnprotected = false, limits = POOL_LIMITS } = options
    this.limits = limits
    this.#accounts = accounts
    this.#rules = admissionRules(params, number, baseFee, allowUnprotected)
    this.#quarantine = new TransactionQuarantine(limits.quarantined)
    this.#retries = new Retries(limits.retried)
    this.#readyVictims = new IndexedHeap(largerReady(limits.accountPending), sender => sender.readyHeap)
    this.#queuedVictims = new IndexedHeap(largerQueued, sender => sender.queuedHeap)
  }

  get baseFee(): bigint {
    return this.#rules.baseFee
  }

  /** Runs the checks that need no sender, before its recovery. Throws CodedError<PoolError>. */
  precheck(tx: DecodedTransaction, origin: Origin): void {
    checkForm(tx, this.#rulesFor(origin))
  }

  /**
   * Throws QUARANTINED for a transaction that recently took too long. One that was acknowledged before a restart is admitted, and waits.
   */
  checkQuarantine(hash: Hex, nowMs: number, origin: Origin): void {
    const untilMs = origin === 'restored' ? undefined : this.#quarantine.untilMs(hash)
    if (untilMs === undefined || untilMs <= nowMs) return
    throw refusal({ code: 'QUARANTINED', hash, seconds: Math.ceil((untilMs - nowMs) / 1_000) })
  }

  /** Admits a transaction or throws CodedError<PoolError>; then the pool is unchanged, except for others evicted to make room. */
  admit(tx: Transaction, nowMs: number, origin: Origin): AdmitResult {
    if (this.#byHash.has(tx.hash)) throw refusal({ code: 'ALREADY_KNOWN', hash: tx.hash })
    this.checkQuarantine(tx.hash, nowMs, origin)
    checkForm(tx, this.#rulesFor(origin))
    const sender = this.#senderFor(tx.from)
    const replaced = sender.find(tx.nonce)
    checkAccount(tx, sender, replaced, this.#accounts, this.#rules)
    if (replaced) checkReplacement(tx, replaced.transaction, this.limits.replacementBumpPercent)
    const entry = this.#entry(tx, nowMs, origin)
    if (replaced) this.#checkRoomFor(entry, replaced, sender)
    sender.lastActiveMs = nowMs
    this.#insert(sender, entry)
    const full = this.#trimAccount(sender, entry) ?? this.#trimPool(entry)
    if (full) {
      this.drops.evicted--
      throw refusal(full)
    }
    const executable: Transaction[] = []
    this.#announce(sender, executable)
    const status = tx.nonce < sender.nonce + sender.executable ? 'pending' : 'queued'
    return { status, replaced: replaced?.transaction.hash, executable }
  }

  /** Follows the chain: drops included and unpayable transactions, promotes and demotes. Returns those executable for the first time. */
  onBlock(block: PoolBlock): readonly Transaction[] {
    const { params, baseFee, allowUnprotected } = this.#rules
    this.#rules = admissionRules(params, block.number + 1, block.baseFee, allowUnprotected)
    this.#ordered = false
    const repriced = block.baseFee !== baseFee
    if (repriced) this.#repriceAll()
    const sweep = block.replaced === true || block.nowMs - this.#sweptMs >= this.limits.sweepMs
    const touched = this.#touchedBy(block)
    const seen = sweep ? [...this.#senders.values()] : [...touched]
    for (const sender of seen) this.#recheck(sender)
    if (sweep) this.#expire(seen, block.nowMs)
    for (const sender of seen) this.#trimAccount(sender)
    this.#trimPool()
    const fresh: Transaction[] = []
    for (const sender of repriced ? this.#senders.values() : seen) this.#announce(sender, fresh)
    return fresh
  }

  /** Drops a transaction that cannot be included; later ones of its sender wait for its nonce. */
  discard(hash: Hex): boolean {
    const entry = this.#byHash.get(hash)
    if (entry === undefined) return false
    const sender = this.#senders.get(entry.transaction.from) as SenderQueue
    this.#byHash.delete(hash)
    this.drops.discarded++
    this.#change(sender, () => {
      sender.entries = sender.entries.filter(other => other !== entry)
      sender.recount(this.#rules.baseFee)
    })
    this.#trimAccount(sender)
    this.#trimPool()
    return true
  }

  /** Excludes a transaction, pooled or not, from blocks until the given time; later ones of its sender wait as well. */
  quarantine({ hash, untilMs }: QuarantinedTransaction): void {
    this.#retries.delete(hash)
    const removed = this.#quarantine.add({ hash, untilMs })
    if (removed !== undefined) this.#release(removed)
    const entry = this.#byHash.get(hash)
    const sender = entry && this.#senders.get(entry.transaction.from)
    if (entry === undefined || sender === undefined) return
    entry.quarantined = true
    this.#change(sender, () => sender.recount(this.#rules.baseFee))
  }

  /** Makes the next block try this transaction before all others. */
  retryFirst(hash: Hex): void {
    this.#retries.add(hash)
  }

  /** Returns the transactions that blocks exclude now, pooled or not. */
  quarantined(): readonly QuarantinedTransaction[] {
    return [...this.#quarantine.all()]
  }

  /** Clears all quarantines and retries. */
  forgetTrials(): void {
    this.#quarantine.clear()
    this.#retries.clear()
  }

  /** Returns executable transactions in block order, for the proposer; by default at the next block's base fee. */
  select(baseFee: bigint = this.#rules.baseFee): Selection {
    return new Selection(
      this.#senders.values(),
      baseFee,
      this.#retries.next(hash => this.#isNextOfSender(hash)),
    )
  }

  has(hash: Hex): boolean {
    return this.#byHash.has(hash)
  }

  get(hash: Hex): Transaction | undefined {
    return this.#byHash.get(hash)?.transaction
  }

  /** Returns the nonce for the sender's next transaction: counts those that only wait for the price, not those behind a gap. */
  nextNonce(address: Hex): Nonce {
    const nonce = this.#accounts.nonce(address)
    const sender = this.#senders.get(address)
    const next = sender === undefined ? nonce : sender.nonce + sender.ready
    return next > nonce ? next : nonce
  }

  counts(): { readonly pending: number; readonly queued: number } {
    return { pending: this.#executable, queued: this.#byHash.size - this.#executable }
  }

  /** Slots in use, against `limits.pending` and `limits.queued`. */
  slots(): { readonly ready: number; readonly queued: number } {
    return { ready: this.#readySlots, queued: this.#queuedSlots }
  }

  get senders(): number {
    return this.#senders.size
  }

  content(): PoolContent {
    const pending = new Map<Hex, readonly Transaction[]>()
    const queued = new Map<Hex, readonly Transaction[]>()
    for (const { address, entries, executable } of this.#senders.values()) {
      if (executable > 0) pending.set(address, entries.slice(0, executable).map(transactionOf))
      if (executable < entries.length) queued.set(address, entries.slice(executable).map(transactionOf))
    }
    return { pending, queued }
  }

  /** Yields executable transactions, in nonce order per sender, senders in no particular order. */
  *pendingTransactions(): Generator<Transaction, void, undefined> {
    for (const { entries, executable } of this.#senders.values()) {
      for (let i = 0; i < executable; i++) yield (entries[i] as PoolEntry).transaction
    }
  }

  /** Yields the transactions to journal. */
  *localTransactions(): Generator<Transaction, void, undefined> {
    for (const { entries } of this.#senders.values())
      for (const entry of entries) if (entry.local) yield entry.transaction
  }

  /** An acknowledged transaction that waits for a lower base fee keeps waiting after a restart. */
  #rulesFor(origin: Origin): AdmissionRules {
    return origin === 'restored' ? { ...this.#rules, baseFee: 0n } : this.#rules
  }

  /** Returns the sender's queue, updated to the head if that moved before `onBlock` was called. */
  #senderFor(address: Hex): SenderQueue {
    const known = this.#senders.get(address)
    if (known === undefined) return new SenderQueue(address, this.#nonceOf(address), this.#accounts.balance(address))
    if (this.#recheck(known)) {
      this.#trimAccount(known)
      this.#trimPool()
    }
    return known
  }

  /** Returns the nonce as a number; an account beyond exact numbers has nothing in the pool (NONCE_MAX). */
  #nonceOf(address: Hex): number {
    const nonce = this.#accounts.nonce(address)
    return typeof nonce === 'number' ? nonce : Number.MAX_SAFE_INTEGER
  }

  #entry(transaction: Transaction, nowMs: number, origin: Origin): PoolEntry {
    return {
      transaction,
      costWei: maxCostWei(transaction),
      slots: Math.max(1, Math.ceil(transaction.raw.byteLength / this.limits.slotBytes)),
      arrival: this.#arrivals++,
      local: origin !== 'remote',
      announced: false,
      quarantined: (this.#quarantine.untilMs(transaction.hash) ?? 0) > nowMs,
    }
  }

  /** A replacement too large for the pool must not cost the sender its existing transaction. */
  #checkRoomFor(entry: PoolEntry, replaced: PoolEntry, sender: SenderQueue): void {
    const more = entry.slots - replaced.slots
    if (more <= 0) return
    const { pending, queued, accountQueued } = this.limits
    const full = (scope: 'pending' | 'queued' | 'account', used: number, limit: number): void => {
      if (used + more > limit) throw refusal({ code: 'POOL_FULL', scope, limit })
    }
    if (replaced.transaction.nonce < sender.nonce + sender.ready) full('pending', this.#readySlots, pending)
    else {
      full('account', sender.queuedSlots, accountQueued)
      full('queued', this.#queuedSlots, queued)
    }
  }

  #insert(sender: SenderQueue, entry: PoolEntry): void {
    this.#senders.set(sender.address, sender)
    this.#byHash.set(entry.transaction.hash, entry)
    const replaced = this.#change(sender, () => sender.insert(entry, this.#rules.baseFee))
    if (replaced === undefined) return
    this.#byHash.delete(replaced.transaction.hash)
    this.drops.replaced++
  }

  /** Drops a sender's excess transactions behind a gap; returns the error if the newcomer was among them. */
  #trimAccount(sender: SenderQueue, newcomer?: PoolEntry): PoolError | undefined {
    const { accountQueued: limit } = this.limits
    while (sender.queuedSlots > limit) {
      if (this.#evict(sender, 'queued') === newcomer) return { code: 'POOL_FULL', scope: 'account', limit }
    }
    return undefined
  }

  /** Drops the last transaction of the largest sender until the pool's limits hold. */
  #trimPool(newcomer?: PoolEntry): PoolError | undefined {
    const { pending, queued } = this.limits
    let full: PoolError | undefined
    if (!this.#ordered && (this.#readySlots > pending || this.#queuedSlots > queued)) this.#order()
    while (this.#readySlots > pending) {
      const evicted = this.#evict(this.#readyVictims.peek() as SenderQueue, 'ready')
      if (evicted === newcomer) full = { code: 'POOL_FULL', scope: 'pending', limit: pending }
    }
    while (this.#queuedSlots > queued) {
      const evicted = this.#evict(this.#queuedVictims.peek() as SenderQueue, 'queued')
      if (evicted === newcomer) full = { code: 'POOL_FULL', scope: 'queued', limit: queued }
    }
    return full
  }

  #order(): void {
    const senders = [...this.#senders.values()]
    this.#readyVictims.fill(senders.filter(sender => sender.readySlots > 0))
    this.#queuedVictims.fill(senders.filter(sender => sender.queuedSlots > 0))
    this.#ordered = true
  }

  #evict(sender: SenderQueue, kind: 'ready' | 'queued'): PoolEntry {
    const { baseFee } = this.#rules
    const entry = this.#change(sender, () =>
      kind === 'ready' ? sender.dropReadyTail(baseFee) : sender.dropQueuedTail(baseFee),
    )
    this.#byHash.delete(entry.transaction.hash)
    this.drops.evicted++
    return entry
  }

  /** Reads the account again and drops what it can no longer send; returns false when the account is unchanged. */
  #recheck(sender: SenderQueue): boolean {
    const nonce = this.#nonceOf(sender.address)
    const balanceWei = this.#accounts.balance(sender.address)
    if (nonce === sender.nonce && balanceWei === sender.balanceWei) return false
    this.#change(sender, () => {
      const kept: PoolEntry[] = []
      for (const entry of sender.entries) {
        const stale = entry.transaction.nonce < nonce
        if (!stale && entry.costWei <= balanceWei) kept.push(entry)
        else {
          this.#byHash.delete(entry.transaction.hash)
          this.drops[stale ? 'stale' : 'unpayable']++
        }
      }
      if (kept.length !== sender.entries.length) sender.entries = kept
      sender.nonce = nonce
      sender.balanceWei = balanceWei
      sender.recount(this.#rules.baseFee)
    })
    return true
  }

  #touchedBy(block: PoolBlock): Set<SenderQueue> {
    const touched = new Set<SenderQueue>()
    const touch = (address: Hex): SenderQueue | undefined => {
      const sender = this.#senders.get(address)
      if (sender) touched.add(sender)
      return sender
    }
    for (const tx of block.transactions) {
      const sender = touch(tx.from)
      if (sender) sender.lastActiveMs = block.nowMs
      if (tx.to !== null) touch(tx.to)
    }
    for (const address of block.touched ?? []) touch(address)
    return touched
  }

  #repriceAll(): void {
    const { baseFee } = this.#rules
    this.#executable = 0
    for (const sender of this.#senders.values()) {
      sender.executable = 0
      sender.reprice(baseFee)
      this.#executable += sender.executable
    }
  }

  #isNextOfSender(hash: Hex): boolean | undefined {
    const entry = this.#byHash.get(hash)
    return entry && this.#senders.get(entry.transaction.from)?.entries[0] === entry
  }

  /** Ends a quarantine: a transaction that no block of this node includes has no place in its pool either. */
  #release(hash: Hex): void {
    if (!this.discard(hash)) return
    this.drops.discarded--
    this.drops.quarantined++
  }

  /** Drops transactions behind a gap for too long, with no admission or inclusion of their sender since. */
  #expire(senders: readonly SenderQueue[], nowMs: number): void {
    this.#sweptMs = nowMs
    for (const hash of this.#quarantine.expire(nowMs)) this.#release(hash)
    for (const sender of senders) {
      if (sender.entries.length === sender.ready || nowMs - sender.lastActiveMs < this.limits.queuedLifetimeMs) continue
      for (const entry of sender.entries.slice(sender.ready)) {
        this.#byHash.delete(entry.transaction.hash)
        this.drops.expired++
      }
      this.#change(sender, () => {
        sender.entries = sender.entries.slice(0, sender.ready)
        sender.recount(this.#rules.baseFee)
      })
    }
  }

  #announce(sender: SenderQueue, fresh: Transaction[]): void {
    const { entries, executable } = sender
    for (; sender.announced < executable; sender.announced++) {
      const entry = entries[sender.announced] as PoolEntry
      if (!entry.announced) fresh.push(entry.transaction)
      entry.announced = true
    }
  }

  /** Wraps every change of a sender's queue, so that sums and eviction heaps follow. */
  #change<T>(sender: SenderQueue, change: () => T): T {
    this.#readySlots -= sender.readySlots
    this.#queuedSlots -= sender.queuedSlots
    this.#executable -= sender.executable
    const result = change()
    this.#readySlots += sender.readySlots
    this.#queuedSlots += sender.queuedSlots
    this.#executable += sender.executable
    if (this.#ordered) {
      if (sender.readySlots > 0) this.#readyVictims.update(sender)
      else this.#readyVictims.remove(sender)
      if (sender.queuedSlots > 0) this.#queuedVictims.update(sender)
      else this.#queuedVictims.remove(sender)
    }
    if (sender.entries.length === 0) this.#senders.delete(sender.address)
    return result
  }
}

const refusal = (detail: PoolError): CodedError<PoolError> => new CodedError<PoolError>(detail)

const transactionOf = (entry: PoolEntry): Transaction => entry.transaction
