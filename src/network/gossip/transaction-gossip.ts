import { TimeSlices } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { shuffled } from '@tandem/base/random.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { TransactionFetchPlan } from '../core/fetch-plan.ts'
import { pushTargetCount } from '../core/peer-slots.ts'
import { costOf, paceOf } from '../messages/message-spec.ts'
import { MESSAGES } from '../messages/messages.ts'
import type { PeerPoolPort } from '../messages/ports.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'
import type { WireMessage } from '../wire/frames.ts'
import { TransactionIngress } from './transaction-ingress.ts'

export interface NewTransaction {
  readonly hash: Hex
  readonly raw: Uint8Array
}

const PEER_PACE = paceOf(MESSAGES.transactionHashes.quota, false)
const BATCH_PACE = { ...PEER_PACE, burst: PEER_PACE.burst - costOf(MESSAGES.transactionHashes.maxBytes) }

interface Fresh extends NewTransaction {
  /** Sent by a member, which sent it to all members it reaches. */
  readonly isSpread: boolean
}

/**
 * Gossip of transactions: whole to validators, who need them, and to the square root of the other peers; hashes to the rest, who request
 * what they lack, and to validators that another validator will have sent them to. Peers known to have a transaction get nothing.
 */
export class TransactionGossip {
  readonly #hub: PeerSet
  readonly #pool: PeerPoolPort
  readonly #fetchPlan = new TransactionFetchPlan({
    total: NETWORK_LIMITS.wantedTransactions,
    share: NETWORK_LIMITS.wantedShare,
    perPeer: NETWORK_LIMITS.wantedPerPeer,
    perRequest: NETWORK_LIMITS.requestedHashes,
    announcers: NETWORK_LIMITS.announcers,
  })
  readonly #ingress: TransactionIngress
  /** Time of the main thread for whole transactions, shared by their senders. */
  readonly #turns = new TimeSlices(() => performance.now())
  #fresh: Fresh[] = []
  #timer: NodeJS.Timeout | undefined
  /** Pace of the batches: what it allows, each peer is sent without loss. A new peer was sent one announcement before. */
  readonly #pace = new TokenBucket(BATCH_PACE, performance.now())
  /** Announcement for peers that join: it takes time to make, and anyone may come again and again. */
  #greeting: { readonly madeMs: number; readonly message: WireMessage | undefined } = {
    madeMs: Number.NEGATIVE_INFINITY,
    message: undefined,
  }
  /** Peers that had no room for a batch, and when: told what the pool holds once they have taken the rest. */
  readonly #behind = new WeakMap<Peer, number>()
  /** Time of the next batch, by `performance.now`. */
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(hub: PeerSet, pool: PeerPoolPort) {
    this.#hub = hub
    this.#pool = pool
    this.#ingress = new TransactionIngress(hub, pool)
  }

  /** Announces executable transactions: a lone one in the next turn of the event loop, under load all of an interval together. */
  announce(transactions: readonly NewTransaction[]): void {
    for (const { hash, raw } of transactions) {
      const from = this.#ingress.peerOf(hash)
      this.#fresh.push({ hash, raw, isSpread: from !== undefined && this.#hub.isNeighbour(from) })
    }
    if (this.#fresh.length > 0) this.#flushSoon()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#ingress.close()
    this.#fresh = []
  }

  /** Returns true when such a message of a peer is worth reading: hashes and bytes are free to invent and take time to handle. */
  isOpenTo(peer: Peer, name: 'transactionHashes' | 'newTransactions'): boolean {
    const isReserved = peer.place === 'reserved'
    if (name === 'transactionHashes' && this.#fetchPlan.isFull(peer.id, isReserved)) return false
    return isReserved || peer.gossiped.hasTokens(performance.now())
  }

  /** Handles hashes that a peer has. */
  announced(peer: Peer, hashes: readonly Hex[]): void {
    peer.gossiped.charge(performance.now(), hashes.length)
    const unknown = hashes.filter(hash => {
      peer.transactions.set(hash, true)
      return !this.#ingress.isKnown(hash)
    })
    this.#fetchPlan.announced(peer.id, unknown, peer.place === 'reserved')
    this.#ask(peer)
  }

  /** Handles whole transactions that were not requested; many small ones in turns of the event loop. */
  async pushed(peer: Peer, raws: readonly Uint8Array[]): Promise<void> {
    peer.gossiped.charge(performance.now(), raws.length)
    for (const [index, raw] of raws.entries()) {
      const turn = index % NETWORK_LIMITS.lookedAtOnce === 0 ? this.#turns.over(peer.id) : undefined
      if (turn !== undefined) {
        await turn
        if (this.#hub.peer(peer.id) !== peer) return
      }
      this.#take(peer, raw, keccak256Hex(raw))
    }
  }

  /** Builds the response to a request: the known transactions, up to the size limit. */
  answer(peer: Peer, hashes: readonly Hex[]): readonly Uint8Array[] {
    const raws: Uint8Array[] = []
    let bytes = 0
    for (const hash of hashes) {
      const raw = this.#pool.raw(hash)
      if (raw === undefined) continue
      bytes += raw.byteLength
      if (bytes > NETWORK_LIMITS.batchBytes && raws.length > 0) break
      raws.push(raw)
      peer.transactions.set(hash, true)
    }
    return raws
  }

  /** Tells a peer what the pool holds; returns what that costs of its quota. */
  joined(peer: Peer): number {
    const nowMs = performance.now()
    if (nowMs - this.#greeting.madeMs >= NETWORK_LIMITS.greetingMs) {
      const hashes = this.#pool.ready(NETWORK_LIMITS.announcedHashes)
      const message = hashes.length === 0 ? undefined : encodeWireMessage('transactionHashes', hashes)
      this.#greeting = { madeMs: nowMs, message }
    }
    const { message } = this.#greeting
    if (message === undefined) return 0
    if (!peer.sendWire('transactionHashes', message)) this.#behind.set(peer, nowMs)
    return costOf(message.bytes.byteLength)
  }

  left(peer: Peer): void {
    this.#ingress.left(peer)
    this.#askAll(this.#fetchPlan.forget(peer.id))
  }

  #ask(peer: Peer): void {
    const hashes = this.#fetchPlan.ask(peer.id) as readonly Hex[] | undefined
    if (hashes === undefined) return
    const asked = new Set(hashes)
    peer
      .request('getTransactions', hashes)
      .then(raws => {
        for (const raw of raws) {
          const hash = keccak256Hex(raw)
          if (asked.delete(hash)) this.#take(peer, raw, hash)
          else this.#hub.blame(peer, 'useless', 'a transaction that was not requested')
        }
      })
      .catch((error: unknown) => this.#onFailure(peer, error))
      .finally(() => {
        this.#askAll(this.#fetchPlan.answered(peer.id))
        // Requests the peer's next announced hashes.
        this.#ask(peer)
      })
  }

  #askAll(ids: readonly string[]): void {
    for (const id of ids) {
      const peer = this.#hub.peer(id)
      if (peer !== undefined) this.#ask(peer)
    }
  }

  #onFailure(peer: Peer, error: unknown): void {
    if (!isCoded(error)) this.#hub.failed(peer, 'transactions', error)
    else if (error.code === 'REQUEST_TIMEOUT') this.#hub.blame(peer, 'timeout', 'getTransactions')
  }

  #take(peer: Peer, raw: Uint8Array, hash: Hex): void {
    peer.transactions.set(hash, true)
    this.#fetchPlan.arrived(hash)
    this.#ingress.take(peer, hash, raw)
  }

  /** Sends each peer two messages at most, whole transactions and hashes, so that no peer is ever sent more than its quota. */
  #flush(): void {
    this.#timer = undefined
    const nowMs = performance.now()
    const fresh = this.#fresh.splice(0, NETWORK_LIMITS.announcedHashes)
    const peers = shuffled(this.#hub.peers(), () => this.#hub.random())
    let pushes = pushTargetCount(peers.filter(peer => !this.#hub.isNeighbour(peer)).length)
    const encoded = new Map<Audience, Batch>()
    let cost = 0
    let isAnyBehind = false
    for (const peer of peers) {
      const greeted = this.#catchUp(peer, nowMs)
      cost = Math.max(cost, greeted)
      const isMember = this.#hub.isNeighbour(peer)
      const audience = isMember ? 'member' : --pushes >= 0 ? 'pushed' : 'told'
      const missing = fresh.filter(({ hash }) => !peer.transactions.has(hash))
      // Nearly all peers have none of it.
      const isAll = missing.length === fresh.length
      const batch = (isAll && encoded.get(audience)) || batchFor(audience, missing)
      if (isAll) encoded.set(audience, batch)
      for (const { hash } of missing) peer.transactions.set(hash, true)
      for (const [name, message] of batch) {
        if (!peer.sendWire(name, message)) this.#behind.set(peer, nowMs)
        cost = Math.max(cost, greeted + costOf(message.bytes.byteLength))
      }
      isAnyBehind ||= this.#behind.has(peer)
    }
    this.#pace.charge(nowMs, cost)
    this.#notBeforeMs = nowMs + Math.max(NETWORK_LIMITS.batchMs, this.#pace.waitMs(nowMs))
    if (this.#fresh.length > 0 || isAnyBehind) this.#flushSoon()
  }

  /** Greets a peer that is behind, with an announcement no older than what it missed. */
  #catchUp(peer: Peer, nowMs: number): number {
    const sinceMs = this.#behind.get(peer) ?? nowMs
    if (nowMs - sinceMs < NETWORK_LIMITS.greetingMs || peer.queuedBytes('transactions') > 0) return 0
    this.#behind.delete(peer)
    return this.joined(peer)
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.#flush(), Math.max(0, this.#notBeforeMs - performance.now()))
  }
}

/** Kind of receiver of a batch: a member, a peer that gets whole transactions, one that gets hashes. */
type Audience = 'member' | 'pushed' | 'told'
type Batch = readonly (readonly ['newTransactions' | 'transactionHashes', WireMessage])[]

/** Encodes a batch for one kind of receiver: whole as far as they are for it and fit into one message, by hash the others. */
const batchFor = (audience: Audience, transactions: readonly Fresh[]): Batch => {
  const whole: Uint8Array[] = []
  const hashes: Hex[] = []
  let bytes = 0
  for (const { hash, raw, isSpread } of transactions) {
    const isWhole = audience === 'pushed' || (audience === 'member' && !isSpread)
    if (isWhole && (bytes + raw.byteLength <= NETWORK_LIMITS.batchBytes || whole.length === 0)) {
      whole.push(raw)
      bytes += raw.byteLength
    } else hashes.push(hash)
  }
  return [
    ...(whole.length > 0 ? ([['newTransactions', encodeWireMessage('newTransactions', whole)]] as const) : []),
    ...(hashes.length > 0 ? ([['transactionHashes', encodeWireMessage('transactionHashes', hashes)]] as const) : []),
  ]
}
