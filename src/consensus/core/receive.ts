import type { Block } from '../../primitives/block.ts'
import type { ConsensusMessage, SignedMessage } from '../../primitives/consensus/message.ts'
import { numberOfMessage } from '../../primitives/consensus/message.ts'
import { decide, tryDecide } from './decide.ts'
import { persist, persistBlock } from './effects.ts'
import { considerProposal, keep, keepBody, receiveProposal } from './proposals.ts'
import { tryPropose } from './propose.ts'
import { countRoundChange } from './rounds.ts'
import { answerStatus, broadcastStatus } from './status.ts'
import type { Turn } from './types.ts'
import { receiveCommit, receivePrepare, receiveRoundChange, tryCommit } from './votes.ts'

/** A message from somebody else, its signatures verified. */
export const receive = (turn: Turn, message: ConsensusMessage, from: string): void => {
  if (message.type === 'status') {
    answerStatus(turn, message, from)
    return
  }
  const { number } = turn.height.config
  const messageNumber = numberOfMessage(message)
  if (message.type === 'decided') {
    if (messageNumber !== number || turn.height.decided !== null) return
    turn.height.learntFrom = from
    decide(turn, message.block, message.certificate)
    return
  }
  if (message.type === 'body') {
    receiveBody(turn, message.block)
    return
  }
  if (messageNumber > number) {
    receiveFuture(turn, message)
    return
  }
  if (messageNumber < number || turn.height.decided !== null) return
  if (message.sender < turn.height.config.members.length) receiveCurrent(turn, message)
}

const receiveCurrent = (turn: Turn, message: SignedMessage): void => {
  switch (message.type) {
    case 'proposal':
      receiveProposal(turn, message)
      return
    case 'prepare':
      receivePrepare(turn, message)
      return
    case 'commit':
      receiveCommit(turn, message)
      return
    case 'roundChange':
      receiveRoundChange(turn, message)
      return
  }
}

/** Kept for later; more senders ahead than can be faulty means that this node missed a decision. */
const receiveFuture = (turn: Turn, message: SignedMessage): void => {
  const { future, height, out } = turn
  const { number } = height.config
  const before = future.sendersAbove(number).size
  future.add(message, number)
  if (before > height.faults || future.sendersAbove(number).size <= height.faults) return
  out.push({ type: 'behind', number: message.number })
  broadcastStatus(turn)
}

/** Bodies are taken only when asked for: their hash is their proof. */
const receiveBody = (turn: Turn, block: Block): void => {
  const { height } = turn
  if (height.wanted !== block.hash) return
  keepBody(height, block)
  for (const round of height.commits.roundsOf(block.hash)) tryDecide(turn, round, block.hash)
  tryPropose(turn)
}

/** A message of our own, just signed: logged before it is sent, then counted like any other. */
export const receiveOwn = (turn: Turn, message: SignedMessage): void => {
  const { height, out } = turn
  if (message.number !== height.config.number) return
  if (message.type === 'proposal') {
    persistBlock(turn, message.block)
    persist(turn, { type: 'proposal', proposal: message })
  } else persist(turn, { type: 'signed', vote: message })
  out.push({ type: 'broadcast', message })
  countOwn(turn, message)
}

const countOwn = (turn: Turn, message: SignedMessage): void => {
  const { height } = turn
  switch (message.type) {
    case 'proposal':
      height.own.proposal = message
      keep(turn, message)
      considerProposal(turn, message.round)
      return
    case 'prepare':
      height.own.prepare = message
      height.prepares.add(message)
      tryCommit(turn)
      return
    case 'commit':
      height.own.commit = message
      height.commits.add(message)
      tryDecide(turn, message.round, message.blockHash)
      return
    case 'roundChange':
      height.own.roundChange = message
      countRoundChange(turn, message)
      tryPropose(turn)
      return
  }
}
