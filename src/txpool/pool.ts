import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { POOL_LIMITS } from '../config/limits/pool.ts'
import type { DecodedTransaction, Transaction } from '../primitives/transaction/transaction.ts'
import { maxCostWei } from '../rules/transaction.ts'
import {
  type AdmissionRules,
  admissionRules,
  authoritiesOf,
  checkAccount,
  checkDelegated,
  checkForm,
  checkReplacement,
  heldBytes,
} from './pool/admission.ts'
import type { PoolDrops, PoolEntry } from './pool/entry.ts'
import type { PoolError } from './pool/errors.ts'
import { isHeavy, mayNeverPay, Overruns } from './pool/overruns.ts'
import { PooledTransactions } from './pool/pooled-transactions.ts'
import { Selection } from './pool/selection.ts'
import { SenderQueue } from './pool/sender-queue.ts'
import type {
  AccountReader,
  AdmitResult,
  Origin,
  PoolBlock,
  PoolContent,
  PoolLimits,
  TxPoolOptions,
} from './pool/types.ts'

/**
 * Pool of transactions waiting for a block; pure: time is an argument, and results are return values. It holds three kinds, of which RPC
 * shows the last two as one:
 * - executable: nonces follow the account's without a gap, the balance pays for all, and the price reaches the next base fee;
 * - ready except for the price: the base fee rose above its price or that of one ahead of it; it keeps its place and waits;
 * - queued: behind a nonce gap, or beyond the balance.
 *
 * Ready ones share `limits.pending`, queued ones `limits.queued`. When full, the largest sender loses its last transaction (pool/pooled-transactions.ts).
 * Local transactions get no extra room: on a public node everything submitted is local.
 */
export class TxPool {
  readonly limits: PoolLimits
  readonly #accounts: AccountReader
  readonly #pooled: PooledTransactions
  readonly #overruns = new Overruns()
  #rules: AdmissionRules
  #arrivals = 0
  #nowMs = 0
  #sweptMs = 0
  #sweeps = 0
  /** Number of blocks of this node that were begun. */
  #builds = 0

  constructor(options: TxPoolOptions) {
    const { params, accounts, number, baseFee, allowUnprotected = false, limits = POOL_LIMITS } = options
    this.limits = limits
    this.#accounts = accounts
    this.#rules = admissionRules(params, number, baseFee, allowUnprotected)
    this.#pooled = new PooledTransactions(limits, baseFee)
  }

  /** Number of transactions dropped since the start, by reason. */
  get drops(): Readonly<PoolDrops> {
    return this.#pooled.drops
  }

  get baseFee(): bigint {
    return this.#rules.baseFee
  }

  /** Runs the checks that need no sender, before its recovery. Throws CodedError<PoolError>. */
  precheck(tx: DecodedTransaction, origin: Origin): void {
    checkForm(tx, this.#rulesFor(origin))
  }

  /** Runs the checks of an admission but those of room and of authorities. Throws CodedError<PoolError>. */
  check(tx: Transaction, origin: Origin): { readonly sender: SenderQueue; readonly replaced: PoolEntry | undefined } {
    if (this.#pooled.get(tx.hash)) throw refusal({ code: 'ALREADY_KNOWN', hash: tx.hash })
    checkForm(tx, this.#rulesFor(origin))
    const sender = this.#senderFor(tx.from)
    const replaced = sender.find(tx.nonce)
    checkAccount(tx, sender, replaced, this.#accounts, this.#rules)
    if (replaced) checkReplacement(tx, replaced.transaction, this.limits.replacementBumpPercent)
    if (this.#isDelegated(tx.from)) checkDelegated(tx, sender, replaced)
    return { sender, replaced }
  }

  /** Admits a transaction, evicting others for room, or throws CodedError<PoolError>. `signers`: undefined for an invalid authorization. */
  admit(tx: Transaction, origin: Origin, signers: readonly (Hex | undefined)[] = []): AdmitResult {
    const { sender, replaced } = this.check(tx, origin)
    const authorities = authoritiesOf(tx, signers, this.#accounts, this.#rules)
    for (const authority of authorities.keys()) {
      if (authority === tx.from) checkDelegated(tx, sender, replaced)
      const inFlight = this.#pooled.sender(authority)?.entries.length ?? 0
      if (inFlight > 1) throw refusal({ code: 'AUTHORITY_RESERVED', authority })
    }
    const entry = this.#entry(tx, origin, authorities)
    const tooLarge = replaced && this.#pooled.replacementError(entry, replaced, sender)
    if (tooLarge) throw refusal(tooLarge)
    const full = this.#pooled.insert(sender, entry)
    if (full) throw refusal(full)
    const executable: Transaction[] = []
    if (tx.nonce < sender.nonce + sender.announced && !entry.announced) {
      // It stands in the place of one that was announced.
      executable.push(tx)
      entry.announced = true
    }
    this.#announce(sender, executable)
    const status = tx.nonce < sender.nonce + sender.executable ? 'pending' : 'queued'
    return { status, replaced: replaced?.transaction.hash, executable }
  }

  /** Follows the chain: drops included and unpayable transactions, promotes and demotes. Returns those executable for the first time. */
  onBlock(block: PoolBlock): readonly Transaction[] {
    const { params, allowUnprotected } = this.#rules
    this.#rules = admissionRules(params, block.number + 1, block.baseFee, allowUnprotected)
    const repriced = this.#pooled.startBlock(block.baseFee)
    this.#nowMs = block.nowMs
    const isSweep = block.nowMs - this.#sweptMs >= this.limits.sweepMs
    if (isSweep) {
      this.#sweptMs = block.nowMs
      this.#sweeps++
    }
    const touched = this.#touchedBy(block)
    const seen = isSweep || block.replaced === true ? [...this.#pooled.senders()] : [...touched]
    for (const sender of seen) this.#recheck(sender)
    if (isSweep) this.#expire(seen)
    this.#pooled.trim(seen)
    const fresh: Transaction[] = []
    for (const sender of repriced ? this.#pooled.senders() : seen) this.#announce(sender, fresh)
    return fresh
  }

  /** Drops a transaction that cannot be included; later ones of its sender wait for its nonce. */
  discard(hash: Hex): boolean {
    const entry = this.#pooled.get(hash)
    if (entry === undefined) return false
    const sender = this.#pooled.senderOf(entry)
    this.#pooled.filter(sender, other => (other === entry ? 'discarded' : undefined))
    this.#pooled.trim([sender])
    return true
  }

  /** A build stopped a transaction after so much processor time. */
  overran(transaction: Transaction, ranMs: number, nowMs: number): void {
    if (!isHeavy(transaction)) return
    this.#overruns.add(transaction.from, ranMs, nowMs)
    const sender = this.#pooled.sender(transaction.from)
    if (sender !== undefined) this.#pooled.doubt(sender)
  }

  /** A build had no time left to try a transaction. */
  passedOver(transaction: Transaction, nowMs: number): void {
    const entry = this.#pooled.get(transaction.hash)
    if (entry !== undefined && this.neededMs(transaction, nowMs) === 0) entry.passedOverIn = this.#builds
  }

  /** Returns the least time with which a transaction may run in a block now, milliseconds; 0 unless its sender has overrun. */
  neededMs(transaction: Transaction, nowMs: number): number {
    return isHeavy(transaction) ? this.#overruns.neededMs(transaction.from, nowMs) : 0
  }

  /** Number of senders whose overruns are remembered. */
  get overrunSenders(): number {
    return this.#overruns.size
  }

  forgetOverruns(): void {
    this.#overruns.clear()
  }

  /** Returns true when a block would try a transaction now. */
  hasCandidate(nowMs: number): boolean {
    for (const { entries, executable } of this.#pooled.senders()) {
      if (executable > 0 && this.neededMs((entries[0] as PoolEntry).transaction, nowMs) === 0) return true
    }
    return false
  }

  /** Returns executable transactions in block order; by default at the next block's base fee. */
  select(baseFee: bigint = this.#rules.baseFee): Selection {
    return new Selection(this.#pooled.senders(), baseFee)
  }

  /** Returns the same for a block of this node, with the one that waits longest for time. */
  selectForBlock(baseFee: bigint): Selection {
    return new Selection(this.#pooled.senders(), baseFee, this.#builds++)
  }

  has(hash: Hex): boolean {
    return this.#pooled.get(hash) !== undefined
  }

  get(hash: Hex): Transaction | undefined {
    return this.#pooled.get(hash)?.transaction
  }

  /** Returns the nonce for the sender's next transaction: counts those that only wait for the price, not those behind a gap. */
  nextNonce(address: Hex): Nonce {
    const nonce = this.#accounts.nonce(address)
    const sender = this.#pooled.sender(address)
    const next = sender === undefined ? nonce : sender.nonce + sender.ready
    return next > nonce ? next : nonce
  }

  counts(): { readonly pending: number; readonly queued: number } {
    const { executable, size } = this.#pooled
    return { pending: executable, queued: size - executable }
  }

  /** Slots in use, against `limits.pending` and `limits.queued`. */
  slots(): { readonly ready: number; readonly queued: number } {
    const { readySlots, queuedSlots } = this.#pooled
    return { ready: readySlots, queued: queuedSlots }
  }

  get senders(): number {
    return this.#pooled.senderCount
  }

  content(): PoolContent {
    const pending = new Map<Hex, readonly Transaction[]>()
    const queued = new Map<Hex, readonly Transaction[]>()
    for (const { address, entries, executable } of this.#pooled.senders()) {
      if (executable > 0) pending.set(address, entries.slice(0, executable).map(transactionOf))
      if (executable < entries.length) queued.set(address, entries.slice(executable).map(transactionOf))
    }
    return { pending, queued }
  }

  /** Yields executable transactions, in nonce order per sender, senders in no particular order. */
  *pendingTransactions(): Generator<Transaction, void, undefined> {
    for (const { entries, executable } of this.#pooled.senders()) {
      for (let i = 0; i < executable; i++) yield (entries[i] as PoolEntry).transaction
    }
  }

  /** Yields the transactions to journal, also while others come and go. */
  *localTransactions(): Generator<Transaction, void, undefined> {
    for (const { entries } of this.#pooled.senders())
      for (const { transaction } of entries.filter(({ local }) => local)) yield transaction
  }

  /** An acknowledged transaction that waits for a lower base fee keeps waiting after a restart. */
  #rulesFor(origin: Origin): AdmissionRules {
    return origin === 'restored' ? { ...this.#rules, baseFee: 0n } : this.#rules
  }

  /** Returns the sender's queue, updated to the head if that moved before `onBlock` was called. */
  #senderFor(address: Hex): SenderQueue {
    const known = this.#pooled.sender(address)
    if (known === undefined) return new SenderQueue(address, this.#nonceOf(address), this.#accounts.balance(address))
    if (this.#recheck(known)) this.#pooled.trim([known])
    return known
  }

  /** Returns the nonce as a number; an account beyond exact numbers has nothing in the pool (NONCE_MAX). */
  #nonceOf(address: Hex): number {
    const nonce = this.#accounts.nonce(address)
    return typeof nonce === 'number' ? nonce : Number.MAX_SAFE_INTEGER
  }

  #isDelegated(address: Hex): boolean {
    const accounts = this.#accounts
    return accounts.code?.(address) === 'delegation' || this.#pooled.isAuthority(address, accounts.nonce(address))
  }

  #entry(transaction: Transaction, origin: Origin, authorities: ReadonlyMap<Hex, bigint>): PoolEntry {
    return {
      transaction,
      costWei: maxCostWei(transaction),
      authorities,
      slots: Math.max(1, Math.ceil(heldBytes(transaction) / this.limits.slotBytes)),
      // No block may try it for a while.
      mayNeverPay: mayNeverPay(transaction) || this.neededMs(transaction, this.#nowMs) > 0,
      arrival: this.#arrivals++,
      sweep: this.#sweeps,
      local: origin !== 'remote',
      announced: false,
      passedOverIn: -1,
    }
  }

  /** Reads the account again and drops what it can no longer send; returns false when the account is unchanged. */
  #recheck(sender: SenderQueue): boolean {
    const nonce = this.#nonceOf(sender.address)
    const balanceWei = this.#accounts.balance(sender.address)
    if (nonce === sender.nonce && balanceWei === sender.balanceWei) return false
    sender.nonce = nonce
    sender.balanceWei = balanceWei
    // A delegation raises the nonce, so it is seen here.
    const isDelegated = sender.entries.length > 0 && this.#isDelegated(sender.address)
    this.#pooled.filter(sender, ({ transaction, costWei }) => {
      if (transaction.nonce < nonce) return 'stale'
      if (costWei > balanceWei) return 'unpayable'
      return isDelegated && transaction.nonce !== nonce ? 'delegated' : undefined
    })
    return true
  }

  #touchedBy(block: PoolBlock): Set<SenderQueue> {
    const touched = new Set<SenderQueue>()
    const touch = (address: Hex): SenderQueue | undefined => {
      const sender = this.#pooled.sender(address)
      if (sender) touched.add(sender)
      return sender
    }
    for (const tx of block.transactions) {
      const sender = touch(tx.from)
      if (sender) sender.includedSweep = this.#sweeps
      if (tx.to !== null) touch(tx.to)
    }
    for (const address of block.touched ?? []) touch(address)
    return touched
  }

  /** Drops transactions whose lifetime is over. It is counted in sweeps, which blocks cause: a chain that stands still drops nothing. */
  #expire(senders: readonly SenderQueue[]): void {
    for (const sender of senders) {
      const isOver = ({ sweep }: PoolEntry): boolean =>
        this.#sweeps - Math.max(sweep, sender.includedSweep) >= this.limits.lifetimeSweeps
      if (sender.entries.some(isOver)) this.#pooled.filter(sender, entry => (isOver(entry) ? 'expired' : undefined))
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
}

const refusal = (detail: PoolError): CodedError<PoolError> => new CodedError<PoolError>(detail)

const transactionOf = (entry: PoolEntry): Transaction => entry.transaction
