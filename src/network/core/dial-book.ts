import { REASONS, type Reason } from './reasons.ts'

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
  readonly incompatibleMs: number
  readonly forgetAfter: number
  readonly stableMs: number
}

/** What stands while it is decided whom to dial. */
export interface DialScene {
  /** Connected or being dialed. */
  isBusy(id: string): boolean
  isBanned(id: string): boolean
  /** Committee members are dialed before others and beyond the places for others. */
  isMember(id: string): boolean
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
export class DialBook {
  readonly #limits: DialLimits
  readonly #entries = new Map<string, Entry>()

  constructor(limits: DialLimits) {
    this.#limits = limits
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

  /** Whom to dial now, most wanted first; each is to be answered by `failed` or `lasted`. */
  due(nowMs: number, scene: DialScene): readonly NodeAddress[] {
    const { dialing, outbound } = this.#limits
    const ready = [...this.#entries.values()].filter(
      ({ address: { id }, notBeforeMs }) => notBeforeMs <= nowMs && !scene.isBusy(id) && !scene.isBanned(id),
    )
    const wish = ({ address, kind }: Entry): number =>
      kind === 'static' ? 0 : scene.isMember(address.id) ? 1 : kind === 'known' ? 2 : 3
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
  failed(id: string, reason: Reason | 'unreachable', nowMs: number, random: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    const wait = reason === 'unreachable' ? 'backoff' : REASONS[reason].wait
    if (wait === 'never') {
      this.#entries.delete(id)
      return
    }
    entry.failures++
    if (entry.failures >= this.#limits.forgetAfter && entry.kind === 'known') this.#entries.delete(id)
    entry.notBeforeMs = nowMs + (wait === 'long' ? this.#limits.incompatibleMs : this.#pauseMs(entry.failures, random))
  }

  /** A connection ended after `lastedMs`: one that held begins anew, one that did not counts as a failure. */
  ended(id: string, reason: Reason | null, lastedMs: number, nowMs: number, random: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    if (lastedMs >= this.#limits.stableMs) entry.failures = 0
    this.failed(id, reason ?? 'unreachable', nowMs, random)
  }

  /** Doubles with each failure; half of it is chance, so that nodes that lost each other do not meet in step. */
  #pauseMs(failures: number, random: number): number {
    const { backoffMs, backoffCapMs } = this.#limits
    const fullMs = Math.min(backoffCapMs, backoffMs * 2 ** Math.min(30, failures - 1))
    return fullMs * (0.5 + random / 2)
  }
}

/** Whose word about an address counts more. */
const STRENGTH: Readonly<Record<DialKind, number>> = { known: 0, bootnode: 1, static: 2 }
