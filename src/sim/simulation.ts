import { crc32 } from 'node:zlib'
import { SIMULATION_LIMITS } from '../config/limits/commands.ts'
import { CONSENSUS_LIMITS } from '../config/limits/consensus.ts'
import type { ChainParams } from '../config/networks.ts'
import { CONSENSUS_BOUNDS } from '../config/protocol-bounds.ts'
import type { CommitteePort } from '../consensus/ports.ts'
import type { Block } from '../primitives/block.ts'
import { decodeProofHeader, type ProofHeader } from '../primitives/proof-header.ts'
import { firstProofState } from '../rules/proof/proof-header.ts'
import { type Hex, ZERO_HASH } from '../util/bytes.ts'
import type { Script } from './byzantine/byzantine-node.ts'
import { ByzantineNode, type OpenHeight } from './byzantine/byzantine-node.ts'
import { SCRIPTS } from './byzantine/scripts.ts'
import { InvariantChecker } from './check/invariants.ts'
import { Pace } from './check/pace.ts'
import { ProofAudit } from './check/proof-audit.ts'
import { type Keys, realKeys, stubKeys } from './keys.ts'
import { createWallClock } from './member/clock.ts'
import { Disk } from './member/disk.ts'
import { GENESIS_HASH, GENESIS_HEAD, Ledger } from './member/ledger.ts'
import { SimMember } from './member/sim-member.ts'
import { decodeEnvelope, describeMessage, type Envelope, short } from './network/envelope.ts'
import { EventQueue } from './network/event-queue.ts'
import { SimNetwork } from './network/sim-network.ts'
import { FAULTLESS } from './plan/draw-plan.ts'
import type { Plan, PlannedFault } from './plan/plan.ts'
import { SimMiners } from './proof/sim-miners.ts'
import { simProofParams } from './proof/sim-work.ts'
import { createRandom } from './random.ts'
import { createCouncil } from './sim-council.ts'
import type { SimulationOutcome } from './swarm/run-outcome.ts'
import { Trace } from './trace.ts'

/** Blocks every node must gain after healing. */
const HEIGHTS_AFTER = 3
const OMISSION_ROUNDS = 3
/** Blocks a member may hold besides those proposed to it: prepared, built, requested and just received ones. */
const OTHER_BLOCKS = 4
/** Cycle of a committee that does not change. */
const CYCLE_BLOCKS = 2
/** Inspecting every engine's state costs more than most events. */
const LOOK_EVERY = 64

/**
 * Whole nodes' engines with their logs and codecs, in one thread on one virtual clock: a phase of faults, then a phase without faults in
 * which every node must progress (docs/design/consensus.md#invariants). The run follows entirely from the plan. `lines`: number of events
 * kept as text.
 */
export const runSimulation = (plan: Plan, lines = 0): Promise<SimulationOutcome> => new Simulation(plan, lines).run()

class Simulation {
  readonly #plan: Plan
  readonly #queue = new EventQueue()
  readonly #trace: Trace
  readonly #keys: Keys
  readonly #byzantine: ReadonlySet<number>
  readonly #council: CommitteePort
  readonly #checker: InvariantChecker
  readonly #network: SimNetwork<Envelope>
  /** Gossip of proof headers; of its own, so that it changes no delay of other messages. */
  readonly #proofNetwork: SimNetwork<Uint8Array>
  readonly #proofParams: ChainParams
  readonly #proofs: ProofAudit
  readonly #members = new Map<number, SimMember>()
  readonly #byzantineNodes = new Map<number, ByzantineNode>()
  readonly #counts = { crashes: 0, partitions: 0, pauses: 0, clockJumps: 0, malformed: 0, byzantineMessages: 0 }
  readonly #pace: Pace | null
  #isHealed = false
  #height = 0
  #foundProofs = 0
  #maxHeld = 0
  #includedProof: ProofHeader | undefined

  constructor(plan: Plan, lines: number) {
    const { seed, size, linkConditions, byzantine, council, realKeys: isReal, blockTimeMs } = plan
    this.#plan = plan
    this.#pace = plan.profile === 'slow' ? new Pace(plan) : null
    this.#trace = new Trace(lines)
    this.#keys = isReal ? realKeys(size) : stubKeys(size)
    this.#byzantine = new Set(byzantine.map(({ node }) => node))
    const { addresses, recover } = this.#keys
    this.#council = createCouncil({ seed, addresses, byzantine: this.#byzantine, plan: council })
    this.#proofParams = simProofParams(plan.mining?.forkHeight ?? null)
    const params = this.#proofParams
    this.#proofs = new ProofAudit({ params, genesisHash: GENESIS_HASH, cycleBlocks: this.#cycleBlocks })
    this.#checker = new InvariantChecker({
      council: this.#council,
      addresses,
      byzantine: this.#byzantine,
      domain: DOMAIN,
      recover,
      blockTimeMs,
      proofs: this.#proofs,
    })
    const deliver = (from: number, to: number, envelope: Envelope) => this.#deliver(from, to, envelope)
    const links = { size, linkConditions, queue: this.#queue }
    this.#network = new SimNetwork({ ...links, seed, deliver })
    const deliverProof = (from: number, to: number, encoded: Uint8Array) => this.#deliverProof(from, to, encoded)
    this.#proofNetwork = new SimNetwork({ ...links, seed: seed + PROOF_LINKS, deliver: deliverProof })
    for (let node = 0; node < size; node++) if (!this.#byzantine.has(node)) this.#members.set(node, this.#member(node))
    for (const { node, scripts } of byzantine)
      this.#byzantineNodes.set(
        node,
        this.#createByzantine(
          node,
          scripts.map(name => SCRIPTS[name]),
        ),
      )
  }

  async run(): Promise<SimulationOutcome> {
    const { faultsMs, heights, faults, mining } = this.#plan
    for (const member of this.#members.values()) member.start()
    await rest()
    const proof = firstProofState(this.#proofParams)
    this.#opened({ number: 1, parent: GENESIS_HEAD, state: ZERO_HASH, proof, includedProof: undefined })
    if (mining !== null) this.#miners().plan(mining.finds)
    for (const plannedFault of faults) this.#queue.at(plannedFault.atMs, () => this.#strike(plannedFault))
    while (this.#queue.nowMs < faultsMs && this.#height < heights && this.#checker.violation === null) await this.#go()
    const healedAtMs = this.#queue.nowMs
    if (this.#checker.violation === null) await this.#recover()
    return this.#outcome(healedAtMs)
  }

  /** Runs one event with all its immediate effects. */
  async #go(): Promise<void> {
    if (!this.#queue.next() || this.#queue.count > SIMULATION_LIMITS.events) {
      this.#checker.report('liveness', `nothing comes of it any more: ${this.#picture()}`)
      return
    }
    await rest()
    const late = this.#pace?.lateAt(this.#queue.nowMs)
    if (late) this.#checker.report('pace', `no block at ${this.#height + 1}: ${late}; ${this.#picture()}`)
    if (this.#queue.count % LOOK_EVERY === 0) this.#look()
  }

  async #recover(): Promise<void> {
    this.#heal()
    const target = this.#height + HEIGHTS_AFTER
    const untilMs = this.#queue.nowMs + this.#patienceMs()
    const isBehind = () => [...this.#members.values()].some(member => member.number < target)
    while (isBehind() && this.#checker.violation === null) {
      if (this.#queue.nowMs > untilMs)
        this.#checker.report('liveness', `not everybody reaches ${target}: ${this.#picture()}`)
      else await this.#go()
    }
  }

  #heal(): void {
    this.#isHealed = true
    this.#note(() => `all is well from here on`)
    this.#network.heal(FAULTLESS)
    this.#proofNetwork.heal(FAULTLESS)
    for (const member of this.#members.values()) {
      member.disarm()
      member.setClockSkew(0)
      member.resume()
      member.start()
    }
  }

  /**
   * Longest time to progress: the current round may time out, and as many later ones as have byzantine proposers; clocks may have been
   * ahead.
   */
  #patienceMs(): number {
    const { roundTimeoutMs, byzantine, faults, mining } = this.#plan
    const { maxTimeoutExponent, timeoutCapMs } = CONSENSUS_BOUNDS
    this.#look()
    const round = Math.max(...[...this.#members.values()].map(member => member.round))
    let patienceMs = 20_000 + 4 * (this.#plan.slow?.blockMs ?? 0)
    const timeoutMs = (at: number) => Math.min(roundTimeoutMs * 2 ** Math.min(at, maxTimeoutExponent), timeoutCapMs)
    for (let ahead = 0; ahead <= byzantine.length + 3; ahead++) patienceMs += timeoutMs(round + ahead)
    // Members may know different proof headers: each height may lose the rounds of the vote rule.
    if (mining !== null) for (let at = 0; at < OMISSION_ROUNDS; at++) patienceMs += HEIGHTS_AFTER * timeoutMs(at)
    return patienceMs + (faults.some(({ kind }) => kind === 'clockJump') ? 40_000 : 0)
  }

  /** Length of a cycle. */
  get #cycleBlocks(): number {
    return this.#plan.council?.cycleBlocks ?? CYCLE_BLOCKS
  }

  #strike(plannedFault: PlannedFault): void {
    if (this.#isHealed) return
    const endMs = this.#queue.nowMs + plannedFault.forMs
    switch (plannedFault.kind) {
      case 'partition': {
        this.#counts.partitions++
        this.#note(
          () => `the network splits off ${plannedFault.side.join(' ')}${plannedFault.oneWay ? ', one way' : ''}`,
        )
        for (const network of [this.#network, this.#proofNetwork])
          this.#queue.at(endMs, network.partition(plannedFault.side, plannedFault.oneWay))
        return
      }
      case 'crash':
        this.#members
          .get(plannedFault.node)
          ?.arm({ point: plannedFault.point, downMs: plannedFault.forMs, loses: plannedFault.loses })
        return
      case 'pause':
        this.#counts.pauses++
        this.#members.get(plannedFault.node)?.pause(plannedFault.forMs)
        return
      case 'clockJump':
        this.#counts.clockJumps++
        this.#note(() => `the clock of member ${plannedFault.node} is ${plannedFault.skewMs} ms ahead`)
        this.#members.get(plannedFault.node)?.setClockSkew(plannedFault.skewMs)
        this.#queue.at(endMs, () => this.#members.get(plannedFault.node)?.setClockSkew(0))
        return
    }
  }

  #deliver(from: number, to: number, envelope: Envelope): void {
    this.#trace.add(this.#queue.nowMs)
    this.#trace.add(from * CONSENSUS_BOUNDS.committee + to)
    this.#trace.add(crc32(envelope.bytes))
    const message = decodeEnvelope(envelope)
    if (message === undefined) {
      this.#counts.malformed++
      return
    }
    if (message.type !== 'status') this.#note(() => `${from} -> ${to} ${describeMessage(message)}`)
    this.#members.get(to)?.receive(message, from)
    // Two byzantine nodes that answer each other would never end.
    if (!this.#byzantine.has(from)) this.#byzantineNodes.get(to)?.hear(message, envelope)
  }

  #deliverProof(from: number, to: number, encoded: Uint8Array): void {
    this.#trace.add(this.#queue.nowMs)
    this.#trace.add(crc32(encoded))
    this.#members.get(to)?.receiveProof(encoded, from)
  }

  #miners(): SimMiners {
    return new SimMiners({
      queue: this.#queue,
      memberAt: node => this.#members.get(node),
      onFound: (node, { height, version, anchorNumber }) => {
        this.#foundProofs++
        this.#note(
          () => `a miner of member ${node} finds proof header ${height}, version ${version}, on block ${anchorNumber}`,
        )
      },
    })
  }

  #member(node: number): SimMember {
    const { size, seed, blockTimeMs, roundTimeoutMs, executionMs, slow } = this.#plan
    const random = createRandom(seed * 1_009 + node)
    const ledger = new Ledger({
      firstSalt: node * 1_000_000,
      blockTimeMs,
      executionMs,
      hostileMs: slow?.hostileMs ?? 0,
      random,
      proofParams: this.#proofParams,
      cycleBlocks: this.#cycleBlocks,
      onCommitted: committed => {
        const { block } = committed
        const { number } = block.header
        this.#checker.decided(node, committed)
        this.#note(() => `member ${node} commits ${short(block.hash)} at ${number}${describeProofs(block)}`)
        const [last] = block.proofHeaders.slice(-1)
        if (last !== undefined) this.#includedProof = decodeProofHeader(last)
        const { state, proofState: proof } = ledger
        this.#opened({ number: number + 1, parent: ledger.head(), state, proof, includedProof: this.#includedProof })
      },
    })
    return new SimMember({
      node,
      size,
      ledger,
      disk: new Disk(random),
      wall: createWallClock(this.#queue),
      keys: this.#keys,
      params: { ...DOMAIN, blockTimeMs, roundTimeoutMs },
      council: this.#council,
      checker: this.#checker,
      queue: this.#queue,
      isHonest: address => !this.#byzantine.has(this.#keys.addresses.indexOf(address)),
      send: (to, envelope) => this.#network.post(node, to, envelope),
      sendProof: (to, encoded) => this.#proofNetwork.post(node, to, encoded),
      reachable: members => this.#reachable(node, members),
      note: line => this.#note(line),
      onCrash: () => this.#counts.crashes++,
    })
  }

  #createByzantine(node: number, scripts: readonly Script[]): ByzantineNode {
    const { size, seed, blockTimeMs, roundTimeoutMs, slow } = this.#plan
    return new ByzantineNode({
      node,
      size,
      scripts,
      keys: this.#keys,
      domain: DOMAIN,
      council: this.#council,
      queue: this.#queue,
      random: createRandom(seed * 1_013 + node),
      blockTimeMs,
      roundTimeoutMs,
      slowMs: slow?.blockMs ?? 0,
      proofParams: this.#proofParams,
      postProof: (to, encoded) => this.#proofNetwork.post(node, to, encoded),
      post: (to, envelope) => {
        this.#counts.byzantineMessages++
        this.#network.post(node, to, envelope)
      },
      onBlock: block => this.#checker.offered(block, node),
    })
  }

  #reachable(from: number, members: readonly Hex[]): number {
    return members.filter(member => {
      const node = this.#keys.addresses.indexOf(member)
      const isUp = this.#members.get(node)?.isUp ?? true
      return node !== from && isUp && this.#network.isOpen(from, node) && this.#network.isOpen(node, from)
    }).length
  }

  /** Byzantine nodes know at once what any honest node knows. */
  #opened(height: OpenHeight): void {
    if (height.number <= this.#height) return
    this.#height = height.number - 1
    this.#pace?.decided(this.#queue.nowMs)
    for (const byzantineNode of this.#byzantineNodes.values()) byzantineNode.open(height)
  }

  #look(): void {
    const { futureRounds, pastRounds, bufferedMessages, heldBlocks } = CONSENSUS_LIMITS
    const rounds = futureRounds + pastRounds + 1
    const bound = bufferedMessages + this.#plan.size * (2 * rounds + 1) + heldBlocks
    for (const member of this.#members.values()) {
      const { held, heldBlocks: blocks } = member
      this.#maxHeld = Math.max(this.#maxHeld, held)
      if (held > bound) this.#checker.report('memory', `member ${member.node} holds ${held} messages`)
      if (blocks > heldBlocks + OTHER_BLOCKS)
        this.#checker.report('memory', `member ${member.node} holds ${blocks} blocks`)
    }
  }

  #picture(): string {
    return [...this.#members.values()].map(({ node, number, mode }) => `${node} at ${number}, ${mode}`).join('; ')
  }

  #note(line: () => string): void {
    this.#trace.note(this.#queue.nowMs, line)
  }

  #outcome(healedAtMs: number): SimulationOutcome {
    const { lost, duplicated } = this.#network.simTraffic
    return {
      seed: this.#plan.seed,
      violation: this.#checker.violation,
      heights: this.#height,
      events: this.#queue.count,
      virtualMs: Math.round(this.#queue.nowMs),
      healedMs: Math.round(this.#queue.nowMs - healedAtMs),
      maxRound: this.#checker.maxRound,
      maxHeld: this.#maxHeld,
      ...this.#counts,
      lost,
      duplicated,
      accusations: this.#checker.accusations,
      foundProofs: this.#foundProofs,
      includedProofs: this.#proofs.included,
      omissions: this.#checker.omissions,
      trace: this.#trace.hash,
      lines: this.#trace.lines,
    }
  }
}

/** Difference of the seeds of the two networks. */
const PROOF_LINKS = 0x4000_0000

const describeProofs = ({ proofHeaders }: Block): string =>
  proofHeaders.length === 0
    ? ''
    : ` with proof header ${proofHeaders.map(bytes => decodeProofHeader(bytes).height).join(' and ')}`

const DOMAIN = { chainId: 1_998_999, genesisHash: GENESIS_HASH }

/** Waits until all promises have settled: an event has run as far as it can without another event. */
const rest = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
