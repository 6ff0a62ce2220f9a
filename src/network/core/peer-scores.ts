import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'

/** Offences of a peer and their cost (docs/design/network.md#scores). `ban`: no honest node does it, with any software or connection. */
export const OFFENCES = {
  /** Bytes that are not a frame or message of the protocol. */
  malformed: 'ban',
  /** Proof of a validator key that was not made for this connection. */
  badProof: 'ban',
  /** Content that its own bytes prove false to the sender: a foreign statement, no quorum, another body, evidence of nothing. */
  forged: 'ban',
  /** False statement that an honest node might relay. */
  falsehood: 30,
  /** Message that a fault of this node could not handle. */
  fault: 10,
  /** More of one kind of message than its quota. */
  flood: 2,
  /** Transaction that is invalid on every node. */
  badTransaction: 10,
  /** Response without a request, or one that does not fit the request. */
  useless: 10,
  /** No response in time. */
  timeout: 5,
  /** Frames that are too slow to complete in time. */
  slow: 10,
} as const satisfies Record<string, number | 'ban'>
export type Offence = keyof typeof OFFENCES

type ScoreAction = 'keep' | 'disconnect' | 'ban'

/** Limit of scores, and those of NETWORK_LIMITS. */
type PeerScoreLimits = Readonly<
  Record<
    'entries' | 'disconnectScore' | 'banScore' | 'bansPerAddress' | 'halfLifeMs' | 'banMs' | 'reservedBanMs',
    number
  >
>

/** Score of a node id, of an address (`address/1.2.3.4`), or of a validator key (`validator/0x...`). */
export interface PeerScore {
  readonly key: string
  /** 0 to -100. */
  readonly score: number
  /** Time of the last update of the score. */
  readonly atMs: number
  /** 0: not banned. */
  readonly bannedUntilMs: number
  /** Number of bans so far; of an address: nodes banned while connected from there. */
  readonly bans: number
}

interface ScoreSubject {
  readonly id: string
  readonly address: string | null
  /** Validator key it proved to hold: node ids cost nothing, so a ban includes the key. */
  readonly validator: Hex | null
  readonly isReserved: boolean
}

const WORST = -100
/** Scores this close to zero are dropped. */
const FORGOTTEN = -0.5

/** Scores that recover with time and bans that expire, for a bounded number of peers. Bans are kept longest. */
export class PeerScores {
  readonly #limits: PeerScoreLimits
  /** Least recently updated first; bans are separate, since they are kept longest. */
  readonly #unbanned = new Map<string, PeerScore>()
  readonly #banned = new Map<string, PeerScore>()

  constructor(limits: PeerScoreLimits) {
    this.#limits = limits
  }

  /** Restores the scores saved before a restart. A ban or score with a time in the future, from a clock that ran ahead, counts from now. */
  restore(known: readonly PeerScore[], nowMs: number): void {
    const { entries, banMs } = this.#limits
    for (const peerScore of known.slice(0, entries)) {
      const bannedUntilMs = Math.min(peerScore.bannedUntilMs, nowMs + banMs)
      const score = Math.max(WORST, Math.min(0, peerScore.score))
      this.#put({ ...peerScore, score, bannedUntilMs, atMs: Math.min(peerScore.atMs, nowMs) }, nowMs)
    }
  }

  get size(): number {
    return this.#unbanned.size + this.#banned.size
  }

  score(key: string, nowMs: number): number {
    const entry = this.#get(key)
    if (entry === undefined) return 0
    return entry.score * 0.5 ** (Math.max(0, nowMs - entry.atMs) / this.#limits.halfLifeMs)
  }

  isBanned(key: string, nowMs: number): boolean {
    return (this.#banned.get(key)?.bannedUntilMs ?? 0) > nowMs
  }

  /** Records an offence; returns the consequence. `address` null: shared by others. Reserved nodes are not banned for minor offences. */
  blame(scoreSubject: ScoreSubject, offence: Offence, nowMs: number): ScoreAction {
    const { id, isReserved } = scoreSubject
    const cost = OFFENCES[offence]
    const { banScore, disconnectScore } = this.#limits
    const worst = isReserved ? banScore : WORST
    const score = cost === 'ban' ? WORST : Math.max(worst, this.score(id, nowMs) - cost)
    const before = this.#get(id)
    const { bannedUntilMs, bans } = before ?? { bannedUntilMs: 0, bans: 0 }
    this.#put({ key: id, score, atMs: nowMs, bannedUntilMs, bans }, nowMs)
    if (score < banScore) {
      this.#ban(scoreSubject, nowMs)
      return 'ban'
    }
    return score < disconnectScore ? 'disconnect' : 'keep'
  }

  /**
   * Bans a node. Node ids cost nothing, so an address from which several were banned is banned too, and the validator key at once. A
   * member's first ban is short: a false message may come from a broken build, and the committee needs the member back. What else arrives
   * before the connection ends adds no ban.
   */
  #ban({ id, address, validator, isReserved }: ScoreSubject, nowMs: number): void {
    const { banMs, bansPerAddress, reservedBanMs } = this.#limits
    const isNew = !this.isBanned(id, nowMs)
    for (const key of [id, ...(validator === null ? [] : [validatorKey(validator)])]) {
      if (this.isBanned(key, nowMs)) continue
      const bans = (this.#get(key)?.bans ?? 0) + 1
      const lengthMs = isReserved ? Math.min(banMs, reservedBanMs * 2 ** (bans - 1)) : banMs
      this.#put({ key, score: WORST, atMs: nowMs, bannedUntilMs: nowMs + lengthMs, bans }, nowMs)
    }
    // Honest members may share the address of a banned one, whose key is banned already.
    if (!isNew || address === null || isReserved) return
    const key = addressScoreKey(address)
    const bans = (this.#get(key)?.bans ?? 0) + 1
    const bannedUntilMs = bans >= bansPerAddress ? nowMs + banMs : 0
    this.#put({ key, score: 0, atMs: nowMs, bannedUntilMs, bans }, nowMs)
  }

  /** Clears a score at the operator's request. */
  pardon(key: string): void {
    this.#forget(key)
  }

  /** Returns the scores worth saving over a restart. */
  entries(nowMs: number): readonly PeerScore[] {
    return [...this.#banned.values(), ...this.#unbanned.values()].filter(entry => this.#matters(entry, nowMs))
  }

  #matters(entry: PeerScore, nowMs: number): boolean {
    if (entry.bannedUntilMs > nowMs || this.score(entry.key, nowMs) < FORGOTTEN) return true
    return entry.bans > 0 && nowMs - entry.atMs < this.#limits.banMs
  }

  #get(key: string): PeerScore | undefined {
    return this.#banned.get(key) ?? this.#unbanned.get(key)
  }

  #forget(key: string): void {
    this.#banned.delete(key)
    this.#unbanned.delete(key)
  }

  #put(entry: PeerScore, nowMs: number): void {
    this.#forget(entry.key)
    if (this.size >= this.#limits.entries) this.#makeRoom(nowMs)
    const entries = entry.bannedUntilMs > nowMs ? this.#banned : this.#unbanned
    entries.set(entry.key, entry)
  }

  /** Evicts the oldest expired ban first, then the oldest entry without a ban, then the oldest ban. */
  #makeRoom(nowMs: number): void {
    const [banned] = this.#banned.values()
    const [unbanned] = this.#unbanned.values()
    const isOver = banned !== undefined && banned.bannedUntilMs <= nowMs
    const gone = isOver ? banned : (unbanned ?? banned)
    assert(gone !== undefined, 'a full list has entries')
    this.#forget(gone.key)
  }
}

export const addressScoreKey = (address: string): string => `address/${address}`
export const validatorKey = (validator: Hex): string => `validator/${validator}`
