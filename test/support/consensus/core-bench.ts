import type { Hex } from '@tandem/base/bytes.ts'
import { createCore, step } from '../../../src/consensus/core/core.ts'
import type { CoreState, Effect, HeightConfig, Input, WalRecord } from '../../../src/consensus/core/types.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import type { Justification, Proposal } from '../../../src/primitives/consensus/proposal.ts'
import type { Commit, Prepare, RoundChange } from '../../../src/primitives/consensus/vote.ts'

export const CORE_LIMITS = {
  baseTimeoutMs: 1_000,
  timeoutCapMs: 60_000,
  maxTimeoutExponent: 6,
  retransmitMs: 500,
  futureHeights: 10,
  futureRounds: 8,
  pastRounds: 64,
  bufferedMessages: 1_000,
  heldBlocks: 8,
} as const

const NO_SIGNATURE = new Uint8Array(65)
export const PARENT: Hex = `0x${'99'.repeat(32)}`
const address = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const proposers = new WeakMap<Block, Hex>()

/** A block named by a small number; `proposer` is the committee index its header names. */
export const block = (name: number, proposer: number, place: { number?: number; parentHash?: Hex } = {}): Block => {
  const { number = 1, parentHash = PARENT } = place
  const hash: Hex = `0x${name.toString(16).padStart(64, '0')}`
  const made = { header: { number, parentHash }, hash, transactions: [], proofHeaders: [], evidence: [], size: 0 }
  proposers.set(made as unknown as Block, address(proposer))
  return made as unknown as Block
}

export const prepare = (sender: number, round: number, of: Block, number = 1): Prepare => ({
  type: 'prepare',
  number,
  round,
  blockHash: of.hash,
  sender,
  signature: NO_SIGNATURE,
})

/** Each seal is told apart by its first byte. */
export const commit = (sender: number, round: number, of: Block, number = 1): Commit => ({
  ...prepare(sender, round, of, number),
  type: 'commit',
  signature: new Uint8Array(65).fill(sender + 1),
})

export const roundChange = (
  sender: number,
  round: number,
  prepared: { readonly round: number; readonly of: Block; readonly by: readonly number[] } | null = null,
  number = 1,
): RoundChange => ({
  type: 'roundChange',
  number,
  round,
  prepared: prepared && { round: prepared.round, blockHash: prepared.of.hash },
  prepares: prepared?.by.map(voter => prepare(voter, prepared.round, prepared.of)) ?? [],
  sender,
  signature: NO_SIGNATURE,
})

export const proposal = (
  sender: number,
  round: number,
  of: Block,
  justification: Justification = { roundChanges: [], prepares: [] },
): Proposal => ({
  type: 'proposal',
  number: of.header.number,
  round,
  block: of,
  sender,
  signature: NO_SIGNATURE,
  ...justification,
})

/** One core by hand: every signature asked for is given at once, all else is recorded. Height 1's first proposer is index 1. */
export class CoreBench {
  readonly state: CoreState
  readonly effects: Effect[] = []
  readonly index: number
  nowMs = 0

  constructor(index: number, size = 4, options: { earliestMs?: number | null; records?: readonly WalRecord[] } = {}) {
    this.index = index
    this.state = createCore({ ...CORE_LIMITS, proposerOf: of => proposers.get(of) })
    const { earliestMs = 0, records = [] } = options
    this.open(
      {
        number: 1,
        parentHash: PARENT,
        index,
        earliestMs,
        members: Array.from({ length: size }, (_, at) => address(at)),
      },
      records,
    )
  }

  open(config: HeightConfig, records: readonly WalRecord[] = []): void {
    this.feed({ type: 'newHeight', config, records, nowMs: this.nowMs })
  }

  /** Effects of this input, those of the answers to its own signatures included. */
  feed(input: Input): readonly Effect[] {
    const from = this.effects.length
    const inputs = [input]
    for (let next = inputs.shift(); next !== undefined; next = inputs.shift()) {
      const { effects } = step(this.state, next)
      this.effects.push(...effects)
      for (const effect of effects) {
        if (effect.type !== 'sign') continue
        const message = { ...effect.message, sender: this.index, signature: new Uint8Array(65).fill(this.index + 1) }
        inputs.push({ type: 'signed', message: message as never, nowMs: this.nowMs })
      }
    }
    return this.effects.slice(from)
  }

  hear(...messages: readonly ConsensusMessage[]): readonly Effect[] {
    return messages.flatMap(message => this.feed({ type: 'message', message, from: 'peer', nowMs: this.nowMs }))
  }

  /** The validator's verdict on what it was last asked about. */
  judge(valid: boolean, proven = true): readonly Effect[] {
    const asked = this.effects.findLast(effect => effect.type === 'validate')
    if (asked === undefined) throw new Error('nothing to judge')
    const verdict = valid ? ({ valid } as const) : ({ valid, proven, reason: 'test' } as const)
    return this.feed({ type: 'verdict', number: asked.number, blockHash: asked.block.hash, verdict, nowMs: this.nowMs })
  }

  timeout(timer: 'propose' | 'round' | 'retransmit'): readonly Effect[] {
    const { config, round } = this.state.height!
    return this.feed({ type: 'timeout', timer, number: config.number, round, nowMs: this.nowMs })
  }

  /** Kinds and rounds of what was said to all, in order. */
  said(effects: readonly Effect[] = this.effects): readonly string[] {
    return effects.flatMap(effect =>
      effect.type === 'broadcast' && 'signature' in effect.message
        ? [`${effect.message.type} ${effect.message.round}`]
        : [],
    )
  }

  decided(): Extract<Effect, { type: 'decide' }> | undefined {
    return this.effects.find(effect => effect.type === 'decide')
  }

  get round(): number {
    return this.state.height!.round
  }
}
