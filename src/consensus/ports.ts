import type { Block } from '../primitives/block.ts'
import type { BlockClaim } from '../primitives/block-claim.ts'
import type { Certificate } from '../primitives/consensus/certificate.ts'
import type { ConsensusMessage } from '../primitives/consensus/message.ts'
import type { PeerId } from '../primitives/peer-id.ts'
import type { Hex } from '../util/bytes.ts'
import type { Committee } from './committee.ts'
import type { Evidence } from './evidence/evidence.ts'

/** The last committed block, as the engine needs it to open the next height. */
export interface Head {
  readonly number: number
  readonly hash: Hex
  /** Unix seconds. */
  readonly timestamp: number
  /** The block's own certificate; null for genesis only. */
  readonly certificate: Certificate | null
}

/** Everything a block depends on besides the parent's state and the pool. */
export interface BuildRequest {
  readonly number: number
  readonly round: number
  readonly parentHash: Hex
  /** Header timestamp, unix seconds (timing/block-time.ts). */
  readonly timestamp: number
  /** Goes into extraData: this node's validator address. */
  readonly proposer: Hex
  /** Goes into extraData; null for block 1 only. */
  readonly parentCertificate: Certificate | null
  /** Milliseconds after which no more transactions are taken. */
  readonly budgetMs: number
  /** The longest that one transaction may take; one that takes longer is stopped and left out. */
  readonly transactionMs: number
}

/** What the engine knows of a block before it asks for a verdict: proposer, parent certificate and clock are checked already. */
export interface ValidateContext {
  readonly number: number
  readonly round: number
  /** false: a block prepared in an earlier round, proposed again byte for byte; no rule about lateness applies. */
  readonly fresh: boolean
}

/** `proven`: the block breaks a rule on every node, so the round is given up at once; otherwise the round timer decides. */
export type ProposalVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly proven: boolean; readonly reason: string }

/**
 * The life of a block (chain): building, judging and committing. Nothing here touches persistent state but `commit`. None of them waits
 * for another: several go on side by side, and those on a head that has moved end by themselves.
 */
export interface ExecutionPort {
  head(): Head
  /** Builds and executes a block on the head; keeps the result by hash for `commit`. Rejects soon once `cancelled` aborts. */
  build(request: BuildRequest, cancelled?: AbortSignal): Promise<Block>
  /**
   * Header rules, transactions, full execution and comparison of the roots; keeps the result by hash for `commit`. Answers soon once
   * `cancelled` aborts, with a verdict that proves nothing; unless `commit` has asked for the block meanwhile.
   */
  validate(block: Block, context: ValidateContext, cancelled?: AbortSignal): Promise<ProposalVerdict>
  /**
   * Resolves once the block is the head; the next height opens only then. A process that is killed does not lose it, a machine without
   * power may, until the next `flush`. Executes the block if its result is not kept (after a restart, or a block learnt from peers).
   * A rejection is fatal: the engine stops signing.
   */
  commit(block: Block, certificate: Certificate): Promise<void>
  /** Resolves once every block committed so far is on disk. */
  flush(): Promise<void>
  /** A committed block with its certificate, for peers that are behind; undefined when not kept. */
  decided(number: number): Promise<DecidedBlock | undefined>
  /** Instant mode only (block time 0): read when a height opens; later requests come by `engine.requestBlock()`. */
  wantsBlock(): boolean
}

export interface DecidedBlock {
  readonly block: Block
  readonly certificate: Certificate
}

export interface NetworkPort {
  broadcast(message: ConsensusMessage): void
  send(peer: PeerId, message: ConsensusMessage): void
  /**
   * `judgeClaim` is asked before the body of a block is decoded: only a claim that is `accept` has its body read. A network that decodes nothing
   * may leave it out.
   */
  onMessage(
    listener: (message: ConsensusMessage, from: PeerId) => void,
    judgeClaim?: (claim: BlockClaim, from: PeerId) => 'accept' | 'reject' | 'ignore',
  ): () => void
  /** How many of these validators, this one left out, can be reached at all (docs/design/consensus.md#lone-and-small-committees); where nobody knows: all. */
  reachable?(members: readonly Hex[]): number
  /** What this neighbour sent can only be a lie or a fault of its own: nobody signed it, or it is not what it claims to be. */
  misbehaved?(peer: PeerId): void
}

/** No neighbours: a committee of one. */
export const nullNetwork: NetworkPort = {
  broadcast: () => {},
  send: () => {},
  onMessage: () => () => {},
}

/** Where proofs against validators go until a block holds them. */
export interface EvidencePort {
  report(evidence: Evidence): void
}

/** The same for whoever passes evidence on. */
export interface EvidenceStore extends EvidencePort {
  /** Whether evidence against this member could stand in a block to come, and none is held. Looks at no signature. */
  isOfUse(evidence: Evidence): boolean
  /** Keeps what was checked; false: it is of no use. */
  report(evidence: Evidence): boolean
  /** Encoded, what no block holds yet. */
  held(): readonly Uint8Array[]
}

/** Evidence among neighbours: encoded, at most LIMITS.consensus.evidenceBytes each. */
export interface EvidenceNetworkPort {
  broadcast(encoded: Uint8Array): void
  onEvidence(listener: (encoded: Uint8Array, from: PeerId) => void): () => void
  misbehaved?(peer: PeerId): void
}

/** The committee of a height, fixed for its cycle and free of the round (docs/design/council.md#committee). */
export interface CommitteePort {
  /** undefined: not known yet (beyond the cycle after next). */
  committee(number: number): Committee | undefined
}
