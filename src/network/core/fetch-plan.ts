/** Transactions announced by peers and not here yet: whom to ask for which, each of one peer at a time. */
export interface FetchPlanLimits {
  /** Hashes in all, of one peer, in one request, and peers remembered for one hash. */
  readonly total: number
  readonly perPeer: number
  readonly perRequest: number
  readonly announcers: number
}

export interface FetchRequest {
  readonly peer: string
  readonly hashes: readonly string[]
}

interface Want {
  readonly peers: string[]
  isAsked: boolean
}

export class TransactionFetchPlan {
  readonly #limits: FetchPlanLimits
  readonly #wants = new Map<string, Want>()
  /** What each peer has announced and not been asked for, in that order. */
  readonly #offers = new Map<string, Set<string>>()
  /** What peers are being asked for. */
  readonly #asked = new Map<string, readonly string[]>()

  constructor(limits: FetchPlanLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#wants.size
  }

  /** Whether no more of what a peer announces would be remembered. */
  isFull(peer: string): boolean {
    return this.#wants.size >= this.#limits.total || (this.#offers.get(peer)?.size ?? 0) >= this.#limits.perPeer
  }

  /** Hashes that are unknown here, as a peer announced them; what is beyond a limit is left to other announcements. */
  announced(peer: string, hashes: readonly string[]): void {
    const { total, perPeer, announcers } = this.#limits
    const offers = this.#offers.get(peer) ?? new Set()
    this.#offers.set(peer, offers)
    for (const hash of hashes) {
      if (offers.size >= perPeer) return
      const want = this.#wants.get(hash) ?? { peers: [], isAsked: false }
      if (want.peers.length === 0 && !want.isAsked) {
        if (this.#wants.size >= total) return
        this.#wants.set(hash, want)
      }
      if (want.peers.includes(peer) || want.peers.length >= announcers) continue
      want.peers.push(peer)
      offers.add(hash)
    }
  }

  /** What to ask of this peer now; undefined: it is being asked, or has nothing new. To be answered by `answered`. */
  ask(peer: string): FetchRequest | undefined {
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
    return { peer, hashes }
  }

  /** The request to a peer is over: what it did not bring may be asked of others; answers who those are. */
  answered(peer: string): readonly string[] {
    const hashes = this.#asked.get(peer) ?? []
    this.#asked.delete(peer)
    const others = new Set<string>()
    for (const hash of hashes) for (const other of this.#withdraw(hash, peer, true)) others.add(other)
    return [...others]
  }

  /** It is here, from wherever. */
  arrived(hash: string): void {
    const want = this.#wants.get(hash)
    if (want === undefined) return
    this.#wants.delete(hash)
    for (const peer of want.peers) this.#offers.get(peer)?.delete(hash)
  }

  /** The peer is gone; answers whom to ask instead. */
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
