import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { type Certificate, signerIndexes } from '../../primitives/consensus/certificate.ts'
import { readExtraData } from '../../primitives/consensus/extra-data.ts'
import type { ConsensusMessage, SignedHead, SignedMessage } from '../../primitives/consensus/message.ts'
import { blockVoteDigest, type SigningDomain, type ValidatorSigner } from '../../primitives/consensus/vote.ts'
import type { Header } from '../../primitives/header.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { quorumOf } from '../../rules/council/quorum.ts'
import type { Committee } from '../committee.ts'
import type { UnsignedMessage } from '../core/types.ts'
import type { CommitteePort, DecidedBlock, Head, NetworkPort } from '../ports.ts'
import { committeeIndex, type RecoveredState, signPositionFromMessage } from '../wal/recovery.ts'
import { messageDigest, signConsensusMessage } from '../wal/sign-message.ts'
import { comparePositions, type LastSignature, type SignPosition, type Watermark } from '../wal/watermark.ts'
import { isDecidedAfter, StartGate } from './start-gate.ts'

/**
 * Record of this validator's own votes, to tell them from votes made elsewhere with its key (docs/design/consensus.md#evidence). Positions
 * up to `before`, the last one of earlier runs, can be checked only if they are still recorded.
 */
export class OwnVotes {
  readonly #before: SignPosition | null
  readonly #digests = new Map<number, Map<string, Uint8Array>>()

  constructor(before: LastSignature | null) {
    this.#before = before
    if (before !== null) this.remember(before, before.digest)
  }

  /** Number of recorded positions, for the bound on memory. */
  get size(): number {
    let size = 0
    for (const digests of this.#digests.values()) size += digests.size
    return size
  }

  remember(position: SignPosition, digest: Uint8Array): void {
    const digests = this.#digests.get(position.number) ?? new Map<string, Uint8Array>()
    this.#digests.set(position.number, digests)
    digests.set(placeOf(position), digest)
  }

  /** Returns true when this signature must have been made elsewhere. */
  isForeign(position: SignPosition, digest: Uint8Array): boolean {
    const known = this.#digests.get(position.number)?.get(placeOf(position))
    if (known !== undefined) return !bytesEqual(known, digest)
    return this.#before === null || comparePositions(position, this.#before) > 0
  }

  /** Drops heights below `number`. */
  forgetBelow(number: number): void {
    for (const known of this.#digests.keys()) if (known < number) this.#digests.delete(known)
  }
}

const placeOf = ({ round, step }: SignPosition): string => `${round} ${step}`

/** Heights that others must decide before a node that lost its log votes again (docs/design/consensus.md#quarantine). */
const HEIGHTS = 2

/**
 * Duration for which a validator that lost its log only follows: until others have decided two heights above every height it may
 * have voted in. Those are at least the head and the watermark at start, every height in which its own vote or seal appears, and
 * every height decided before this node opened it: such a height came from a neighbour that had moved on, so it says nothing about
 * the open one. And the last of them must have been decided after the quarantine began: old messages can be sent again.
 */
export class Quarantine {
  readonly #sinceMs: number
  #upTo: number

  constructor(head: number, lastSigned: number, nowMs: number) {
    this.#sinceMs = nowMs
    this.#upTo = Math.max(head, lastSigned) + HEIGHTS
  }

  /** Last height without a vote, as far as known. */
  get upTo(): number {
    return this.#upTo
  }

  ownVoteSeen(number: number): void {
    this.#upTo = Math.max(this.#upTo, number + HEIGHTS)
  }

  /** Handles a height decided by others; `learnt`: before this node opened it. Returns true when the quarantine is over. */
  decided({ number, timestamp }: Pick<Header, 'number' | 'timestamp'>, learnt: boolean): boolean {
    if (learnt) this.ownVoteSeen(number)
    return number >= this.#upTo && isDecidedAfter(timestamp, this.#sinceMs)
  }
}

/** This validator's key signs elsewhere: a second instance, or a stolen key. */
type KeyInUseError = { readonly code: 'KEY_IN_USE'; readonly number: number; readonly round: number }

/** Key of this validator, and what its start knows about the key's earlier votes. */
export interface ValidatorKeyOptions {
  /** null: follows and never votes. */
  readonly signer: ValidatorSigner | null
  readonly watermark: Watermark
  readonly clock: Clock
  readonly logger: Logger
  /** The operator's assurance that this key never voted with a log that is now lost. */
  readonly trustMissingLog?: boolean
  /** The chain began with a snapshot, and blocks before it are missing: the node has not seen every seal. */
  readonly beganWithSnapshot?: boolean
}

type ValidatorOptions = ValidatorKeyOptions & {
  readonly params: SigningDomain
  readonly ports: { readonly network: NetworkPort; readonly committee: CommitteePort }
}

/** Validator of this node: its own votes, whether it may sign, and detection of a second user of its key. */
export class LocalValidator {
  readonly #options: ValidatorOptions
  readonly #onLogLost: () => void
  #own = new OwnVotes(null)
  /** True while this signer has never signed, or begins anew; the chain shows whether the key is new as well. */
  #isNew = false
  /** True for a new one whose node began with a snapshot, so that it has not seen every seal. */
  #isUnsure = false
  #quarantine: Quarantine | null = null
  /** Head at the start: its seals were seen then, and a development chain goes on after its own. */
  #startsAt = 0
  /** Told that earlier votes of the key were seen. */
  #trusts = false
  #gate: StartGate

  /** `onLogLost`: the log, which seemed new, lacks votes of this key; the next start has to know. */
  constructor(options: ValidatorOptions, onLogLost: () => void) {
    this.#options = options
    this.#onLogLost = onLogLost
    this.#gate = new StartGate({ isOpen: false, self: this.address, trusts: false, nowMs: options.clock.nowMs() })
  }

  /** Called once, with the recovered state. */
  restore({ isNew, own, head }: RecoveredState): void {
    const { watermark, params, clock, ports, trustMissingLog = false, beganWithSnapshot = false } = this.#options
    this.#isNew = isNew
    this.#startsAt = head.number
    const isOpen = ports.network.speaker === undefined
    // A log is no such assurance: it may be that of a copy.
    this.#gate = new StartGate({ isOpen, self: this.address, trusts: trustMissingLog, nowMs: clock.nowMs() })
    this.#isUnsure = isNew && head.number > 0 && beganWithSnapshot && !trustMissingLog
    this.#own = new OwnVotes(watermark.last)
    for (const message of own) this.#own.remember(signPositionFromMessage(message), messageDigest(params, message))
  }

  /** Called when the operator trusts that no vote of a lost log is under way: the key begins anew, and its earlier seals are its own. */
  trustLostLog(): void {
    this.#isNew = true
  }

  get address(): Hex | undefined {
    return this.#options.signer?.address
  }

  get isQuarantined(): boolean {
    return this.#quarantine !== null
  }

  /** Returns its index in a committee; -1 when it does not vote. */
  indexIn(committee: Committee): number {
    return this.isQuarantined ? -1 : committeeIndex(committee, this.address)
  }

  /**
   * Called before the height after the head opens. A node that began with a snapshot has not seen whether its key voted before, and the
   * open height may be one in which it did: it is quarantined, unless its key sealed nothing that it sees and the others cannot decide
   * without it (docs/design/consensus.md#quarantine).
   */
  opens(committee: Committee, head: Head, committeeOfHead: Committee | undefined): void {
    if (!this.#isNew || !this.#isUnsure) return
    const { members } = committee
    const isNeeded = members.length - 1 < quorumOf(members.length)
    if (!this.#hasSealed(head, committeeOfHead) && (isNeeded || committeeIndex(committee, this.address) < 0)) return
    const { upTo } = this.quarantine(head.number)
    this.#onLogLost()
    this.#options.logger.warn(
      { number: head.number, silentUpTo: upTo },
      'this node began with a snapshot, and its key may have voted before: following only, until others decided later blocks (--trust-missing-log: it has not)',
    )
  }

  #hasSealed({ certificate }: Head, committee: Committee | undefined): boolean {
    return certificate !== null && signerIndexes(certificate).includes(committeeIndex(committee, this.address))
  }

  /** Handles a verified message of a neighbour as a report of its height. */
  reported(message: ConsensusMessage, from: PeerId, committee: Committee, open: number): void {
    this.#gate.heard(message, this.#options.ports.network.speaker?.(from), committee, open)
  }

  /** Returns true when a member of this committee may sign; until then its signatures wait. */
  maySign(committee: Committee): boolean {
    return this.#gate.isOpenFor(committee)
  }

  /** Signs as member `index`, unless it is quarantined or the watermark refuses; the height then continues without this vote. */
  sign(message: UnsignedMessage, index: number): SignedMessage | undefined {
    const { signer, watermark, params, logger } = this.#options
    if (signer === null || this.isQuarantined) return undefined
    try {
      const signed = signConsensusMessage(message, index, { domain: params, signer, watermark })
      this.#own.remember(signPositionFromMessage(signed), messageDigest(params, signed))
      return signed
    } catch (error) {
      const { type, number, round } = message
      logger.error({ err: error, kind: type, number, round }, 'signing refused')
      return undefined
    }
  }

  /** Handles a verified message. Throws KEY_IN_USE when it has this key's signature but was not made here. */
  heard(message: SignedHead, committee: Committee): void {
    if (committee.members[message.sender] !== this.address) return
    this.#notice(signPositionFromMessage(message), messageDigest(this.#options.params, message))
  }

  /**
   * Handles a signature of this key, at this place, that this node did not make. In quarantine it shows how far the lost log
   * reached; on a node that seemed new it shows that a log was lost. Otherwise the key runs twice, and neither instance may
   * continue (docs/design/consensus.md#evidence). Throws KEY_IN_USE.
   */
  accused({ number, round }: { readonly number: number; readonly round: number }): void {
    const { trustMissingLog = false, logger } = this.#options
    if (this.#quarantine !== null) this.#quarantine.ownVoteSeen(number)
    else if (this.#isNew && trustMissingLog) this.#trustEarlierVotes(number)
    else if (!this.#isNew) throw new CodedError<KeyInUseError>({ code: 'KEY_IN_USE', number, round })
    else {
      const { upTo } = this.quarantine(number)
      this.#onLogLost()
      logger.error(
        { number, silentUpTo: upTo },
        'this key voted before, and its log is lost: following only, until others decided the heights it may have voted in; where they are too few for that, and no vote of it is under way, start with --trust-missing-log',
      )
    }
  }

  /** Earlier votes of a lost log are no second user of the key, until it takes part in a decision. */
  #trustEarlierVotes(number: number): void {
    if (!this.#trusts)
      this.#options.logger.warn({ number }, 'this key voted before: voting without its log (--trust-missing-log)')
    this.#trusts = true
  }

  /** Ends a height, `learnt` from others or not; looks for its own seal. Returns true when a quarantine may end. Throws KEY_IN_USE. */
  decided({ block, certificate }: DecidedBlock, committee: Committee, learnt: boolean): boolean {
    const { number, timestamp } = block.header
    if (!learnt) this.#gate.decided(timestamp)
    if ((this.#isNew || this.isQuarantined) && number > this.#startsAt + 1) this.#noticeParentSeal(block.header)
    this.#noticeSeal(certificate, { number, blockHash: block.hash }, committee)
    // The seals of this height come again in the next header.
    this.#own.forgetBelow(number)
    // It took part in the latest decision, which was no old one sent again: signatures seen from now on are not from earlier runs.
    if (!learnt && !this.isQuarantined && this.maySign(committee)) this.#isNew = false
    return this.#quarantine?.decided(block.header, learnt) ?? false
  }

  /** The certificate of the parent in a header may have other seals than the one that a neighbour sent. */
  #noticeParentSeal({ number, parentHash, extraData }: Header): void {
    const certificate = readExtraData({ extraData })?.parentCertificate
    const committee = this.#options.ports.committee.committee(number - 1)
    if (certificate && committee)
      this.#noticeSeal(certificate, { number: number - 1, blockHash: parentHash }, committee)
  }

  #noticeSeal(certificate: Certificate, block: { number: number; blockHash: Hex }, committee: Committee): void {
    const { round } = certificate
    if (!signerIndexes(certificate).includes(committeeIndex(committee, this.address))) return
    const commit = { type: 'commit', round, ...block } as const
    this.#notice({ number: block.number, round, step: 'commit' }, blockVoteDigest(this.#options.params, commit))
  }

  /** Starts a quarantine: nothing is signed from now on. */
  quarantine(head: number): Quarantine {
    this.#isNew = false
    const { watermark, clock } = this.#options
    this.#quarantine = new Quarantine(head, watermark.last?.number ?? 0, clock.nowMs())
    return this.#quarantine
  }

  release(): void {
    this.#quarantine = null
  }

  #notice(position: SignPosition, digest: Uint8Array): void {
    if (this.isQuarantined || this.#own.isForeign(position, digest)) this.accused(position)
  }
}
