import { networkOf } from './address-book.ts'
import { DISCONNECT_REASONS, type DisconnectReason } from './disconnect-reasons.ts'

/** Id and address of a node. */
export interface NodeAddress {
  /** Node id, 64 hex digits. */
  readonly id: string
  readonly host: string
  readonly port: number
}

/** `static`: named by the operator, redialed without end. `bootnode`: dialed while peers are few. `known`: from records. */
type DialKind = 'static' | 'bootnode' | 'known'

/** Limit of known nodes, and those of NETWORK_LIMITS. */
type DialLimits = Readonly<
  Record<
    | ('entries' | 'dialing' | 'outbound' | 'forgetAfter')
    | ('backoffMs' | 'backoffCapMs' | 'wantedCapMs' | 'incompatibleMs' | 'stableMs'),
    number
  >
>

/** State of the connections while choosing nodes to dial. */
export interface DialState {
  /** Connected or being dialed. */
  isBusy(id: string): boolean
  isBanned(id: string): boolean
  readonly dialing: ReadonlySet<string>
  /** Addresses of the outbound peers of no special importance. */
  readonly outbound: readonly string[]
}

interface Entry {
  readonly address: NodeAddress
  readonly kind: DialKind
  failures: number
  notBeforeMs: number
}

/** Records of known nodes, as far as dialing concerns them. */
interface RecordState {
  /** Returns true when this node was connected to it. */
  isTried(id: string): boolean
  /** Called for a node that could not be reached for long. */
  remove(id: string): void
}

const NO_RECORDS: RecordState = { isTried: () => false, remove: () => {} }

/** Decides which nodes are dialed and when. Time and random numbers are passed in. */
export class DialScheduler {
  readonly #limits: DialLimits
  readonly #isMember: (id: string) => boolean
  readonly #records: RecordState
  readonly #entries = new Map<string, Entry>()
  /** Number of dials to nodes of no special importance: their kinds take turns. */
  #turn = 0

  /**
   * `isMember` returns true when a node claims to represent a committee member. Members are dialed before others, beyond the limit for
   * others, and redialed without end like static peers: after a network partition heals, these pauses decide when blocks resume.
   */
  constructor(limits: DialLimits, isMember: (id: string) => boolean, records: RecordState = NO_RECORDS) {
    this.#limits = limits
    this.#isMember = isMember
    this.#records = records
  }

  get size(): number {
    return this.#entries.size
  }

  kindOf(id: string): DialKind | undefined {
    return this.#entries.get(id)?.kind
  }

  /** Returns the hosts that the operator named for static peers. */
  staticHosts(): readonly string[] {
    return [...this.#entries.values()].filter(({ kind }) => kind === 'static').map(({ address }) => address.host)
  }

  /** Adds a node or updates its address; an entry from the operator is not replaced by one from peers. */
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

  /** Returns the nodes to dial now, most important first; the caller reports each by `failed` or `ended`. */
  due(nowMs: number, scene: DialState): readonly NodeAddress[] {
    const { dialing, outbound } = this.#limits
    const ready = [...this.#entries.values()].filter(
      ({ address: { id }, notBeforeMs }) => notBeforeMs <= nowMs && !scene.isBusy(id) && !scene.isBanned(id),
    )
    const wishes: readonly [Entry[], Entry[], Entry[], Entry[], Entry[]] = [[], [], [], [], []]
    for (const entry of ready.sort((a, b) => a.notBeforeMs - b.notBeforeMs)) wishes[this.#wish(entry)].push(entry)
    const [statics, members, ...others] = wishes
    const wanted = [...scene.dialing].filter(id => this.#isWanted(id)).length
    const free = Math.min(outbound - scene.outbound.length, dialing - (scene.dialing.size - wanted))
    const near = this.#inTurns(others, free, this.#networksOf(scene))
    return [...[...statics, ...members].slice(0, Math.max(0, dialing - wanted)), ...near].map(({ address }) => address)
  }

  /** Counts the outbound peers and dials of each network. */
  #networksOf({ outbound, dialing }: DialState): Map<string, number> {
    const hosts = [...dialing].filter(id => !this.#isWanted(id)).map(id => this.#entries.get(id)?.address.host ?? '')
    const networks = new Map<string, number>()
    for (const network of [...outbound, ...hosts].map(networkOf))
      networks.set(network, (networks.get(network) ?? 0) + 1)
    return networks
  }

  /** Static peers, members, tried nodes, others, bootnodes. */
  #wish({ address: { id }, kind }: Entry): 0 | 1 | 2 | 3 | 4 {
    if (kind === 'static') return 0
    if (this.#isMember(id)) return 1
    return kind === 'bootnode' ? 4 : this.#records.isTried(id) ? 2 : 3
  }

  /**
   * Takes from each kind in turn, so that no number of invented nodes keeps this one from its bootnodes and those it knows; of a kind, a
   * node of the network with fewest outbound peers, so that one network gets no more of the places than it leaves to others.
   */
  #inTurns(kinds: readonly Entry[][], count: number, networks: Map<string, number>): readonly Entry[] {
    const crowd = ({ address: { host } }: Entry) => networks.get(networkOf(host)) ?? 0
    const chosen: Entry[] = []
    while (chosen.length < count && kinds.some(({ length }) => length > 0)) {
      const kind = kinds[this.#turn++ % kinds.length] ?? []
      const next = kind.reduce<Entry | undefined>(
        (best, one) => (best && crowd(best) <= crowd(one) ? best : one),
        undefined,
      )
      if (next === undefined) continue
      kind.splice(kind.indexOf(next), 1)
      networks.set(networkOf(next.address.host), crowd(next) + 1)
      chosen.push(next)
    }
    return chosen
  }

  #isWanted(id: string): boolean {
    return this.kindOf(id) === 'static' || this.#isMember(id)
  }

  /** Reports a connection that failed or was refused; `random` is between 0 and 1. */
  failed(id: string, reason: DisconnectReason | 'unreachable', nowMs: number, random: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    const wait = reason === 'unreachable' ? 'backoff' : DISCONNECT_REASONS[reason].wait
    if (wait === 'never') {
      this.#entries.delete(id)
      return
    }
    entry.failures++
    const isWanted = this.#isWanted(id)
    if (entry.failures >= this.#limits.forgetAfter && entry.kind === 'known' && !isWanted) {
      this.#entries.delete(id)
      this.#records.remove(id)
    }
    const capMs = isWanted ? this.#limits.wantedCapMs : this.#limits.backoffCapMs
    const pauseMs = this.#pauseMs(entry.failures, capMs, random)
    entry.notBeforeMs = nowMs + (wait === 'long' ? this.#limits.incompatibleMs : pauseMs)
  }

  /** Reports the end of a connection after `lastedMs`: a stable one resets the backoff, a short one counts as a failure. */
  ended(id: string, reason: DisconnectReason | null, lastedMs: number, nowMs: number, random: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    if (lastedMs >= this.#limits.stableMs) entry.failures = 0
    this.failed(id, reason ?? 'unreachable', nowMs, random)
  }

  /** Returns the pause: doubled by each failure, half of it random, so that nodes that lost each other do not redial in step. */
  #pauseMs(failures: number, capMs: number, random: number): number {
    const { backoffMs } = this.#limits
    const fullMs = Math.min(capMs, backoffMs * 2 ** Math.min(30, failures - 1))
    return fullMs * (0.5 + random / 2)
  }
}

/** Precedence of the sources of an address. */
const STRENGTH: Readonly<Record<DialKind, number>> = { known: 0, bootnode: 1, static: 2 }
