import type { Block } from '../../../primitives/block.ts'
import type { ConsensusMessage, SignedMessage } from '../../../primitives/consensus/message.ts'
import { messageHeight } from '../../../primitives/consensus/message.ts'
import { decide, tryDecide } from '../decide.ts'
import { persist, persistBlock } from '../effects.ts'
import { tryPropose } from '../propose.ts'
import { recordRoundChange } from '../rounds.ts'
import { broadcastStatus, respondToStatus } from '../status.ts'
import type { StepContext } from '../types.ts'
import { limitProposals, processProposal, receiveProposal, storeBody, storeProposal } from './proposals.ts'
import { receiveCommit, receivePrepare, receiveRoundChange, tryCommit } from './votes.ts'

/** Handles a message of another node, with verified signatures. */
export const receiveMessage = (ctx: StepContext, message: ConsensusMessage, from: string): void => {
  if (message.type === 'status') {
    respondToStatus(ctx, message, from)
    return
  }
  const { number } = ctx.height.config
  const messageNumber = messageHeight(message)
  if (message.type === 'decided') {
    if (messageNumber !== number || ctx.height.decided !== null) return
    ctx.height.learntFrom = from
    decide(ctx, message.block, message.certificate)
    return
  }
  if (message.type === 'body') {
    receiveBody(ctx, message.block)
    return
  }
  if (messageNumber > number) {
    receiveFuture(ctx, message)
    return
  }
  if (messageNumber < number || ctx.height.decided !== null) return
  if (message.sender < ctx.height.config.members.length) receiveCurrent(ctx, message)
}

const receiveCurrent = (ctx: StepContext, message: SignedMessage): void => {
  switch (message.type) {
    case 'proposal':
      receiveProposal(ctx, message)
      return
    case 'prepare':
      receivePrepare(ctx, message)
      return
    case 'commit':
      receiveCommit(ctx, message)
      return
    case 'roundChange':
      receiveRoundChange(ctx, message)
      return
  }
}

/** Buffers a message of a later height; more senders ahead than can be faulty mean that this node missed a decision. */
const receiveFuture = (ctx: StepContext, message: SignedMessage): void => {
  const { future, height, out } = ctx
  const { number } = height.config
  const before = future.sendersAbove(number).size
  future.add(message, number)
  if (before > height.faults || future.sendersAbove(number).size <= height.faults) return
  out.push({ type: 'behind', number: message.number })
  broadcastStatus(ctx)
}

/** Accepts a body only when it was requested: its hash identifies it. */
const receiveBody = (ctx: StepContext, block: Block): void => {
  const { height } = ctx
  if (!height.wanted.has(block.hash)) return
  storeBody(height, block)
  for (const round of height.commits.roundsOf(block.hash)) tryDecide(ctx, round, block.hash)
  tryPropose(ctx)
  // One that came too late is not kept.
  limitProposals(ctx)
}

/** Handles this node's own message once signed: logged before it is sent, then counted like any other. */
export const receiveOwnMessage = (ctx: StepContext, message: SignedMessage): void => {
  const { height, out } = ctx
  if (message.number !== height.config.number) return
  if (message.type === 'proposal') {
    persistBlock(ctx, message.block)
    persist(ctx, { type: 'proposal', proposal: message })
  } else persist(ctx, { type: 'signed', vote: message })
  out.push({ type: 'broadcast', message })
  countOwn(ctx, message)
}

const countOwn = (ctx: StepContext, message: SignedMessage): void => {
  const { height } = ctx
  switch (message.type) {
    case 'proposal':
      height.own.proposal = message
      storeProposal(ctx, message)
      processProposal(ctx, message.round)
      return
    case 'prepare':
      height.own.prepare = message
      height.prepares.add(message)
      tryCommit(ctx)
      return
    case 'commit':
      height.own.commit = message
      height.commits.add(message)
      tryDecide(ctx, message.round, message.blockHash)
      return
    case 'roundChange':
      height.own.roundChange = message
      recordRoundChange(ctx, message)
      tryPropose(ctx)
      return
  }
}
