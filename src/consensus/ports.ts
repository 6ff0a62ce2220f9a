import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../primitives/block.ts'
import type { Certificate } from '../primitives/consensus/certificate.ts'
import type { BlockClaim, ConsensusMessage, MessageAcceptance } from '../primitives/consensus/message.ts'
import type { PeerId } from '../primitives/peer-id.ts'
import type { Committee } from './committee.ts'

/** Last committed block, as the engine needs it to open the next height. */
export interface Head {
  readonly number: number
  readonly hash: Hex
  /** Unix seconds. */
  readonly timestamp: number
  /** Certificate of the block itself; null for genesis only. */
  readonly certificate: Certificate | null
}

/** Inputs of a block besides the parent's state and the pool. */
export interface BuildRequest {
  readonly number: number
  readonly round: number
  readonly parentHash: Hex
  /** Header timestamp, unix seconds (timing/pacemaker.ts). */
  readonly timestamp: number
  /** Validator address of this node, for extraData. */
  readonly proposer: Hex
  /** For extraData; null for block 1 only. */
  readonly parentCertificate: Certificate | null
  /** Milliseconds after which no more transactions are added. */
  readonly budgetMs: number
  /** Milliseconds that one transaction may take; a longer one is stopped and left out. */
  readonly transactionMs: number
  /** Part of the gas bound of a block that transactions with code may use, from 0 to 1. */
  readonly gasShare: number
}

/** Context of a validation: proposer, parent certificate and clock are checked before. */
export interface ValidateContext {
  readonly number: number
  readonly round: number
  /** false: a block prepared in an earlier round and proposed again byte for byte; rules about lateness do not apply. */
  readonly fresh: boolean
}

/** `proven`: the block breaks a rule on every node, so the round is given up at once; otherwise the round timer decides. */
export type ProposalVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly proven: boolean; readonly reason: string }

/** Life of a block (by chain). Only `commit` changes persistent state; calls run concurrently, and end by themselves on a moved head. */
export interface ExecutionPort {
  head(): Head
  /** Builds and executes a block on the head; keeps the result by hash for `commit`. Rejects soon after `cancelled` aborts. */
  build(request: BuildRequest, cancelled?: AbortSignal): Promise<Block>
  /** Checks rules, execution and roots; keeps the result for `commit`. Ends soon after `cancelled`, unproven, unless `commit` wants it. */
  validate(block: Block, context: ValidateContext, cancelled?: AbortSignal): Promise<ProposalVerdict>
  /**
   * Resolves once the block is the head; the next height opens only then. The block survives a killed process; a power failure may lose
   * it until the next `flush`. Executes the block if its result is not kept (after a restart, or for a block from peers). A rejection
   * is fatal: the engine stops signing.
   */
  commit(block: Block, certificate: Certificate): Promise<void>
  /** Resolves once every block committed so far is on disk. */
  flush(): Promise<void>
  /** Returns a committed block with its certificate, for peers that are behind; undefined when not kept. */
  decided(number: number): Promise<DecidedBlock | undefined>
  /** Instant mode only (block time 0): read when a height opens; later requests use `engine.requestBlock()`. */
  wantsBlock(): boolean
}

export interface DecidedBlock {
  readonly block: Block
  readonly certificate: Certificate
}

/** Validators for which a neighbour speaks (itself, those that named it as their relay, all that an own relay reaches), and those it says to reach. */
export interface Speaker {
  readonly speaksFor: readonly Hex[]
  readonly reaches: readonly Hex[]
}

export interface NetworkPort {
  broadcast(message: ConsensusMessage): void
  send(peer: PeerId, message: ConsensusMessage): void
  /** `validateClaim` is called before a block's body is decoded, which is read only on `accept`; a network may ignore it. */
  onMessage(
    listener: (message: ConsensusMessage, from: PeerId) => MessageAcceptance,
    validateClaim?: (claim: BlockClaim, from: PeerId) => MessageAcceptance,
  ): () => void
  /** Number of these validators that are reachable, without this node (docs/design/consensus.md#lone-and-small-committees); default: all. */
  reachable?(members: readonly Hex[]): number
  /** Returns undefined for a peer that is no neighbour; without this method nodes sign from their start on. */
  speaker?(peer: PeerId): Speaker | undefined
  /** Validators among these that are not reachable, without this node, for reports. */
  unreachable?(members: readonly Hex[]): readonly Hex[]
  /** Reports a peer whose message is provably its own fault: unsigned, or different from its claim. */
  misbehaved?(peer: PeerId): void
}

/** Network without peers, for a committee of one. */
export const nullNetwork: NetworkPort = {
  broadcast: () => {},
  send: () => {},
  onMessage: () => () => {},
}

/** Committee of a height, fixed for its cycle and independent of the round (docs/design/council.md#committee). */
export interface CommitteePort {
  /** Returns undefined when not known yet (beyond the cycle after next). */
  committee(number: number): Committee | undefined
}
