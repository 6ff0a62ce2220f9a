import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import type { NetworkPort } from '../../consensus/ports.ts'
import { isInstant } from '../../consensus/timing/block-time.ts'
import type { ConsensusMessage } from '../../primitives/consensus/message.ts'
import type { Commit, Prepare, RoundChange } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'
import { Quorums } from '../check/quorum-tracker.ts'
import { RoundsHeard } from '../check/round-changes-seen.ts'
import { claimOf, describeMessage, encodeFrame, type Frame } from '../envelope.ts'
import type { EventQueue } from '../event-queue.ts'
import type { CrashPoint, Loss } from '../plan/plan.ts'
import { Machine } from './sim-machine.ts'
import { type Listener, LOG, type Surroundings, startProcess, WATERMARK } from './sim-process.ts'

export interface MemberOptions extends Surroundings {
  readonly size: number
  readonly queue: EventQueue
  readonly isHonest: (address: Hex) => boolean
  readonly send: (to: number, frame: Frame) => void
  /** Nodes that can be reached from here, this one left out. */
  readonly reachable: (members: readonly Hex[]) => number
  readonly note: (line: () => string) => void
  readonly onCrash: () => void
}

/** A crash that waits for its place. */
interface Armed {
  readonly point: CrashPoint
  readonly downMs: number
  readonly loses: Loss
}

/** How often instant mode has a transaction. */
const DEMAND_EVERY_MS = 300
/** Syncs of log, watermark and database fit in, of which one each may be under way. */
const REACTS_WITHIN_MS = 100

/** An honest node: its machine, which lasts, and one process after the other on it. */
export class Member {
  readonly node: number
  readonly #options: MemberOptions
  #host: Machine | null = null
  #engine: ConsensusEngine | null = null
  #listener: Listener | null = null
  #quorums = new Quorums()
  #rounds = new RoundsHeard()
  #armed: Armed | null = null

  constructor(options: MemberOptions) {
    this.node = options.node
    this.#options = options
  }

  get isUp(): boolean {
    return this.#host !== null
  }

  get number(): number {
    return this.#options.ledger.number
  }

  get round(): number {
    return this.#engine?.status().round ?? 0
  }

  /** Messages its engine holds, for the bound on memory. */
  get held(): number {
    return this.#engine?.status().held ?? 0
  }

  /** Blocks it holds of the open height, likewise. */
  get heldBlocks(): number {
    return this.#engine?.status().heldBlocks ?? 0
  }

  get mode(): string {
    return this.#engine === null ? 'down' : `${this.#engine.status().mode} round ${this.round}`
  }

  start(): void {
    if (this.#host !== null) return
    const { node, queue, referee, note } = this.#options
    const host = new Machine(queue, point => this.#mayDie(point))
    this.#host = host
    this.#quorums = new Quorums()
    this.#rounds = new RoundsHeard()
    note(() => `member ${node} starts`)
    startProcess(host, this.#options, this.#port(host)).then(
      engine => {
        if (host.isDead) return
        this.#engine = engine
        this.#demand(host, engine)
      },
      error => {
        if (!host.isDead) referee.report('gave up', `member ${node} does not start: ${String(error)}`)
      },
    )
  }

  /** Without a block time a block comes when somebody wants one: here somebody always does. */
  #demand(host: Machine, engine: ConsensusEngine): void {
    if (!isInstant(this.#options.params.blockTimeMs)) return
    engine.requestBlock()
    host.later(DEMAND_EVERY_MS, () => this.#demand(host, engine))
  }

  /** Power off now, or at a place; on again `downMs` after. */
  arm(armed: Armed): void {
    this.#armed = armed
    if (armed.point === 'now') this.#mayDie('now')
  }

  disarm(): void {
    this.#armed = null
  }

  pause(forMs: number): void {
    this.#host?.pause(forMs)
  }

  resume(): void {
    this.#host?.resume()
  }

  leap(skewMs: number): void {
    this.#options.wall.skewMs = skewMs
  }

  receive(message: ConsensusMessage, from: number): void {
    this.#host?.later(0, () => {
      if (this.#listener === null) return
      // As the network does it, which decodes no block that is of no use.
      const claim = claimOf(message)
      if (claim !== undefined && this.#listener.judgeClaim(claim, String(from)) !== 'true') return
      this.#listener.hear(message, String(from))
      if (message.type === 'commit' || message.type === 'roundChange') this.#expect(message, from)
    })
  }

  /** What liars say or pass on is left out: it may be forged, and which of their own votes counted only the engine knows. */
  #expect(message: Commit | RoundChange, from: number): void {
    const { council, isHonest, keys } = this.#options
    const members = council.committee(message.number)?.members ?? []
    const sender = members[message.sender]
    if (message.number !== this.number + 1 || sender === undefined) return
    if (!isHonest(sender) || !isHonest(keys.addresses[from] as Hex)) return
    if (message.type === 'roundChange') this.#mustFollow(message.number, this.#rounds.add(message, members.length))
    else if (this.#quorums.add(message, members.length)) this.#mustDecide(message)
  }

  #mustFollow(number: number, round: number): void {
    const { referee, node, ledger } = this.#options
    if (round <= this.round) return
    this.#host?.soon(REACTS_WITHIN_MS, () => {
      if (ledger.committing < number && this.round < round)
        referee.report('jump', `member ${node} stays behind more than can be faulty, who are in ${number}/${round}`)
    })
  }

  /** It has a quorum of commits and the block, so it decides, as soon as its log is durable. */
  #mustDecide(vote: Prepare | Commit): void {
    const { referee, node, ledger } = this.#options
    this.#host?.soon(REACTS_WITHIN_MS, () => {
      if (ledger.committing < vote.number)
        referee.report('prompt', `member ${node} has a quorum for ${describeMessage(vote)} and does not decide`)
    })
  }

  #mayDie(point: CrashPoint): void {
    if (this.#armed?.point !== point || this.#host === null) return
    const { node, queue, disk, ledger, note, onCrash } = this.#options
    const { downMs, loses } = this.#armed
    this.#armed = null
    this.#host.kill()
    this.#host = null
    this.#engine = null
    this.#listener = null
    disk.tear()
    ledger.losePower()
    if (loses !== 'nothing') disk.delete(LOG)
    // With both gone and no block yet it would count as a new node, which nobody may start a second time (1.11).
    if (loses === 'log and watermark' && this.number > 0) disk.delete(WATERMARK)
    note(() => `member ${node} loses power ${point}${loses === 'nothing' ? '' : `, and its ${loses}`}`)
    onCrash()
    queue.at(queue.nowMs + downMs, () => this.start())
  }

  #port(host: Machine): NetworkPort {
    const { node, size, send, reachable } = this.#options
    const others = Array.from({ length: size }, (_, to) => to).filter(to => to !== node)
    return {
      broadcast: message => {
        if (host.isDead) return
        this.#speak(message)
        const frame = encodeFrame(message)
        for (const [at, to] of others.entries()) {
          if (at === others.length >> 1 && !host.reaches('in the middle of its sends')) return
          send(to, frame)
        }
        if (message.type === 'commit') host.reaches('after sending a commit')
      },
      send: (to, message) => {
        if (host.isDead) return
        this.#speak(message)
        send(Number(to), encodeFrame(message))
      },
      onMessage: (hear, judgeClaim = () => 'true') => {
        const listener = { hear, judgeClaim }
        this.#listener = listener
        return () => {
          if (this.#listener === listener) this.#listener = null
        }
      },
      reachable,
    }
  }

  /** What leaves the process is held against all it said before. */
  #speak(message: ConsensusMessage): void {
    if (!('sender' in message)) return
    const { node, referee, disk, council, wall, note } = this.#options
    if (message.type === 'prepare' || message.type === 'commit') {
      const size = council.committee(message.number)?.members.length ?? 0
      if (message.type === 'commit') this.#quorums.add(message, size)
      if (this.#quorums.hold(message, size)) this.#mustDecide(message)
    }
    const isDurable = () => disk.holds(LOG, message.signature)
    if (referee.said(node, message, { isDurable, latestMs: wall.latestMs }))
      note(() => `member ${node} says ${describeMessage(message)}`)
  }
}
