import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { ConsensusEngine } from '../../../src/consensus/engine/types.ts'
import type { NetworkPort, Speaker } from '../../../src/consensus/ports.ts'
import { isInstantMode } from '../../../src/consensus/timing/pacemaker.ts'
import type { ProofPool } from '../../../src/powchain/proof-pool.ts'
import type { ProofNetworkPort } from '../../../src/powchain/proof-relay.ts'
import { signerIndexes } from '../../../src/primitives/consensus/certificate.ts'
import type { ConsensusMessage, SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { Commit, Prepare, RoundChange } from '../../../src/primitives/consensus/vote.ts'
import type { ProofTemplate } from '../../../src/primitives/proof-header.ts'
import { BetrayalsHeard } from '../check/betrayals-heard.ts'
import { BodyRequests } from '../check/body-requests.ts'
import { KeptBodies } from '../check/kept-bodies.ts'
import { QuorumTracker } from '../check/quorum-tracker.ts'
import { RoundChangesSeen } from '../check/round-changes-seen.ts'
import { claimOf, describeMessage, type Envelope, encodeEnvelope, short } from '../network/envelope.ts'
import type { EventQueue } from '../network/event-queue.ts'
import { RelayedStatements } from '../network/topology.ts'
import type { CrashLoss } from '../plan/plan.ts'
import type { CrashPoint } from './crash-points.ts'
import type { Ledger } from './ledger.ts'
import { SimMachine } from './sim-machine.ts'
import {
  type ConsensusListener,
  type ProcessEnvironment,
  startProcess,
  WAL_FILE,
  WATERMARK_FILE,
} from './sim-process.ts'
import { SimSync, type SimSyncOptions, type SyncMessage } from './sim-sync.ts'

interface SimMemberOptions extends ProcessEnvironment {
  readonly neighbours: readonly number[]
  readonly queue: EventQueue
  readonly isHonest: (address: Hex) => boolean
  readonly send: (to: number, envelope: Envelope) => void
  /** False where blocks that another node asked for do not arrive. */
  readonly isAnswered: (to: number) => boolean
  readonly sendProof: (to: number, encoded: Uint8Array) => void
  /** Network and random numbers of block sync; null: without it. */
  readonly blockSync: Pick<SimSyncOptions, 'post' | 'random' | 'counts'> | null
  /** Number of reachable nodes, without this one. */
  readonly reachable: (members: readonly Hex[]) => number
  /** Members for which a neighbour speaks, and those it says to reach. */
  readonly speaker: (neighbour: number) => Speaker
  /** Neighbours to which a statement of `author`, received from `from`, is passed on; none from a member. */
  readonly targets: (author: Hex, from: number) => readonly number[]
  readonly note: (line: () => string) => void
  readonly onCrash: () => void
}

/** Crash that waits for its point. */
interface Armed {
  readonly point: CrashPoint
  readonly downMs: number
  readonly loses: CrashLoss
}

/** Loss after which it seems to be a new member. */
const WHOLE_FOLDER = 'whole folder'
/** Loss after which a member starts on an old copy of its blocks. */
const OLD_BLOCKS = 'log, watermark and blocks'
/** Interval of transactions in instant mode. */
const DEMAND_EVERY_MS = 300
/** Time for syncs of log, watermark and database, with one of each under way. */
const REACTS_WITHIN_MS = 100

/** Honest node: its machine, which persists, and one process after the other on it. */
export class SimMember {
  readonly node: number
  readonly #options: SimMemberOptions
  #host: SimMachine | null = null
  #engine: ConsensusEngine | null = null
  #pool: ProofPool | null = null
  #proofListener: ((encoded: Uint8Array, from: string) => void) | null = null
  #consensusListener: ConsensusListener | null = null
  #quorumTracker = new QuorumTracker()
  #rounds = new RoundChangesSeen()
  #bodies = new KeptBodies()
  #requests: BodyRequests | null = null
  #betrayals = new BetrayalsHeard()
  #relayed = new RelayedStatements()
  #armed: Armed | null = null
  #sync: SimSync | null = null
  /** Its engine has left the height for blocks of others. */
  #isAway = false
  /** Heights whose messages it has forgotten. */
  #heights = 0

  constructor(options: SimMemberOptions) {
    this.node = options.node
    this.#options = options
  }

  get isUp(): boolean {
    return this.#host !== null
  }

  get number(): number {
    return this.ledger.number
  }

  get ledger(): Ledger {
    return this.#options.ledger
  }

  get round(): number {
    return this.#engine?.status().round ?? 0
  }

  /** Numbers of messages, and of blocks of the open height, that its engine holds: both have a bound. */
  get holdings(): { readonly held: number; readonly heldBlocks: number } {
    return this.#engine?.status() ?? { held: 0, heldBlocks: 0 }
  }

  get mode(): string {
    return this.#engine === null ? 'down' : `${this.#engine.status().mode} round ${this.round}`
  }

  start(): void {
    if (this.#host !== null) return
    const { node, queue, checker, note } = this.#options
    const host = new SimMachine(queue, point => this.#mayDie(point))
    this.#host = host
    this.#forgetHeight()
    this.#bodies = new KeptBodies()
    this.#requests = this.#bodyRequests(host)
    this.#relayed = new RelayedStatements()
    note(() => `member ${node} starts`)
    startProcess(host, this.#options, { consensus: this.#port(host), proofs: this.#proofPort(host) }).then(
      ({ engine, pool }) => {
        if (host.isDead) return
        this.#engine = engine
        this.#pool = pool
        this.#demand(host, engine)
        this.#startSync(host, engine)
      },
      error => {
        if (!host.isDead) checker.report('gave up', `member ${node} does not start: ${String(error)}`)
      },
    )
  }

  /** Forgets what it has heard about the open height: the engine has, too. */
  #forgetHeight(): void {
    this.#heights++
    this.#quorumTracker = new QuorumTracker()
    this.#rounds = new RoundChangesSeen()
    this.#betrayals = new BetrayalsHeard()
  }

  #startSync(host: SimMachine, engine: ConsensusEngine): void {
    const { blockSync, isHonest, keys, checker, node, note } = this.#options
    if (blockSync === null) return
    this.#sync = new SimSync({
      ...this.#options,
      ...blockSync,
      host,
      engine,
      onForgery: (peer, reason) => {
        if (!host.isDead && isHonest(keys.addresses[peer] as Hex))
          checker.report('sync', `member ${node} blames honest member ${peer} for ${reason}`)
      },
      onLeft: isAway => {
        if (host.isDead) return
        note(() => `member ${node} ${isAway ? 'leaves' : 'has'} height ${this.number + 1}`)
        this.#isAway = isAway
        this.#forgetHeight()
        this.#requests?.left()
      },
    })
    this.#sync.start()
  }

  /** Called for each block of its chain. */
  committed(): void {
    this.#sync?.committed()
  }

  receiveSync(message: SyncMessage, from: number): void {
    this.#host?.later(0, () => this.#sync?.receive(message, from))
  }

  /** In instant mode blocks need requests: here there always is one. */
  #demand(host: SimMachine, engine: ConsensusEngine): void {
    if (!isInstantMode(this.#options.params.blockTimeMs)) return
    engine.requestBlock()
    host.later(DEMAND_EVERY_MS, () => this.#demand(host, engine))
  }

  /** Switches the power off now, or at a point; on again `downMs` later. */
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

  setClockSkew(skewMs: number): void {
    this.#options.wall.skewMs = skewMs
  }

  receive(message: ConsensusMessage, from: number): void {
    this.#host?.later(0, () => {
      if (this.#consensusListener === null) return
      if (this.#isAway) {
        this.#requests?.told(message)
        this.#consensusListener.hear(message, String(from))
        return
      }
      // As the network does: blocks that are not needed are not decoded.
      const claim = claimOf(message)
      if (claim !== undefined && this.#consensusListener.validateClaim(claim, String(from)) !== 'accept') return
      const place = this.#isByzantine(message) ? this.#engine?.status() : undefined
      this.#requests?.told(message)
      const { round } = this
      if (this.#consensusListener.hear(message, String(from)) === 'accept') {
        this.#requests?.accepted(message, { number: this.number + 1, round })
        this.#relay(message, from)
        if (place !== undefined && 'sender' in message) this.#mustAccuse(message, place)
      }
      if (message.type === 'commit' || message.type === 'roundChange') this.#expect(message, from)
      if (message.type === 'status' && message.wanted !== null) this.#mustSend(message.number, message.wanted, from)
    })
  }

  /** Passes a verified statement on, as ConsensusGossip does. */
  #relay(message: ConsensusMessage, from: number): void {
    const { council, targets, send, queue } = this.#options
    if (!('sender' in message)) return
    const author = council.committee(message.number)?.members[message.sender]
    const to = author === undefined ? [] : targets(author, from)
    if (to.length === 0) return
    const envelope = encodeEnvelope(message)
    if (this.#relayed.add(envelope, queue.nowMs)) for (const node of to) send(node, envelope)
  }

  receiveProof(encoded: Uint8Array, from: number): void {
    this.#host?.later(0, () => this.#proofListener?.(encoded, String(from)))
  }

  /** Work for a miner of this node; undefined while it is down or has none. */
  proofWork(coinbase: Hex, extraNonce: Uint8Array): ProofTemplate | undefined {
    return this.#pool?.template(coinbase, extraNonce)
  }

  /** Accepts a header of a miner of this node. Ignores one that came too late. */
  async submitProof(encoded: Uint8Array): Promise<void> {
    try {
      await this.#pool?.submit(encoded, this.#options.wall.nowMs())
    } catch (error) {
      if (!isCoded(error)) throw error
    }
  }

  /**
   * Messages sent or relayed by byzantine nodes are ignored: they may be forged, and only the engine knows which of their
   * own votes counted.
   */
  #expect(message: Commit | RoundChange, from: number): void {
    const { council, isHonest, keys } = this.#options
    const members = council.committee(message.number)?.members ?? []
    const sender = members[message.sender]
    if (message.number !== this.number + 1 || sender === undefined) return
    if (!isHonest(sender) || !isHonest(keys.addresses[from] as Hex)) return
    // No signature covers its prepares, which a Byzantine node may strip before a relay passes it on.
    if (message.type === 'roundChange' && message.prepared !== null) {
      const preparers = new Set(message.prepares.map(prepare => prepare.sender))
      if (3 * preparers.size < 2 * members.length) return
    }
    if (message.type === 'roundChange') this.#mustFollow(message.number, this.#rounds.add(message, members.length))
    else if (this.#quorumTracker.add(message, members.length)) this.#mustDecide(message)
  }

  #bodyRequests(host: SimMachine): BodyRequests {
    const { node, keys, council, ledger, checker } = this.#options
    return new BodyRequests({
      self: keys.addresses[node] as Hex,
      committee: number => council.committee(number),
      isOpen: number => ledger.committing < number,
      soon: check => this.#soonAtHeight(check, host),
      report: text => checker.report('requests', `member ${node} ${text}`),
    })
  }

  /** Runs a check once the process must have reacted, unless its engine has left the height meanwhile. */
  #soonAtHeight(check: () => void, host = this.#host): void {
    const heights = this.#heights
    host?.soon(REACTS_WITHIN_MS, () => {
      if (heights === this.#heights) check()
    })
  }

  #mustFollow(number: number, round: number): void {
    const { checker, node, ledger } = this.#options
    if (round <= this.round) return
    this.#soonAtHeight(() => {
      if (ledger.committing < number && this.round < round)
        checker.report('jump', `member ${node} stays behind more than can be faulty, who are in ${number}/${round}`)
    })
  }

  /** It has a quorum of commits and the block, so it must decide as soon as its log is durable. */
  #mustDecide(vote: Prepare | Commit): void {
    const { checker, node, ledger } = this.#options
    this.#soonAtHeight(() => {
      if (ledger.committing < vote.number)
        checker.report('prompt', `member ${node} has a quorum for ${describeMessage(vote)} and does not decide`)
    })
  }

  /** True for a statement in the name of a Byzantine member. */
  #isByzantine(message: ConsensusMessage): message is SignedMessage {
    if (!('sender' in message)) return false
    const sender = this.#options.council.committee(message.number)?.members[message.sender]
    return sender !== undefined && !this.#options.isHonest(sender)
  }

  /** It heard two statements of a member that no honest one makes, so it must have accused that member by now. */
  #mustAccuse(message: SignedMessage, { number, round }: { readonly number: number; readonly round: number }): void {
    const { checker, node } = this.#options
    const betrayal = message.number === number ? this.#betrayals.add(message, round) : undefined
    if (betrayal !== undefined && !checker.hasAccused(node, message))
      checker.report('evidence', `member ${node} does not accuse ${message.sender}, which ${betrayal}`)
  }

  /** It voted for the block at the open height, so a neighbour that lacks the body gets it. */
  #mustSend(number: number, hash: Hex, to: number): void {
    const { checker, node, ledger, queue } = this.#options
    const bodies = this.#bodies
    const askedMs = queue.nowMs
    if (!bodies.has(number, hash)) return
    this.#soonAtHeight(() => {
      if (ledger.committing < number && bodies.has(number, hash) && !bodies.isSent(hash, String(to), askedMs))
        checker.report('body', `member ${node} has no body of ${short(hash)} at ${number}, for which it voted last`)
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
    this.#pool = null
    this.#sync = null
    this.#isAway = false
    this.#proofListener = null
    this.#consensusListener = null
    disk.tear()
    ledger.losePower()
    const isWiped = loses === WHOLE_FOLDER && this.#hasSealed()
    if (loses !== 'nothing' && (loses !== WHOLE_FOLDER || isWiped)) disk.delete(WAL_FILE)
    // Without log, watermark and blocks it would count as a new node, which must not be started a second time (1.11).
    if ((loses === 'log and watermark' || loses === OLD_BLOCKS) && this.number > 0) disk.delete(WATERMARK_FILE)
    if (loses === OLD_BLOCKS) ledger.restoreOld()
    if (isWiped) {
      disk.delete(WATERMARK_FILE)
      ledger.wipe()
    }
    note(() => `member ${node} loses power ${point}${loses === 'nothing' ? '' : `, and its ${loses}`}`)
    onCrash()
    queue.at(queue.nowMs + downMs, () => this.start())
  }

  /** True when the chain shows that its key voted; else a node with an empty folder must not be started with it (docs/design/consensus.md#quarantine). */
  #hasSealed(): boolean {
    const { ledger, council, keys, node } = this.#options
    return ledger.blocks.some(({ block, certificate }) => {
      const index = council.committee(block.header.number)?.members.indexOf(keys.addresses[node] as Hex)
      return signerIndexes(certificate).includes(index ?? -1)
    })
  }

  #proofPort(host: SimMachine): ProofNetworkPort {
    const { node, neighbours: others, sendProof, checker, keys, isHonest } = this.#options
    return {
      broadcast: encoded => {
        if (host.isDead) return
        for (const to of others) sendProof(to, encoded)
      },
      onReceived: listener => {
        this.#proofListener = listener
        return () => {
          if (this.#proofListener === listener) this.#proofListener = null
        }
      },
      misbehaved: (peer, reason) => {
        if (!host.isDead && isHonest(keys.addresses[Number(peer)] as Hex))
          checker.report('omission', `member ${node} blames honest member ${peer} for a ${reason}`)
      },
    }
  }

  #port(host: SimMachine): NetworkPort {
    const { neighbours: others, send, isAnswered, reachable, speaker } = this.#options
    return {
      broadcast: message => {
        if (host.isDead) return
        this.#speak(message)
        this.#requests?.said(message)
        const envelope = encodeEnvelope(message)
        for (const [at, to] of others.entries()) {
          if (at === others.length >> 1 && !host.reaches('in the middle of its sends')) return
          send(to, envelope)
        }
        if (message.type === 'commit') host.reaches('after sending a commit')
      },
      send: (to, message) => {
        if (host.isDead) return
        this.#speak(message)
        this.#bodies.sent(message, to, this.#options.queue.nowMs)
        if (!('block' in message) || isAnswered(Number(to))) send(Number(to), encodeEnvelope(message))
      },
      onMessage: (hear, validateClaim = () => 'accept') => {
        const listener = { hear, validateClaim }
        this.#consensusListener = listener
        return () => {
          if (this.#consensusListener === listener) this.#consensusListener = null
        }
      },
      reachable,
      speaker: from => speaker(Number(from)),
    }
  }

  /** Checks a message of the process against all its earlier ones. */
  #speak(message: ConsensusMessage): void {
    if (!('sender' in message)) return
    const { node, checker, disk, council, wall, note } = this.#options
    if (message.type === 'prepare' || message.type === 'commit') {
      const size = council.committee(message.number)?.members.length ?? 0
      this.#bodies.voted(message)
      if (message.type === 'commit') this.#quorumTracker.add(message, size)
      if (this.#quorumTracker.hold(message, size)) this.#mustDecide(message)
    }
    const isDurable = () => disk.holds(WAL_FILE, message.signature)
    if (checker.said(node, message, { isDurable, latestMs: wall.latestMs }))
      note(() => `member ${node} says ${describeMessage(message)}`)
  }
}
