import type { Block } from '../../primitives/block.ts'
import type { Justification } from '../../primitives/consensus/proposal.ts'
import type { Hex } from '../../util/bytes.ts'
import { proposerIndex } from '../committee.ts'
import { ask } from './effects.ts'
import { highestPrepared, justificationFrom } from './justification.ts'
import { broadcastStatus } from './status.ts'
import type { Turn } from './types.ts'

/** Proposes when it is this node's turn and, above round 0, a quorum gave up the rounds before. */
export const tryPropose = (turn: Turn): void => {
  const { round, asked, decided, building, config, opened } = turn.height
  const mine = proposerIndex(config.members.length, config.number, round) === config.index
  if (!mine || decided !== null || asked.proposal >= round || building?.round === round) return
  if (round > 0) proposeAfterChange(turn)
  else if (opened) build(turn, { roundChanges: [], prepares: [] })
}

const proposeAfterChange = (turn: Turn): void => {
  const { height } = turn
  const changes = [...height.roundChanges.values()]
    .filter(change => change.round === height.round)
    .sort((a, b) => a.sender - b.sender)
  if (changes.length < height.quorum) return
  const prepared = highestPrepared(changes)
  if (prepared === 'contradictory') return
  const justification = justificationFrom(changes)
  if (prepared === null) build(turn, justification)
  else proposeAgain(turn, prepared.blockHash, justification)
}

const build = ({ height, out }: Turn, justification: Justification): void => {
  height.building = { round: height.round, justification, failed: false }
  out.push({ type: 'build', number: height.config.number, round: height.round })
}

/** The prepared block, byte for byte (reference/consensus.md 1.3); its body is asked for when it is not here. */
const proposeAgain = (turn: Turn, blockHash: Hex, justification: Justification): void => {
  const { height } = turn
  const block = height.blocks.get(blockHash)
  if (block !== undefined) {
    propose(turn, block, justification)
    return
  }
  if (height.wanted === blockHash) return
  height.wanted = blockHash
  broadcastStatus(turn)
}

/** A block asked for is there; one for a round that is over is dropped. */
export const onBuilt = (turn: Turn, round: number, block: Block): void => {
  const { height } = turn
  if (height.decided !== null || height.building?.round !== round) return
  const { justification } = height.building
  height.building = null
  height.blocks.set(block.hash, block)
  height.verdicts.set(block.hash, 'valid')
  propose(turn, block, justification)
}

/** No block came of it; the round timer hands the turn on. */
export const onBuildFailed = ({ height }: Turn, round: number): void => {
  if (height.building?.round === round) height.building = { ...height.building, failed: true }
}

const propose = (turn: Turn, block: Block, justification: Justification): void =>
  ask(turn, { type: 'proposal', number: turn.height.config.number, round: turn.height.round, block, ...justification })
