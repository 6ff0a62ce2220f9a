import { DISCONNECT_REASONS, type DisconnectReason } from './disconnect-reasons.ts'

/** Where a node can be reached. */
export interface NodeAddress {
  /** Node id, 64 hex digits. */
  readonly id: string
  readonly host: string
  readonly port: number
}

/** `static`: named by the operator, dialed for ever. `bootnode`: dialed while peers are few. `known`: from records. */
export type DialKind = 'static' | 'bootnode' | 'known'

export interface DialLimits {
  readonly dialing: number
  readonly outbound: number
  readonly entries: number
  readonly backoffMs: number
  readonly backoffCapMs: number
  /** The longest pause for those without whom there may be no quorum. */
  readonly wantedCapMs: number
  readonly incompatibleMs: number
  readonly forgetAfter: number
  readonly stableMs: number
}

/** What stands while it is decided whom to dial. */
export interface DialState {
  /** Connected or being dialed. */
  isBusy(id: string): boolean
  isBanned(id: string): boolean
  readonly dialing: number
  readonly outbound: number
}

interface Entry {
  readonly address: NodeAddress
  readonly kind: DialKind
  failures: number
  notBeforeMs: number
}

/** Who is to be dialed when. Times and chance come in. */
export class DialScheduler {
  readonly #limits: DialLimits
  readonly #isMember: (id: string) => boolean
  readonly #entries = new Map<string, Entry>()

  /**
   * `isMember`: whether a node says that it speaks for a committee member. Members are dialed before others, beyond the places for
   * others, and like static peers again and again: once a network has healed, it is up to those pauses when blocks come again.
   */
  constructor(limits: DialLimits, isMember: (id: string) => boolean) {
    this.#limits = limits
    this.#isMember = isMember
  }

  get size(): number {
    return this.#entries.size
  }

  kindOf(id: string): DialKind | undefined {
    return this.#entries.get(id)?.kind
  }

  /** Adds a node or moves it; what the operator named is not overwritten by what others say. */
  add(address: NodeAddress, kind: DialKind, notBeforeMs = 0): void {
    const old = this.#entries.get(address.id)
    if (old !== undefined && STRENGTH[old.kind] > STRENGTH[kind]) return
    if (old?.kind === kind && old.address.host === address.host && old.address.port === address.port) return
    if (old === undefined && kind === 'known' && this.#entries.size >= this.#limits.entries) return
    this.#entries.set(address.id, { address, kind, failures: 0, notBeforeMs })
  }

  remove(id: string): boolean {
    return this.#entries.delete(id)
  }

  /** Whom to dial now, most wanted first; each is to be answered by `failedResult` or `lasted`. */
  due(nowMs: number, scene: DialState): readonly NodeAddress[] {
    const { dialing, outbound } = this.#limits
    const ready = [...this.#entries.values()].filter(
      ({ address: { id }, notBeforeMs }) => notBeforeMs <= nowMs && !scene.isBusy(id) && !scene.isBanned(id),
    )
    const wish = ({ address, kind }: Entry): number =>
      kind === 'static' ? 0 : this.#isMember(address.id) ? 1 : kind === 'known' ? 2 : 3
    const chosen: NodeAddress[] = []
    let free = Math.max(0, outbound - scene.outbound)
    for (const entry of ready.sort((a, b) => wish(a) - wish(b) || a.notBeforeMs - b.notBeforeMs)) {
      if (chosen.length >= dialing - scene.dialing) break
      if (wish(entry) > 1 && --free < 0) break
      chosen.push(entry.address)
    }
    return chosen
  }

  /** The connection failed or was refused; `random` is between 0 and 1. */
  failed(id: string, reason: DisconnectReason | 'unreachable', nowMs: number, random: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    const wait = reason === 'unreachable' ? 'backoff' : DISCONNECT_REASONS[reason].wait
    if (wait === 'never') {
      this.#entries.delete(id)
      return
    }
    entry.failures++
    const isMember = this.#isMember(id)
    if (entry.failures >= this.#limits.forgetAfter && entry.kind === 'known' && !isMember) this.#entries.delete(id)
    const capMs = isMember || entry.kind === 'static' ? this.#limits.wantedCapMs : this.#limits.backoffCapMs
    const pauseMs = this.#pauseMs(entry.failures, capMs, random)
    entry.notBeforeMs = nowMs + (wait === 'long' ? this.#limits.incompatibleMs : pauseMs)
  }

  /** A connection ended after `lastedMs`: one that held begins anew, one that did not counts as a failure. */
  ended(id: string, reason: DisconnectReason | null, lastedMs: number, nowMs: number, random: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    if (lastedMs >= this.#limits.stableMs) entry.failures = 0
    this.failed(id, reason ?? 'unreachable', nowMs, random)
  }

  /** Doubles with each failure; half of it is chance, so that nodes that lost each other do not meet in step. */
  #pauseMs(failures: number, capMs: number, random: number): number {
    const { backoffMs } = this.#limits
    const fullMs = Math.min(capMs, backoffMs * 2 ** Math.min(30, failures - 1))
    return fullMs * (0.5 + random / 2)
  }
}

/** Whose word about an address counts more. */
const STRENGTH: Readonly<Record<DialKind, number>> = { known: 0, bootnode: 1, static: 2 }
