import type { BlockClaim } from '../../primitives/block-claim.ts'
import { type ConsensusMessage, type SignedHead, signedHead } from '../../primitives/consensus/message.ts'
import { assert } from '../../util/assert.ts'
import type { Committee } from '../committee.ts'
import { accusedBy, type Evidence } from '../evidence/evidence.ts'
import type { Watch } from '../monitor/monitor.ts'
import type { Tally } from '../monitor/stats.ts'
import type { PeerId } from '../ports.ts'
import type { Validator } from '../signer/local-validator.ts'
import type { Verifier } from '../signer/signature-verifier.ts'
import type { Loop } from './driver.ts'
import type { Heights } from './height-manager.ts'
import type { Life } from './lifecycle.ts'
import { Admission, type Admitted, type Place } from './message-validator.ts'
import type { ConsensusEngineOptions } from './types.ts'

interface IntakeParts {
  readonly options: ConsensusEngineOptions
  readonly life: Life
  readonly validator: Validator
  readonly tally: Tally
  readonly watch: Watch
  readonly verifier: Verifier
  readonly loop: Loop
  readonly heights: Heights
}

/** Where messages come in: what nobody signed is turned away, what proves a fault is reported, the rest is fed to the core. */
export class Intake {
  readonly #parts: IntakeParts
  readonly #admission: Admission
  #unsubscribe: () => void = () => {}

  constructor(parts: IntakeParts) {
    this.#parts = parts
    this.#admission = new Admission({
      committees: parts.options.ports.committee,
      verifier: parts.verifier,
      onEvidence: (evidence, committee) => this.#onEvidence(evidence, committee),
      onSigned: (message, committee) => parts.watch.heard(message, committee),
    })
  }

  open(): void {
    this.#unsubscribe = this.#parts.options.ports.network.onMessage(
      (message, from) => this.#receive(message, from),
      (claim, from) => this.#judgeClaim(claim, from),
    )
  }

  close(): void {
    this.#unsubscribe()
  }

  /** What is right goes on to those its author does not reach: the answer is for the network. */
  #receive(message: ConsensusMessage, from: PeerId): Admitted {
    const { options, life, loop } = this.#parts
    if (!life.isRunning) return 'pointless'
    const admitted = this.#blamed(this.#admission.admit(message, this.#place), from)
    if (admitted !== 'true') return admitted
    if ('sender' in message) life.guard(() => this.#noticeOwn(signedHead(message)))
    loop.feed({ type: 'message', message, from, nowMs: options.clock.nowMs() })
    return admitted
  }

  /** Asked before a block is decoded: what is known, nobody signed, or nobody waits for is not read. */
  #judgeClaim(claim: BlockClaim, from: PeerId): Admitted {
    const { life, loop } = this.#parts
    if (!life.isRunning || loop.knows(claim)) return 'pointless'
    const admitted = this.#blamed(this.#admission.judgeClaim(claim, this.#place), from)
    if (admitted !== 'true') return admitted
    if (claim.type === 'proposal') life.guard(() => this.#noticeOwn(claim.head))
    return life.isRunning && loop.wantsBlockOf(claim) ? 'true' : 'pointless'
  }

  get #place(): Place {
    const { heights, loop } = this.#parts
    return { head: heights.head.number, wanted: loop.height?.wanted ?? null }
  }

  #blamed(admitted: Admitted, from: PeerId): Admitted {
    if (admitted !== 'false') return admitted
    const { options, tally } = this.#parts
    tally.rejectedMessages++
    options.ports.network.misbehaved?.(from)
    return admitted
  }

  /** Throws when somebody else signs with this validator's key. */
  #noticeOwn(message: SignedHead): void {
    const { options, validator } = this.#parts
    const committee = options.ports.committee.committee(message.number)
    assert(committee !== undefined, 'a message is admitted against its committee')
    validator.heard(message, committee)
  }

  #onEvidence(evidence: Evidence, committee: Committee): void {
    const { options, life, validator, tally } = this.#parts
    const accused = accusedBy(evidence)
    const address = committee.members[accused.sender]
    if (address === validator.address) {
      life.guard(() => validator.accused(accused))
      return
    }
    tally.evidence++
    const { number } = accused
    options.logger.warn({ kind: evidence.kind, number, validator: address }, 'validator breaks the protocol')
    options.ports.evidence?.report(evidence)
  }
}
