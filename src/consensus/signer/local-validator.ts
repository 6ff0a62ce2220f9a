import { signerIndexes } from '../../primitives/consensus/certificate.ts'
import type { SignedHead, SignedMessage } from '../../primitives/consensus/message.ts'
import { blockVoteDigest } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import type { Committee } from '../committee.ts'
import type { UnsignedMessage } from '../core/types.ts'
import type { ConsensusEngineOptions, KeyInUseError } from '../engine/types.ts'
import type { DecidedBlock } from '../ports.ts'
import { committeeIndex, type QuarantineReason, type RecoveredState, signPositionFromMessage } from '../wal/recovery.ts'
import { OwnVotes } from './own-votes.ts'
import { Quarantine } from './quarantine.ts'
import { messageDigest, signConsensusMessage } from './sign-message.ts'
import type { SignPosition } from './watermark.ts'

type ValidatorOptions = Pick<ConsensusEngineOptions, 'signer' | 'watermark' | 'params' | 'logger'>

/** This node's validator: what it signed, whether it may sign, and whether anybody else signs with its key. */
export class LocalValidator {
  readonly #options: ValidatorOptions
  #own = new OwnVotes(null)
  /** Its memory never signed anything; whether the key is as new as that, the chain will show. */
  #isNew = false
  #quarantine: Quarantine | null = null

  constructor(options: ValidatorOptions) {
    this.#options = options
  }

  /** To be called once, with what the last life left behind. */
  restore({ isNew, own }: RecoveredState): void {
    const { watermark, params } = this.#options
    this.#isNew = isNew
    this.#own = new OwnVotes(watermark.last)
    for (const message of own) this.#own.remember(signPositionFromMessage(message), messageDigest(params, message))
  }

  get address(): Hex | undefined {
    return this.#options.signer?.address
  }

  get isQuarantined(): boolean {
    return this.#quarantine !== null
  }

  /** Index with which it votes in a committee; -1 when it does not. */
  indexIn(committee: Committee): number {
    return this.isQuarantined ? -1 : committeeIndex(committee, this.address)
  }

  /** Signs as member `index`, unless it must be silent or its watermark forbids it; the height goes on without this vote then. */
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

  /** A verified message turned up. Throws KEY_IN_USE when it has this key's signature and cannot be its own. */
  heard(message: SignedHead, committee: Committee): void {
    if (committee.members[message.sender] !== this.address) return
    this.#notice(signPositionFromMessage(message), messageDigest(this.#options.params, message))
  }

  /**
   * This key signed what this node did not, at this place. In quarantine that says how far the lost log went, and a directory that
   * only looked new lost one too. Otherwise the key runs twice, and neither may go on (docs/design/consensus.md#evidence). Throws KEY_IN_USE.
   */
  accused({ number, round }: { readonly number: number; readonly round: number }): void {
    if (this.#quarantine !== null) this.#quarantine.ownVoteSeen(number)
    else if (!this.#isNew) throw new CodedError<KeyInUseError>({ code: 'KEY_IN_USE', number, round })
    else {
      const { upTo } = this.quarantine('LOG_MISSING', number)
      this.#options.logger.error(
        { number, silentUpTo: upTo },
        'this key voted before, and its log is lost: following only, until others decided the heights it may have voted in',
      )
    }
  }

  /**
   * A height is over; `learnt`: others had decided it before this node came to it. Looks for its own seal, and answers whether a
   * quarantine may end. Throws KEY_IN_USE.
   */
  decided({ block, certificate }: DecidedBlock, committee: Committee, learnt: boolean): boolean {
    const { number } = block.header
    const { round } = certificate
    if (signerIndexes(certificate).includes(committeeIndex(committee, this.address))) {
      const commit = { type: 'commit', number, round, blockHash: block.hash } as const
      this.#notice({ number, round, step: 'commit' }, blockVoteDigest(this.#options.params, commit))
    }
    this.#own.forgetBelow(number + 1)
    // It took part in what the committee just did: whatever turns up from now on is not from before.
    if (!learnt && !this.isQuarantined) this.#isNew = false
    return this.#quarantine?.decided(number, learnt) ?? false
  }

  /** Silent from now on. */
  quarantine(reason: QuarantineReason, head: number): Quarantine {
    this.#isNew = false
    this.#quarantine = new Quarantine(reason, head, this.#options.watermark.last?.number ?? 0)
    return this.#quarantine
  }

  release(): void {
    this.#quarantine = null
  }

  #notice(position: SignPosition, digest: Uint8Array): void {
    if (this.isQuarantined || this.#own.isForeign(position, digest)) this.accused(position)
  }
}
