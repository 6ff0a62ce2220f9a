import { crc32 } from 'node:zlib'
import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { CONSENSUS_LIMITS } from '../../src/config/limits/consensus.ts'
import type { ChainParams } from '../../src/config/networks.ts'
import { CONSENSUS_BOUNDS } from '../../src/config/protocol-bounds.ts'
import type { CommitteePort, Speaker } from '../../src/consensus/ports.ts'
import type { Block } from '../../src/primitives/block.ts'
import { decodeProofHeader, type ProofHeader } from '../../src/primitives/proof-header.ts'
import { firstProofState } from '../../src/rules/proof/proof-header.ts'
import { ByzantineNode, type OpenHeight, type Script } from './byzantine/byzantine-node.ts'
import { SCRIPTS } from './byzantine/scripts.ts'
import { falseBlocks, falseHead } from './byzantine/serving.ts'
import { InvariantChecker } from './check/invariants.ts'
import { Pace } from './check/pace.ts'
import { ProofAudit } from './check/proof-audit.ts'
import { type Keys, realKeys, stubKeys } from './keys.ts'
import { createWallClock } from './member/clock.ts'
import { Disk } from './member/disk.ts'
import { GENESIS_HASH, GENESIS_HEAD, Ledger } from './member/ledger.ts'
import { SimMember } from './member/sim-member.ts'
import { encodeBlocks, type SyncMessage, sealedRange } from './member/sim-sync.ts'
import { decodeEnvelope, describeMessage, type Envelope, short } from './network/envelope.ts'
import { EventQueue } from './network/event-queue.ts'
import { SimNetwork } from './network/sim-network.ts'
import { Topology } from './network/topology.ts'
import type { Plan } from './plan/plan.ts'
import { SimMiners } from './proof/sim-miners.ts'
import { simProofParams } from './proof/sim-work.ts'
import { createCouncil } from './sim-council.ts'
import { Trace } from './trace.ts'

/** Blocks a member may hold besides those proposed to it: prepared, built, requested and just received ones. */
const OTHER_BLOCKS = 4
/** Cycle of a committee that does not change. */
const CYCLE_BLOCKS = 2

/** The whole committee of a plan: honest members, byzantine nodes, the networks between them, and the checkers that see all of it. */
export class SimCluster {
  readonly queue = new EventQueue()
  readonly trace: Trace
  readonly checker: InvariantChecker
  readonly network: SimNetwork<Envelope>
  readonly topology: Topology
  /** Gossip of proof headers; of its own, so that it changes no delay of other messages. */
  readonly proofNetwork: SimNetwork<Uint8Array>
  /** Heads, requests for blocks and responses. */
  readonly syncNetwork: SimNetwork<SyncMessage>
  readonly proofs: ProofAudit
  readonly members = new Map<number, SimMember>()
  readonly pace: Pace | null
  readonly counts = {
    crashes: 0,
    partitions: 0,
    pauses: 0,
    clockJumps: 0,
    heightsLeft: 0,
    forgeries: 0,
    malformed: 0,
    byzantineMessages: 0,
  }
  /** Members that hear only Byzantine nodes. */
  readonly eclipsed = new Set<number>()
  /** Members that get no block that they ask for. */
  readonly unanswered = new Set<number>()
  /** Highest block that an honest member has. */
  height = 0
  foundProofs = 0
  maxHeld = 0
  readonly #plan: Plan
  readonly #keys: Keys
  readonly #byzantine: ReadonlySet<number>
  readonly #council: CommitteePort
  readonly #proofParams: ChainParams
  readonly #byzantineNodes = new Map<number, ByzantineNode>()
  #includedProof: ProofHeader | undefined

  constructor(plan: Plan, lines: number) {
    const { seed, size, relays, linkConditions, byzantine, council, realKeys: isReal, blockTimeMs } = plan
    this.#plan = plan
    this.pace = plan.profile === 'slow' ? new Pace(plan) : null
    this.trace = new Trace(lines)
    this.#keys = isReal ? realKeys(size) : stubKeys(size)
    this.#byzantine = new Set(byzantine.map(({ node }) => node))
    const { addresses, recover } = this.#keys
    this.#council = createCouncil({ seed, addresses, byzantine: this.#byzantine, plan: council })
    this.#proofParams = simProofParams(plan.mining?.forkHeight ?? null)
    const params = this.#proofParams
    this.proofs = new ProofAudit({ params, genesisHash: GENESIS_HASH, cycleBlocks: this.#cycleBlocks })
    this.checker = new InvariantChecker({
      council: this.#council,
      addresses,
      byzantine: this.#byzantine,
      domain: DOMAIN,
      recover,
      blockTimeMs,
      proofs: this.proofs,
    })
    const deliver = (from: number, to: number, envelope: Envelope) => this.#deliver(from, to, envelope)
    const links = { size: size + relays, linkConditions, queue: this.queue }
    this.network = new SimNetwork({ ...links, seed, deliver })
    const deliverProof = (from: number, to: number, encoded: Uint8Array) => this.#deliverProof(from, to, encoded)
    this.proofNetwork = new SimNetwork({ ...links, seed: seed + PROOF_LINKS, deliver: deliverProof })
    const deliverSync = (from: number, to: number, message: SyncMessage) => this.#deliverSync(from, to, message)
    this.syncNetwork = new SimNetwork({ ...links, seed: seed + SYNC_LINKS, deliver: deliverSync })
    const isConnected = (one: number, other: number) => this.#isConnected(one, other)
    this.topology = new Topology({ size, relays, addresses, isConnected })
    for (let node = 0; node < size + relays; node++)
      if (!this.#byzantine.has(node)) this.members.set(node, this.#member(node))
    for (const { node, scripts } of byzantine)
      this.#byzantineNodes.set(
        node,
        this.#createByzantine(
          node,
          scripts.map(name => SCRIPTS[name]),
        ),
      )
  }

  /** Starts all members, and their miners. */
  async start(): Promise<void> {
    for (const member of this.members.values()) member.start()
    await settled()
    const proof = firstProofState(this.#proofParams)
    this.#opened({ number: 1, parent: GENESIS_HEAD, state: ZERO_HASH, proof, includedProof: undefined })
    if (this.#plan.mining !== null) this.#miners().plan(this.#plan.mining.finds)
  }

  /** Length of a cycle. */
  get #cycleBlocks(): number {
    return this.#plan.council?.cycleBlocks ?? CYCLE_BLOCKS
  }

  #deliver(from: number, to: number, envelope: Envelope): void {
    this.trace.add(this.queue.nowMs)
    this.trace.add(from * CONSENSUS_BOUNDS.committee + to)
    this.trace.add(crc32(envelope.bytes))
    const message = decodeEnvelope(envelope)
    if (message === undefined) {
      this.counts.malformed++
      return
    }
    if (message.type !== 'status') this.note(() => `${from} -> ${to} ${describeMessage(message)}`)
    this.members.get(to)?.receive(message, from)
    // Two byzantine nodes that answer each other would never end.
    if (!this.#byzantine.has(from)) this.#byzantineNodes.get(to)?.hear(message, envelope, from)
  }

  #deliverProof(from: number, to: number, encoded: Uint8Array): void {
    this.trace.add(this.queue.nowMs)
    this.trace.add(crc32(encoded))
    this.members.get(to)?.receiveProof(encoded, from)
  }

  #deliverSync(from: number, to: number, message: SyncMessage): void {
    this.trace.add(this.queue.nowMs)
    const byzantineNode = this.#byzantineNodes.get(to)
    if (byzantineNode === undefined) this.members.get(to)?.receiveSync(message, from)
    else if (message.type === 'head')
      this.syncNetwork.post(to, from, {
        type: 'head',
        number: falseHead(byzantineNode, from, message.number, this.height),
      })
    else if (message.type === 'getBlocks') {
      const sealed = falseBlocks(byzantineNode, from, sealedRange(this.#longest, message.range))
      if (sealed !== undefined)
        this.syncNetwork.post(to, from, { type: 'blocks', id: message.id, bytes: encodeBlocks(sealed) })
    }
  }

  /** Chain of a member that has all blocks. */
  get #longest(): Pick<Ledger, 'blocks'> {
    return [...this.members.values()].reduce((a, b) => (b.number > a.number ? b : a)).ledger
  }

  #miners(): SimMiners {
    return new SimMiners({
      queue: this.queue,
      memberAt: node => this.members.get(node),
      onFound: (node, { height, version, anchorNumber }) => {
        this.foundProofs++
        this.note(
          () => `a miner of member ${node} finds proof header ${height}, version ${version}, on block ${anchorNumber}`,
        )
      },
    })
  }

  #member(node: number): SimMember {
    const { seed, blockTimeMs, roundTimeoutMs, executionMs, slow, heldBlocks, blockSync } = this.#plan
    const { topology } = this
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
        this.checker.decided(node, committed)
        this.members.get(node)?.committed()
        this.note(() => `member ${node} commits ${short(block.hash)} at ${number}${describeProofs(block)}`)
        const [last] = block.proofHeaders.slice(-1)
        if (last !== undefined) this.#includedProof = decodeProofHeader(last)
        const { state, proofState: proof } = ledger
        this.#opened({ number: number + 1, parent: ledger.head(), state, proof, includedProof: this.#includedProof })
      },
    })
    return new SimMember({
      node,
      neighbours: topology.neighbours(node),
      ledger,
      disk: new Disk(random),
      wall: createWallClock(this.queue),
      keys: this.#keys,
      params: { ...DOMAIN, blockTimeMs, roundTimeoutMs },
      council: this.#council,
      heldBlocks,
      checker: this.checker,
      queue: this.queue,
      isHonest: address => !this.#byzantine.has(this.#keys.addresses.indexOf(address)),
      send: (to, envelope) => this.network.post(node, to, envelope),
      isAnswered: to => !this.unanswered.has(to),
      blockSync: blockSync
        ? {
            post: (to, message) => this.syncNetwork.post(node, to, message),
            counts: this.counts,
            random: createRandom(seed * 1_109 + node),
          }
        : null,
      sendProof: (to, encoded) => this.proofNetwork.post(node, to, encoded),
      reachable: members => {
        const reached = this.#reached(node)
        return members.filter(member => reached.includes(member)).length
      },
      speaker: other => this.#speaker(node, other),
      targets: (author, from) => (topology.isRelay(node) ? topology.targets(node, author, from) : []),
      note: line => this.note(line),
      onCrash: () => this.counts.crashes++,
    })
  }

  #createByzantine(node: number, scripts: readonly Script[]): ByzantineNode {
    const { size, seed, blockTimeMs, roundTimeoutMs, slow } = this.#plan
    return new ByzantineNode({
      node,
      size,
      allies: [...this.#byzantine],
      isEclipsed: other => this.eclipsed.has(other),
      scripts,
      keys: this.#keys,
      domain: DOMAIN,
      council: this.#council,
      queue: this.queue,
      random: createRandom(seed * 1_013 + node),
      blockTimeMs,
      roundTimeoutMs,
      slowMs: slow?.blockMs ?? 0,
      proofParams: this.#proofParams,
      postProof: (to, encoded) => this.proofNetwork.post(node, to, encoded),
      post: (to, envelope) => {
        this.counts.byzantineMessages++
        const near = this.topology.neighbours(node)
        for (const next of near.includes(to) ? [to] : near) this.network.post(node, next, envelope)
      },
      onBlock: block => this.checker.offered(block, node),
    })
  }

  #isConnected(one: number, other: number): boolean {
    const isUp = this.members.get(other)?.isUp ?? true
    return isUp && this.network.isOpen(one, other) && this.network.isOpen(other, one)
  }

  /** Returns the members that a node reaches, or says to reach: Byzantine ones, and so those that they eclipse, say all. */
  #reached(node: number): readonly Hex[] {
    const { addresses } = this.#keys
    const isTold = this.eclipsed.has(node) || this.#byzantine.has(node)
    return isTold ? addresses.filter(address => address !== addresses[node]) : this.topology.reached(node)
  }

  #speaker(node: number, neighbour: number): Speaker {
    if (this.#plan.relays > 0) return this.topology.speaker(node, neighbour)
    return { speaksFor: [this.#keys.addresses[neighbour] as Hex], reaches: this.#reached(neighbour) }
  }

  get networks(): readonly Pick<SimNetwork<unknown>, 'partition' | 'separate' | 'heal'>[] {
    return [this.network, this.proofNetwork, this.syncNetwork]
  }

  /** Cuts a member off from all honest ones; returns the function that ends it. */
  eclipse(node: number): () => void {
    const honest = [...this.members.keys()].filter(other => other !== node)
    const ends = this.networks.map(network => network.separate(node, honest))
    this.eclipsed.add(node)
    return () => {
      this.eclipsed.delete(node)
      for (const end of ends) end()
    }
  }

  /** Byzantine nodes know at once what any honest node knows. */
  #opened(height: OpenHeight): void {
    if (height.number <= this.height) return
    this.height = height.number - 1
    this.pace?.decided(this.queue.nowMs)
    for (const byzantineNode of this.#byzantineNodes.values()) byzantineNode.open(height)
  }

  /** Reports members that hold more than their bounds permit. */
  inspect(): void {
    const { futureRounds, pastRounds, bufferedMessages } = CONSENSUS_LIMITS
    const { heldBlocks } = this.#plan
    const rounds = futureRounds + pastRounds + 1
    const bound = bufferedMessages + this.#plan.size * (2 * rounds + 1) + heldBlocks
    for (const member of this.members.values()) {
      const { held, heldBlocks: blocks } = member.holdings
      this.maxHeld = Math.max(this.maxHeld, held)
      if (held > bound) this.checker.report('memory', `member ${member.node} holds ${held} messages`)
      if (blocks > heldBlocks + OTHER_BLOCKS)
        this.checker.report('memory', `member ${member.node} holds ${blocks} blocks`)
    }
  }

  /** Returns where every member is. */
  describe(): string {
    return [...this.members.values()].map(({ node, number, mode }) => `${node} at ${number}, ${mode}`).join('; ')
  }

  /** Adds a line to the trace, when lines are kept. */
  note(line: () => string): void {
    this.trace.note(this.queue.nowMs, line)
  }
}

/** Differences of the seeds of the other networks. */
const PROOF_LINKS = 0x4000_0000
const SYNC_LINKS = 0x2000_0000

const describeProofs = ({ proofHeaders }: Block): string =>
  proofHeaders.length === 0
    ? ''
    : ` with proof header ${proofHeaders.map(bytes => decodeProofHeader(bytes).height).join(' and ')}`

const DOMAIN = { chainId: 1_998_999, genesisHash: GENESIS_HASH }

/**
 * Waits until all promises have settled: an event has run as far as it can without another event. A tick asked for by a microtask runs when
 * no microtask is left, and unlike an immediate costs no turn of the event loop.
 */
export const settled = (): Promise<void> => new Promise(resolve => queueMicrotask(() => process.nextTick(resolve)))
