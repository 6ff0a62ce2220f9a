import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../../primitives/block.ts'
import type { Justification } from '../../primitives/consensus/proposal.ts'
import { proposerIndex } from '../../rules/council/proposer-turns.ts'
import { requestSignature } from './effects.ts'
import { highestPrepared, justificationFromRoundChanges } from './messages/justification.ts'
import { requestBody } from './status.ts'
import type { StepContext } from './types.ts'

/** Proposes when this node is the proposer and, above round 0, a quorum of round changes justifies it. */
export const tryPropose = (ctx: StepContext): void => {
  const { round, asked, decided, building, config, opened } = ctx.height
  const mine = proposerIndex(config, config.number, round) === config.index
  if (!mine || decided !== null || asked.proposal >= round || building?.round === round) return
  if (round > 0) proposeAfterChange(ctx)
  else if (opened) build(ctx, { roundChanges: [], prepares: [] })
}

/**
 * Proposes on a quorum of round changes whose highest prepared block is at hand: byte for byte that block, or a fresh one where none of
 * them claims any (docs/design/consensus.md#missing-bodies). Claims above it are left out, since their bodies may never come; while
 * no quorum remains without them, those bodies are requested.
 */
const proposeAfterChange = (ctx: StepContext): void => {
  const { height } = ctx
  const changes = [...height.roundChanges.values()]
    .filter(change => change.round === height.round)
    .sort((a, b) => a.sender - b.sender)
  const missing: Hex[] = []
  for (let chosen = changes; chosen.length >= height.quorum; ) {
    const prepared = highestPrepared(chosen)
    if (prepared === 'contradictory') return
    const justification = justificationFromRoundChanges(chosen)
    if (prepared === null) {
      build(ctx, justification)
      return
    }
    const block = height.blocks.get(prepared.blockHash)
    if (block !== undefined) {
      propose(ctx, block, justification)
      return
    }
    missing.push(prepared.blockHash)
    chosen = chosen.filter(change => (change.prepared?.round ?? -1) < prepared.round)
  }
  for (const blockHash of missing) requestBody(ctx, blockHash)
}

const build = ({ height, out }: StepContext, justification: Justification): void => {
  height.building = { round: height.round, justification, failed: false }
  out.push({ type: 'build', number: height.config.number, round: height.round })
}

/** Handles a built block; a block for an earlier round is dropped. */
export const onBuilt = (ctx: StepContext, round: number, block: Block): void => {
  const { height } = ctx
  if (height.decided !== null || height.building?.round !== round) return
  const { justification } = height.building
  height.building = null
  height.blocks.set(block.hash, block)
  height.verdicts.set(block.hash, 'valid')
  propose(ctx, block, justification)
}

/** Handles a failed build; the round timer moves to the next proposer. */
export const onBuildFailed = ({ height }: StepContext, round: number): void => {
  if (height.building?.round === round) height.building = { ...height.building, failed: true }
}

const propose = (ctx: StepContext, block: Block, justification: Justification): void =>
  requestSignature(ctx, {
    type: 'proposal',
    number: ctx.height.config.number,
    round: ctx.height.round,
    block,
    ...justification,
  })
