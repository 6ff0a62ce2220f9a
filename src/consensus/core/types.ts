import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { ConsensusMessage, SignedMessage } from '../../primitives/consensus/message.ts'
import type { Justification, Proposal } from '../../primitives/consensus/proposal.ts'
import type { Commit, Prepare, RoundChange, Vote } from '../../primitives/consensus/vote.ts'
import type { Committee } from '../committee.ts'
import type { ProposalVerdict } from '../ports.ts'
import type { FutureBuffer } from './messages/future-buffer.ts'
import type { VoteSet } from './messages/vote-set.ts'

type CoreLimit =
  | ('baseTimeoutMs' | 'timeoutCapMs' | 'maxTimeoutExponent' | 'retransmitMs')
  | ('futureHeights' | 'futureRounds' | 'pastRounds' | 'bufferedMessages' | 'heldBlocks')

/** Settings that do not change while the node runs: milliseconds and counts. */
export interface CoreConfig extends Readonly<Record<CoreLimit, number>> {
  /** Returns the proposer named in a block's extraData; undefined when it cannot be decoded. */
  readonly proposerOf: (block: Block) => Hex | undefined
}

/** Settings of one height: its committee, and this node's index in it (-1: not a member, or not allowed to sign). */
export interface HeightConfig extends Committee {
  readonly number: number
  readonly parentHash: Hex
  readonly index: number
  /** Wall-clock time from which round 0 may propose; null waits for a request (instant mode). */
  readonly earliestMs: number | null
}

/** Quorum of prepares for a block: the only lock. */
interface PreparedCertificate {
  readonly round: number
  readonly blockHash: Hex
  readonly prepares: readonly Prepare[]
}

/** Highest round for which a signature of each kind was requested; -1 none. Values only grow, so no signature is requested twice. */
type RequestedRounds = Record<UnsignedMessage['type'], number>

/** Verdict on a block; while one is requested, the round of the proposal that it is requested for. */
type Verdict = 'valid' | 'invalid' | { readonly requestedForRound: number }

/** State of the open height, changed in place by one step at a time. */
export interface HeightState {
  readonly config: HeightConfig
  readonly quorum: number
  readonly faults: number
  round: number
  /** True once the block timer fired (or a block was requested): round timers run. */
  opened: boolean
  /** First justified proposal of each round. */
  readonly proposals: Map<number, Proposal>
  readonly blocks: Map<Hex, Block>
  /** Hashes whose bodies are in the log. */
  readonly logged: Set<Hex>
  readonly verdicts: Map<Hex, Verdict>
  /** Hash of the proposal this node found valid, by round. */
  readonly accepted: Map<number, Hex>
  readonly prepares: VoteSet<Prepare>
  readonly commits: VoteSet<Commit>
  /** Highest round change of each sender. */
  readonly roundChanges: Map<number, RoundChange>
  prepared: PreparedCertificate | null
  readonly asked: RequestedRounds
  readonly own: { [Type in SignedMessage['type']]: Extract<SignedMessage, { type: Type }> | null }
  /** Fixed when the block was requested, so that later round changes do not alter the justification of its proposal. */
  building: { readonly round: number; readonly justification: Justification; readonly failed: boolean } | null
  /** Bodies requested from neighbours; each status names the first, which is then the last. */
  readonly wanted: Set<Hex>
  decided: { readonly block: Block; readonly certificate: Certificate } | null
  /** Neighbour that sent the whole decision: it is ahead, so it gets another request at once. */
  learntFrom: string | null
}

export interface CoreState {
  readonly config: CoreConfig
  height: HeightState | null
  readonly future: FutureBuffer
}

/** Context of one step: the open height and the list of its effects. */
export interface StepContext {
  readonly config: CoreConfig
  readonly height: HeightState
  readonly future: FutureBuffer
  readonly nowMs: number
  readonly out: Effect[]
}

/** Height and round that something belongs to. */
export interface RoundPlace {
  readonly number: number
  readonly round: number
}

/** Message of this node before it is signed. */
export type UnsignedMessage = RoundPlace &
  (
    | ({ readonly type: 'proposal'; readonly block: Block } & Justification)
    | { readonly type: 'prepare' | 'commit'; readonly blockHash: Hex }
    | ({ readonly type: 'roundChange' } & Pick<RoundChange, 'prepared' | 'prepares'>)
  )

export type TimerName = 'propose' | 'round' | 'retransmit'

/** Record that a restarted node must remember (docs/design/consensus.md#write-ahead-log). A proposal's body is in an earlier `block`. */
export type WalRecord =
  | { readonly type: 'block'; readonly block: Block }
  | ({ readonly type: 'round' } & RoundPlace)
  | { readonly type: 'proposal'; readonly proposal: Proposal }
  | { readonly type: 'signed'; readonly vote: Vote }
  | { readonly type: 'prepared'; readonly number: number; readonly certificate: PreparedCertificate }
  | { readonly type: 'decided'; readonly block: Block; readonly certificate: Certificate }
  | { readonly type: 'end'; readonly number: number; readonly blockHash: Hex }

/** Input of the core. Messages must be verified before: the sender's signature and those of all attachments. */
export type Input = { readonly nowMs: number } & (
  | { readonly type: 'request' }
  /** `records`: those of this height, oldest first. */
  | { readonly type: 'newHeight'; readonly config: HeightConfig; readonly records: readonly WalRecord[] }
  /** Leaves the height: it is either opened again from its records or already decided by others. */
  | { readonly type: 'leave' }
  | { readonly type: 'message'; readonly message: ConsensusMessage; readonly from: string }
  | { readonly type: 'signed'; readonly message: SignedMessage }
  | ({ readonly type: 'built'; readonly block: Block } & RoundPlace)
  | ({ readonly type: 'buildFailed' } & RoundPlace)
  | { readonly type: 'verdict'; readonly number: number; readonly blockHash: Hex; readonly verdict: ProposalVerdict }
  /** `isolated`: too few others for a quorum are reachable or in this round: giving it up would only create one to catch up to. */
  | ({ readonly type: 'timeout'; readonly timer: TimerName; readonly isolated?: boolean } & RoundPlace)
)

export type Effect =
  /** Answered by `signed` before any other input, or never; before the first signature after a start also later in the round. */
  | { readonly type: 'sign'; readonly message: UnsignedMessage }
  /** Durable before any later broadcast, send or decide leaves the process. */
  | { readonly type: 'persist'; readonly record: WalRecord }
  | { readonly type: 'broadcast'; readonly message: ConsensusMessage }
  | { readonly type: 'send'; readonly to: string; readonly message: ConsensusMessage }
  | { readonly type: 'sendDecided'; readonly to: string; readonly number: number }
  /** Replaces the timer of the same name. */
  | ({ readonly type: 'schedule'; readonly timer: TimerName; readonly atMs: number } & RoundPlace)
  /** Answered by `built` or `buildFailed`, unless cancelled. */
  | ({ readonly type: 'build' } & RoundPlace)
  | { readonly type: 'cancelBuild' }
  /** Answered by `verdict`, unless cancelled; then it may be requested again. */
  | ({ readonly type: 'validate'; readonly block: Block; readonly fresh: boolean } & RoundPlace)
  | { readonly type: 'cancelValidation'; readonly blockHash: Hex }
  | { readonly type: 'decide'; readonly block: Block; readonly certificate: Certificate }
  /** More members than can be faulty are at this later height. */
  | { readonly type: 'behind'; readonly number: number }
