import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockClaim, MessageAcceptance } from '../../primitives/consensus/message.ts'
import { type ConsensusMessage, type SignedHead, signedHead } from '../../primitives/consensus/message.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { Committee } from '../committee.ts'
import { accusedIn, type Evidence } from '../evidence/evidence.ts'
import type { ConsensusMonitor } from '../monitor/monitor.ts'
import type { ConsensusStats } from '../monitor/stats.ts'
import type { LocalValidator } from '../signer/local-validator.ts'
import type { SignatureVerifier } from '../signer/signature-verifier.ts'
import type { Driver } from './driver.ts'
import type { HeightManager } from './height-manager.ts'
import type { Lifecycle } from './lifecycle.ts'
import { type ChainPosition, MessageValidator } from './message-validator.ts'
import type { ConsensusEngineOptions } from './types.ts'

const NONE: ReadonlySet<Hex> = new Set()

interface IntakeParts {
  readonly options: ConsensusEngineOptions
  readonly lifecycle: Lifecycle
  readonly validator: LocalValidator
  readonly stats: ConsensusStats
  readonly monitor: ConsensusMonitor
  readonly verifier: SignatureVerifier
  readonly driver: Driver
  readonly heightManager: HeightManager
}

/** Entry of messages: rejects unsigned ones, reports evidence of faults, and feeds the rest to the core. */
export class MessageHandler {
  readonly #parts: IntakeParts
  readonly #messageValidator: MessageValidator
  #unsubscribe: () => void = () => {}

  constructor(parts: IntakeParts) {
    this.#parts = parts
    this.#messageValidator = new MessageValidator({
      committees: parts.options.ports.committee,
      verifier: parts.verifier,
      onEvidence: (evidence, committee) => this.#onEvidence(evidence, committee),
      onSigned: (message, committee) => parts.monitor.onMessage(message, committee),
    })
  }

  open(): void {
    this.#unsubscribe = this.#parts.options.ports.network.onMessage(
      (message, from) => this.#receive(message, from),
      (claim, from) => this.#validateClaim(claim, from),
    )
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Handles a message; the result tells the network whether to relay it to peers that its author does not reach. */
  #receive(message: ConsensusMessage, from: PeerId): MessageAcceptance {
    const { options, lifecycle, driver } = this.#parts
    if (!lifecycle.isRunning) return 'ignore'
    const messageAcceptance = this.#blamed(this.#messageValidator.admit(message, this.#chainPosition), from)
    if (messageAcceptance !== 'accept') return messageAcceptance
    if ('sender' in message) lifecycle.guard(() => this.#noticeOwn(signedHead(message)))
    driver.feed({ type: 'message', message, from, nowMs: options.clock.nowMs() })
    driver.reported(message, from)
    return messageAcceptance
  }

  /** Called before a block is decoded: blocks that are known, unsigned or not needed are not decoded. */
  #validateClaim(claim: BlockClaim, from: PeerId): MessageAcceptance {
    const { lifecycle, driver } = this.#parts
    if (!lifecycle.isRunning || driver.knows(claim)) return 'ignore'
    const messageAcceptance = this.#blamed(this.#messageValidator.validateClaim(claim, this.#chainPosition), from)
    if (messageAcceptance !== 'accept') return messageAcceptance
    if (claim.type === 'proposal') lifecycle.guard(() => this.#noticeOwn(claim.head))
    return lifecycle.isRunning && driver.wantsBlockOf(claim) ? 'accept' : 'ignore'
  }

  get #chainPosition(): ChainPosition {
    const { heightManager, driver } = this.#parts
    return { head: heightManager.head.number, wanted: driver.height?.wanted ?? NONE }
  }

  #blamed(messageAcceptance: MessageAcceptance, from: PeerId): MessageAcceptance {
    if (messageAcceptance !== 'reject') return messageAcceptance
    const { options, stats } = this.#parts
    stats.rejectedMessages++
    options.ports.network.misbehaved?.(from)
    return messageAcceptance
  }

  /** Throws when another process signs with this validator's key. */
  #noticeOwn(message: SignedHead): void {
    const { options, validator } = this.#parts
    const committee = options.ports.committee.committee(message.number)
    assert(committee !== undefined, 'a message is admitted against its committee')
    validator.heard(message, committee)
  }

  #onEvidence(evidence: Evidence, committee: Committee): void {
    const { options, lifecycle, validator, stats } = this.#parts
    const accused = accusedIn(evidence)
    const address = committee.members[accused.sender]
    if (address === validator.address) {
      lifecycle.guard(() => validator.accused(accused))
      return
    }
    stats.evidence++
    const { number } = accused
    options.logger.warn({ kind: evidence.kind, number, validator: address }, 'validator misbehaved')
    options.ports.evidence?.report(evidence)
  }
}
