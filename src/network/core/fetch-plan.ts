import { getOrMake } from '@tandem/base/get-or-make.ts'

/** Limits of a fetch plan. It tracks announced transactions that this node lacks, and requests each from one peer at a time. */
interface FetchPlanLimits {
  /** Hashes in total, beyond which a peer without a reserved slot has its share only; the most of one peer. */
  readonly total: number
  readonly share: number
  readonly perPeer: number
  /** Hashes in one request, and peers remembered per hash. */
  readonly perRequest: number
  readonly announcers: number
}

interface Want {
  readonly peers: string[]
  isAsked: boolean
}

export class TransactionFetchPlan {
  readonly #limits: FetchPlanLimits
  readonly #wants = new Map<string, Want>()
  /** Announced hashes of each peer that were not requested from it, in order. */
  readonly #offers = new Map<string, Set<string>>()
  /** Hashes being requested from each peer. */
  readonly #asked = new Map<string, readonly string[]>()

  constructor(limits: FetchPlanLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#wants.size
  }

  /** Returns true when no further announcements of a peer would be kept. */
  isFull(peer: string, isReserved: boolean): boolean {
    return (this.#offers.get(peer)?.size ?? 0) >= this.#most(isReserved)
  }

  /** Returns how many hashes of a peer are kept: none may take what another one needs. */
  #most(isReserved: boolean): number {
    const { total, share, perPeer } = this.#limits
    return isReserved || this.#wants.size < total ? perPeer : share
  }

  /** Records hashes announced by a peer and unknown here; those beyond a limit are dropped and left to other announcements. */
  announced(peer: string, hashes: readonly string[], isReserved: boolean): void {
    const { announcers } = this.#limits
    const offers = getOrMake(this.#offers, peer, () => new Set())
    for (const hash of hashes) {
      if (offers.size >= this.#most(isReserved)) return
      const want = getOrMake(this.#wants, hash, () => ({ peers: [], isAsked: false }))
      if (want.peers.includes(peer) || want.peers.length >= announcers) continue
      want.peers.push(peer)
      offers.add(hash)
    }
  }

  /** Returns the next request to this peer; undefined: one is under way or nothing is new. The caller reports by `answered`. */
  ask(peer: string): readonly string[] | undefined {
    if (this.#asked.has(peer)) return undefined
    const hashes: string[] = []
    for (const hash of this.#offers.get(peer) ?? []) {
      if (hashes.length >= this.#limits.perRequest) break
      const want = this.#wants.get(hash)
      if (want === undefined || want.isAsked) continue
      want.isAsked = true
      hashes.push(hash)
    }
    if (hashes.length === 0) return undefined
    this.#asked.set(peer, hashes)
    return hashes
  }

  /** Ends the request to a peer: missing hashes may be requested from others; returns those peers. */
  answered(peer: string): readonly string[] {
    const hashes = this.#asked.get(peer) ?? []
    this.#asked.delete(peer)
    const others = new Set<string>()
    for (const hash of hashes) for (const other of this.#withdraw(hash, peer, true)) others.add(other)
    return [...others]
  }

  /** Removes a hash that has arrived, from any source. */
  arrived(hash: string): void {
    const want = this.#wants.get(hash)
    if (want === undefined) return
    this.#wants.delete(hash)
    for (const peer of want.peers) this.#offers.get(peer)?.delete(hash)
  }

  /** Removes a peer; returns the peers to try instead. */
  forget(peer: string): readonly string[] {
    const others = new Set(this.answered(peer))
    for (const hash of this.#offers.get(peer) ?? []) this.#withdraw(hash, peer, false)
    this.#offers.delete(peer)
    return [...others]
  }

  #withdraw(hash: string, peer: string, wasAsked: boolean): readonly string[] {
    const want = this.#wants.get(hash)
    if (want === undefined) return []
    this.#offers.get(peer)?.delete(hash)
    const at = want.peers.indexOf(peer)
    if (at >= 0) want.peers.splice(at, 1)
    if (wasAsked) want.isAsked = false
    if (want.peers.length === 0 && !want.isAsked) this.#wants.delete(hash)
    return want.peers
  }
}
