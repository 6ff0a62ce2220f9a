import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { copyBytes, type Hex } from '@tandem/base/bytes.ts'
import { Lru } from '@tandem/base/lru.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { PeerPoolPort } from '../messages/ports.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

interface Arrival {
  readonly peer: Peer
  readonly hash: Hex
  readonly raw: Uint8Array
}

/** A transaction refused by the pool may be accepted later, after fees fall or missing nonces arrive. */
const REFUSED_MS = 60_000

/** Transactions from peers on their way to the pool: a few at a time, in rotation, so votes never wait behind them. */
export class TransactionIngress {
  readonly #hub: PeerSet
  readonly #pool: PeerPoolPort
  /** Refused transactions with the time of the refusal. */
  readonly #refused = new Lru<Hex, number>(NETWORK_LIMITS.refusedTransactions)
  readonly #queue = new FairQueue<Arrival>({ owner: NETWORK_LIMITS.heldBytes })
  readonly #holding = new Set<Hex>()
  /** Sender of each transaction being admitted. */
  readonly #admitting = new Map<Hex, Peer>()
  #soon: NodeJS.Immediate | undefined
  #later: NodeJS.Timeout | undefined

  constructor(hub: PeerSet, pool: PeerPoolPort) {
    this.#hub = hub
    this.#pool = pool
  }

  close(): void {
    clearImmediate(this.#soon)
    clearTimeout(this.#later)
  }

  /** Returns true when requesting the transaction is pointless. */
  isKnown(hash: Hex): boolean {
    if (this.#admitting.has(hash) || this.#holding.has(hash) || this.#pool.has(hash)) return true
    const refusedMs = this.#refused.get(hash)
    return refusedMs !== undefined && performance.now() - refusedMs < REFUSED_MS
  }

  /** Returns the peer whose copy of it is being admitted. */
  peerOf(hash: Hex): Peer | undefined {
    return this.#admitting.get(hash)
  }

  /** Queues a transaction; beyond the room of this peer it is dropped, and a block may bring it later. */
  take(peer: Peer, hash: Hex, raw: Uint8Array): void {
    if (this.isKnown(hash)) return
    // Copied, since a view would retain the bytes of the whole message.
    if (this.#queue.push(peer.id, { peer, hash, raw: copyBytes(raw) }, raw.byteLength) !== undefined) return
    this.#holding.add(hash)
    this.#lookSoon()
  }

  left(peer: Peer): void {
    for (const { hash } of this.#queue.take(peer.id)) this.#holding.delete(hash)
  }

  #lookSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined
      this.#look()
    })
  }

  #look(): void {
    const slice = this.#slice()
    if (slice.length > 0) void this.#admit(slice)
    if (this.#queue.isEmpty) return
    if (slice.length === NETWORK_LIMITS.lookedAtOnce) this.#lookSoon()
    else {
      // Quotas refill without any other event, so a timer resumes.
      this.#later ??= setTimeout(() => {
        this.#later = undefined
        this.#lookSoon()
      }, NETWORK_LIMITS.heldMs)
    }
  }

  #slice(): readonly Arrival[] {
    const nowMs = performance.now()
    // An exhausted quota is not an offence: transactions refused here may be valid elsewhere, or were a moment ago.
    const mayGoOn = (id: string): boolean => this.#hub.peer(id)?.refusals.take(nowMs) === true
    const room = Math.min(NETWORK_LIMITS.lookedAtOnce, NETWORK_LIMITS.admitting - this.#admitting.size)
    const slice: Arrival[] = []
    while (slice.length < room) {
      const next = this.#queue.shift(mayGoOn)
      if (next === undefined) break
      slice.push(next.item)
    }
    return slice
  }

  async #admit(slice: readonly Arrival[]): Promise<void> {
    for (const { hash, peer } of slice) {
      this.#holding.delete(hash)
      this.#admitting.set(hash, peer)
    }
    try {
      const verdicts = await this.#pool.receive(slice.map(({ raw }) => raw))
      slice.forEach(({ peer, hash }, at) => {
        const verdict = verdicts[at]
        if (verdict === 'invalid') this.#hub.blame(peer, 'badTransaction', hash)
        if (verdict === 'invalid' || verdict === 'refused') this.#refused.set(hash, performance.now())
        else peer.refusals.give()
      })
    } catch (error) {
      // One by one, so that only the sender of the failing one is charged.
      if (slice.length > 1) for (const arrival of slice) await this.#admit([arrival])
      else for (const { peer } of slice) this.#hub.failed(peer, 'transactions', error)
    } finally {
      for (const { hash } of slice) this.#admitting.delete(hash)
      if (!this.#queue.isEmpty) this.#lookSoon()
    }
  }
}
