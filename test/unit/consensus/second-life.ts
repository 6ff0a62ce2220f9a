import { createCore, step } from '../../../src/consensus/core/core.ts'
import type { Effect, Input, WalRecord } from '../../../src/consensus/core/types.ts'
import type { Head } from '../../../src/consensus/ports.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { readExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { RoundChangePayload } from '../../../src/primitives/consensus/vote.ts'
import { proposerIndex } from '../../../src/rules/council/proposer-turns.ts'
import { quorumOf } from '../../../src/rules/council/quorum.ts'
import { CORE_LIMITS } from '../../support/consensus/core-bench.ts'
import { makeBlock } from '../../support/consensus/ledger.ts'
import { committeeOf } from '../../support/consensus/member.ts'
import type { Said } from '../../support/consensus/said.ts'

const NO_SIGNATURE = new Uint8Array(65)

/** A core that starts on what a log tells of its open height, among neighbours that want it to contradict itself. No watermark guards it. */
export class SecondLife {
  readonly #state = createCore({ ...CORE_LIMITS, proposerOf: block => readExtraData(block.header)?.proposer })
  readonly #index: number
  readonly #head: Head
  readonly #members
  readonly #said: Said
  #salt = 900_000
  #validate: Extract<Effect, { type: 'validate' }> | undefined
  #build: Extract<Effect, { type: 'build' }> | undefined

  constructor(index: number, size: number, head: Head, records: readonly WalRecord[], said: Said) {
    this.#index = index
    this.#head = head
    this.#members = committeeOf(size).members
    this.#said = said
    const { number, hash } = head
    const config = { number: number + 1, parentHash: hash, members: this.#members, index, earliestMs: 0 }
    this.#feed({ type: 'newHeight', config, records, nowMs: 0 })
  }

  get isDecided(): boolean {
    return this.#state.height?.decided !== null
  }

  /** Every proposal is found valid, its own blocks are new, and the round is given up in the end. */
  goOn(): void {
    this.#answer()
    this.#timeout('propose')
    this.#answer()
    this.#timeout('round')
    this.#answer()
  }

  /** The proposer of the round offers another block, as if nobody had prepared anything, and all others vote for it. */
  hearAnother(): void {
    const { round, config, decided } = this.#state.height!
    const { number } = config
    const size = this.#members.length
    const sender = proposerIndex(config, number, round)
    if (sender === this.#index || decided !== null) return
    const block = this.#another(sender)
    const others = this.#members.map((_, member) => member).filter(member => member !== this.#index)
    const changes = others.slice(0, quorumOf(size)).map(
      (member): RoundChangePayload => ({
        type: 'roundChange',
        number,
        round,
        prepared: null,
        sender: member,
        signature: NO_SIGNATURE,
      }),
    )
    const signed = { number, round, signature: NO_SIGNATURE }
    const roundChanges = round === 0 ? [] : changes
    this.#hear({ type: 'proposal', ...signed, sender, block, roundChanges, prepares: [] })
    this.#answer()
    for (const type of ['prepare', 'commit'] as const)
      for (const member of others)
        if (type === 'prepare' || member === others[0])
          this.#hear({ type, ...signed, sender: member, blockHash: block.hash })
  }

  #another(proposer: number): Block {
    const { number, hash, timestamp, certificate } = this.#head
    const place = { number: number + 1, parentHash: hash, timestamp: timestamp + 1 }
    return makeBlock(place, this.#members[proposer]!, certificate, this.#salt++)
  }

  #answer(): void {
    const { number, round } = { number: this.#head.number + 1, round: this.#build?.round ?? 0 }
    if (this.#build !== undefined)
      this.#feed({ type: 'built', number, round, block: this.#another(this.#index), nowMs: 0 })
    this.#build = undefined
    if (this.#validate !== undefined)
      this.#feed({ type: 'verdict', number, blockHash: this.#validate.block.hash, verdict: { valid: true }, nowMs: 0 })
    this.#validate = undefined
  }

  #timeout(timer: 'propose' | 'round'): void {
    const { round, config } = this.#state.height!
    this.#feed({ type: 'timeout', timer, number: config.number, round, nowMs: 0 })
  }

  #hear(message: SignedMessage): void {
    this.#feed({ type: 'message', message, from: 'peer', nowMs: 0 })
  }

  #feed(input: Input): void {
    const inputs = [input]
    for (let next = inputs.shift(); next !== undefined; next = inputs.shift()) {
      for (const effect of step(this.#state, next).effects) {
        if (effect.type === 'validate') this.#validate = effect
        if (effect.type === 'build') this.#build = effect
        if (effect.type === 'broadcast') this.#said.add(effect.message)
        if (effect.type !== 'sign') continue
        const message = { ...effect.message, sender: this.#index, signature: NO_SIGNATURE } as SignedMessage
        inputs.push({ type: 'signed', message, nowMs: 0 })
      }
    }
  }
}
