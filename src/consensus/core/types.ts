import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { ConsensusMessage, SignedMessage } from '../../primitives/consensus/message.ts'
import type { Justification, Proposal } from '../../primitives/consensus/proposal.ts'
import type { Commit, Prepare, RoundChange, Vote } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'
import type { ProposalVerdict } from '../ports.ts'
import type { FutureBuffer } from './future-buffer.ts'
import type { VoteSet } from './vote-set.ts'

/** What does not change while the node runs. Milliseconds and counts. */
export interface CoreConfig {
  readonly baseTimeoutMs: number
  readonly timeoutCapMs: number
  readonly maxTimeoutExponent: number
  readonly retransmitMs: number
  readonly futureHeights: number
  readonly futureRounds: number
  readonly pastRounds: number
  readonly bufferedMessages: number
  readonly heldBlocks: number
  /** Proposer named in a block's extraData; undefined when it cannot be read. */
  readonly proposerOf: (block: Block) => Hex | undefined
}

/** One height: its committee in cycle order, and this node's index in it (-1: not a member, or not allowed to sign). */
export interface HeightConfig {
  readonly number: number
  readonly parentHash: Hex
  readonly members: readonly Hex[]
  readonly index: number
  /** Wall time from which round 0 may propose; null waits for a request (instant mode). */
  readonly earliestMs: number | null
}

/** A quorum of prepares for a block: the only lock there is. */
export interface PreparedCertificate {
  readonly round: number
  readonly blockHash: Hex
  readonly prepares: readonly Prepare[]
}

/** Highest round this node was asked to sign each kind for; -1 none. Each only grows, so nothing is asked for twice. */
export interface AskedRounds {
  proposal: number
  prepare: number
  commit: number
  roundChange: number
}

export interface OwnMessages {
  proposal: Proposal | null
  prepare: Prepare | null
  commit: Commit | null
  roundChange: RoundChange | null
}

/** Everything known of the open height. Changed in place by one step at a time. */
export interface HeightState {
  readonly config: HeightConfig
  readonly quorum: number
  readonly faults: number
  round: number
  /** The block timer fired (or a block was requested): round timers run. */
  opened: boolean
  /** First justified proposal of each round. */
  readonly proposals: Map<number, Proposal>
  readonly blocks: Map<Hex, Block>
  /** Hashes whose bodies are in the log. */
  readonly logged: Set<Hex>
  readonly verdicts: Map<Hex, 'pending' | 'valid' | 'invalid'>
  /** Hash of the proposal this node found valid, by round. */
  readonly accepted: Map<number, Hex>
  readonly prepares: VoteSet<Prepare>
  readonly commits: VoteSet<Commit>
  /** Highest round change of each sender. */
  readonly roundChanges: Map<number, RoundChange>
  prepared: PreparedCertificate | null
  readonly asked: AskedRounds
  readonly own: OwnMessages
  /** Frozen when a block was asked for, so that later round changes do not alter what its proposal stands on. */
  building: { readonly round: number; readonly justification: Justification; readonly failed: boolean } | null
  wanted: Hex | null
  decided: { readonly block: Block; readonly certificate: Certificate } | null
  /** Neighbour that gave the whole decision: it is ahead, and asked again at once. */
  learntFrom: string | null
}

export interface CoreState {
  readonly config: CoreConfig
  height: HeightState | null
  readonly future: FutureBuffer
}

/** One step's view of the open height, and where its effects go. */
export interface StepContext {
  readonly config: CoreConfig
  readonly height: HeightState
  readonly future: FutureBuffer
  readonly nowMs: number
  readonly out: Effect[]
}

/** A message of our own before it is signed. */
export type UnsignedMessage =
  | ({
      readonly type: 'proposal'
      readonly number: number
      readonly round: number
      readonly block: Block
    } & Justification)
  | {
      readonly type: 'prepare' | 'commit'
      readonly number: number
      readonly round: number
      readonly blockHash: Hex
    }
  | {
      readonly type: 'roundChange'
      readonly number: number
      readonly round: number
      readonly prepared: RoundChange['prepared']
      readonly prepares: readonly Prepare[]
    }

export type TimerName = 'propose' | 'round' | 'retransmit'

/** What a restarted node must remember (docs/design/consensus.md#write-ahead-log). A proposal's body stands in a `block` record before it. */
export type WalRecord =
  | { readonly type: 'block'; readonly block: Block }
  | { readonly type: 'round'; readonly number: number; readonly round: number }
  | { readonly type: 'proposal'; readonly proposal: Proposal }
  | { readonly type: 'signed'; readonly vote: Vote }
  | { readonly type: 'prepared'; readonly number: number; readonly certificate: PreparedCertificate }
  | { readonly type: 'decided'; readonly block: Block; readonly certificate: Certificate }
  | { readonly type: 'end'; readonly number: number; readonly blockHash: Hex }

/** Messages must be verified before they come in: the sender's signature, and those of all attachments. */
export type Input =
  | {
      readonly type: 'newHeight'
      readonly config: HeightConfig
      /** Records of this very height, oldest first. */
      readonly records: readonly WalRecord[]
      readonly nowMs: number
    }
  /** The height is left as it stands, to be opened again from its records or to be over: others decided it long ago. */
  | { readonly type: 'leave'; readonly nowMs: number }
  | { readonly type: 'request'; readonly nowMs: number }
  | { readonly type: 'message'; readonly message: ConsensusMessage; readonly from: string; readonly nowMs: number }
  | { readonly type: 'signed'; readonly message: SignedMessage; readonly nowMs: number }
  | {
      readonly type: 'built'
      readonly number: number
      readonly round: number
      readonly block: Block
      readonly nowMs: number
    }
  | { readonly type: 'buildFailed'; readonly number: number; readonly round: number; readonly nowMs: number }
  | {
      readonly type: 'verdict'
      readonly number: number
      readonly blockHash: Hex
      readonly verdict: ProposalVerdict
      readonly nowMs: number
    }
  | {
      readonly type: 'timeout'
      readonly timer: TimerName
      readonly number: number
      readonly round: number
      /** Too few other members can be reached for a quorum, or are known to have come as far: a round given up alone would only be one the others must climb to. */
      readonly isolated?: boolean
      readonly nowMs: number
    }

export type Effect =
  /** Answered by `signed`, at once and before any other input; or never, when the signer refuses. */
  | { readonly type: 'sign'; readonly message: UnsignedMessage }
  /** Durable before any later broadcast, send or decide leaves the process. */
  | { readonly type: 'persist'; readonly record: WalRecord }
  | { readonly type: 'broadcast'; readonly message: ConsensusMessage }
  | { readonly type: 'send'; readonly to: string; readonly message: ConsensusMessage }
  | { readonly type: 'sendDecided'; readonly to: string; readonly number: number }
  /** Replaces the timer of the same name. */
  | {
      readonly type: 'schedule'
      readonly timer: TimerName
      readonly number: number
      readonly round: number
      readonly atMs: number
    }
  /** Answered by `built` or `buildFailed`, unless it is cancelled. */
  | { readonly type: 'build'; readonly number: number; readonly round: number }
  | { readonly type: 'cancelBuild' }
  /** Answered by `verdict`, unless it is cancelled; then it may be asked for again. */
  | {
      readonly type: 'validate'
      readonly block: Block
      readonly number: number
      readonly round: number
      readonly fresh: boolean
    }
  | { readonly type: 'cancelValidation'; readonly blockHash: Hex }
  | { readonly type: 'decide'; readonly block: Block; readonly certificate: Certificate }
  /** More members than can be faulty are at this later height. */
  | { readonly type: 'behind'; readonly number: number }
