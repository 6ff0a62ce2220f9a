import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { ChainParams } from '../../../src/config/networks.ts'
import type { Committee } from '../../../src/consensus/committee.ts'
import type { UnsignedMessage } from '../../../src/consensus/core/types.ts'
import type { CommitteePort, Head } from '../../../src/consensus/ports.ts'
import { messageDigest } from '../../../src/consensus/wal/sign-message.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import type { ConsensusMessage, SignedMessage, StatusMessage } from '../../../src/primitives/consensus/message.ts'
import type { Proposal } from '../../../src/primitives/consensus/proposal.ts'
import type { Commit, Prepare, RoundChange, SigningDomain } from '../../../src/primitives/consensus/vote.ts'
import { encodeProofHeader, type ProofHeader, proofHeaderId } from '../../../src/primitives/proof-header.ts'
import { proposerIndex } from '../../../src/rules/council/proposer-turns.ts'
import { quorumOf } from '../../../src/rules/council/quorum.ts'
import { minTimestampStepSeconds } from '../../../src/rules/header.ts'
import type { ProofState } from '../../../src/rules/proof/proof-header.ts'
import type { Keys } from '../keys.ts'
import { START_MS } from '../member/clock.ts'
import { makeBlock } from '../member/ledger.ts'
import { type Envelope, encodeEnvelope } from '../network/envelope.ts'
import type { EventQueue } from '../network/event-queue.ts'

/** Height that an honest node opened. */
export interface OpenHeight {
  readonly number: number
  readonly parent: Head
  readonly state: Hex
  /** State of the proof chain after the parent. */
  readonly proof: ProofState
  /** Newest final proof header. */
  readonly includedProof: ProofHeader | undefined
}

/** Byzantine behaviour: reactions to received messages. */
export interface Script {
  onHeight?(byzantineNode: ByzantineNode, height: OpenHeight): void
  onProposal?(byzantineNode: ByzantineNode, proposal: Proposal): void
  onPrepare?(byzantineNode: ByzantineNode, prepare: Prepare): void
  onRoundChange?(byzantineNode: ByzantineNode, change: RoundChange): void
  onStatus?(byzantineNode: ByzantineNode, statusMessage: StatusMessage, from: number): void
  /** True: keeps every message of every height. */
  readonly archives?: boolean
}

interface ByzantineNodeOptions {
  readonly node: number
  readonly size: number
  /** All Byzantine nodes: they share their keys. */
  readonly allies: readonly number[]
  /** True for a member that hears only Byzantine nodes. */
  readonly isEclipsed: (node: number) => boolean
  readonly scripts: readonly Script[]
  readonly keys: Keys
  readonly domain: SigningDomain
  readonly council: CommitteePort
  readonly queue: EventQueue
  readonly random: Random
  readonly blockTimeMs: number
  readonly roundTimeoutMs: number
  /** Execution time of its slow blocks. */
  readonly slowMs: number
  readonly proofParams: ChainParams
  readonly post: (to: number, envelope: Envelope) => void
  readonly postProof: (to: number, encoded: Uint8Array) => void
  readonly onBlock: (block: Block) => void
}

interface BlockOptions {
  readonly isValid?: boolean
  /** Duration of its execution. */
  readonly workMs?: number
  /** Seconds by which its timestamp is in the future. */
  readonly aheadSeconds?: number
  /** Certificate of its parent, where it is not the real one. */
  readonly certificate?: Certificate | null
  /** Proposer in its header, where that is not this node. */
  readonly proposer?: Hex
  readonly parentHash?: Hex
  readonly proofHeaders?: readonly ProofHeader[]
  /** Payee and proof tip, where they are not the right ones. */
  readonly miner?: Hex
  readonly proofTip?: Hex
}

/** Heights whose messages are remembered. */
const MEMORY_HEIGHTS = 4
/** Frames kept for replay. */
const MEMORY_FRAMES = 200

interface Memory {
  readonly blocks: Map<Hex, Block>
  readonly changes: Map<number, Map<number, RoundChange>>
  /** Votes by round and block. */
  readonly prepares: Map<string, Map<number, Prepare>>
  readonly commits: Map<string, Map<number, Commit>>
}

/** Byzantine node: holds a key, receives all messages, remembers them, and acts by its scripts. */
export class ByzantineNode {
  readonly options: ByzantineNodeOptions
  readonly random: Random
  readonly #scripts: readonly Script[]
  readonly #heights = new Map<number, Memory>()
  readonly #opened = new Map<number, OpenHeight>()
  readonly #done = new Set<string>()
  readonly frames: Envelope[] = []
  readonly #archive = new Map<number, SignedMessage[]>()
  #salt = 0

  constructor(options: ByzantineNodeOptions) {
    this.options = options
    this.random = options.random
    this.#scripts = options.scripts
  }

  /** Called when a height opens; handled once per height. */
  open(height: OpenHeight): void {
    if (this.#opened.has(height.number)) return
    this.#opened.set(height.number, height)
    for (const old of this.#heights.keys()) if (old < height.number - MEMORY_HEIGHTS) this.#heights.delete(old)
    for (const script of this.#scripts) script.onHeight?.(this, height)
  }

  /** Returns the archived messages of a height, in the order in which they came. */
  archivedAt(number: number): readonly SignedMessage[] {
    return this.#archive.get(number) ?? []
  }

  hear(message: ConsensusMessage, envelope: Envelope, from: number): void {
    this.#remember(message, envelope)
    for (const script of this.#scripts) {
      if (message.type === 'status') script.onStatus?.(this, message, from)
      else if (message.type === 'proposal') script.onProposal?.(this, message)
      else if (message.type === 'prepare') script.onPrepare?.(this, message)
      else if (message.type === 'roundChange') script.onRoundChange?.(this, message)
    }
  }

  /** Its clock is exact. */
  get nowMs(): number {
    return START_MS + this.options.queue.nowMs
  }

  heightAt(number: number): OpenHeight | undefined {
    return this.#opened.get(number)
  }

  committee(number: number): Committee {
    return this.options.council.committee(number) ?? { members: [] }
  }

  quorum(number: number): number {
    return quorumOf(this.committee(number).members.length)
  }

  indexAt(number: number): number {
    return this.committee(number).members.indexOf(this.options.keys.addresses[this.options.node] as Hex)
  }

  isProposer(number: number, round: number): boolean {
    const index = this.indexAt(number)
    return index >= 0 && proposerIndex(this.committee(number), number, round) === index
  }

  get others(): readonly number[] {
    return Array.from({ length: this.options.size }, (_, node) => node).filter(node => node !== this.options.node)
  }

  blocksAt(number: number): readonly Block[] {
    return [...this.#memoryOf(number).blocks.values()]
  }

  changesTo(number: number, round: number): readonly RoundChange[] {
    return [...(this.#memoryOf(number).changes.get(round)?.values() ?? [])]
  }

  /** Returns a quorum of prepares of a round below `round`, if there is one. */
  preparedBelow(number: number, round: number): readonly Prepare[] | undefined {
    return [...this.#memoryOf(number).prepares.values()]
      .map(votes => [...votes.values()])
      .find(votes => votes.length >= this.quorum(number) && (votes[0] as Prepare).round < round)
  }

  /** Returns all prepares received at a height. */
  preparesAt(number: number): readonly Prepare[] {
    return [...this.#memoryOf(number).prepares.values()].flatMap(votes => [...votes.values()])
  }

  /** Returns all commits received at a height. */
  commitsAt(number: number): readonly Commit[] {
    return [...this.#memoryOf(number).commits.values()].flatMap(votes => [...votes.values()])
  }

  makeBlock({ number, parent, state, proof }: OpenHeight, how: BlockOptions = {}): Block {
    const { keys, node, blockTimeMs } = this.options
    const { isValid = true, aheadSeconds = 0, certificate = parent.certificate, parentHash = parent.hash } = how
    const proposer = how.proposer ?? (keys.addresses[node] as Hex)
    const nowSeconds = Math.floor(this.nowMs / 1000)
    const timestamp = Math.max(parent.timestamp + minTimestampStepSeconds(blockTimeMs), nowSeconds + aheadSeconds)
    const salt = node * 1_000_000 + 900_000 + this.#salt++
    const place = { number, parentHash, timestamp }
    const { proofHeaders = [], miner = proof.coinbase } = how
    const last = proofHeaders.at(-1)
    const block = makeBlock(place, proposer, certificate, {
      salt,
      before: state,
      isValid,
      workMs: how.workMs ?? 0,
      miner,
      proofTip: how.proofTip ?? (last === undefined ? proof.tipId : proofHeaderId(last)),
      proofHeaders: proofHeaders.map(encodeProofHeader),
    })
    this.options.onBlock(block)
    this.#memoryOf(number).blocks.set(block.hash, block)
    return block
  }

  /** Signs any message, even for another chain; a node that is not a member at that height sends nothing. */
  say(to: readonly number[], message: UnsignedMessage, domain = this.options.domain): SignedMessage | undefined {
    const sender = this.indexAt(message.number)
    if (sender < 0) return undefined
    const signed: SignedMessage = { ...message, sender, signature: this.sign(message, domain) }
    this.#keep(signed)
    this.post(to, encodeEnvelope(signed))
    return signed
  }

  /** Returns this node's signature over a message, which may name any sender. */
  sign(message: UnsignedMessage, domain = this.options.domain): Uint8Array {
    return this.options.keys.signers[this.options.node]?.sign(messageDigest(domain, message)) as Uint8Array
  }

  postMessage(to: readonly number[], message: SignedMessage): void {
    this.post(to, encodeEnvelope(message))
  }

  post(to: readonly number[], envelope: Envelope): void {
    for (const node of to) this.options.post(node, envelope)
  }

  later(delayMs: number, run: () => void): void {
    this.options.queue.at(this.options.queue.nowMs + delayMs, run)
  }

  /** Returns true the first time. */
  once(what: string): boolean {
    if (this.#done.has(what)) return false
    this.#done.add(what)
    return true
  }

  #remember(message: ConsensusMessage, envelope: Envelope): void {
    // Status messages are unsigned and frequent.
    if (message.type === 'status' && !this.random.chance(0.1)) return
    if (this.frames.length < MEMORY_FRAMES) this.frames.push(envelope)
    else this.frames[this.random.below(MEMORY_FRAMES)] = envelope
    if (message.type === 'status') return
    if ('sender' in message && this.#scripts.some(({ archives }) => archives))
      this.#archive.set(message.number, [...this.archivedAt(message.number), message])
    if ('sender' in message) this.#keep(message)
    else this.#memoryOf(message.block.header.number).blocks.set(message.block.hash, message.block)
  }

  #keep(message: SignedMessage): void {
    const memory = this.#memoryOf(message.number)
    switch (message.type) {
      case 'proposal':
        memory.blocks.set(message.block.hash, message.block)
        return
      case 'prepare':
        keepBy(memory.prepares, `${message.round} ${message.blockHash}`, message)
        return
      case 'commit':
        keepBy(memory.commits, `${message.round} ${message.blockHash}`, message)
        return
      case 'roundChange':
        keepBy(memory.changes, message.round, message)
        return
    }
  }

  #memoryOf(number: number): Memory {
    let memory = this.#heights.get(number)
    if (memory === undefined) {
      memory = { blocks: new Map(), changes: new Map(), prepares: new Map(), commits: new Map() }
      this.#heights.set(number, memory)
    }
    return memory
  }
}

const keepBy = <Key, Message extends { readonly sender: number }>(
  where: Map<Key, Map<number, Message>>,
  key: Key,
  message: Message,
): void => {
  const kept = where.get(key) ?? new Map<number, Message>()
  where.set(key, kept.set(message.sender, message))
}
