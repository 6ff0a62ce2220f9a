import { assert } from '@tandem/base/assert.ts'
import type { Block } from '../../primitives/block.ts'
import { type ConsensusMessage, messageHeight, type SignedMessage } from '../../primitives/consensus/message.ts'
import { decide, tryDecide } from './decide.ts'
import { persist, persistBlock } from './effects.ts'
import { onRequest, onTimeout, openHeight, resumeHeight } from './height.ts'
import { FutureBuffer } from './messages/future-buffer.ts'
import {
  limitProposals,
  onValidated,
  processProposal,
  receiveProposal,
  storeBody,
  storeProposal,
} from './messages/proposals.ts'
import { receiveCommit, receivePrepare, receiveRoundChange, tryCommit } from './messages/votes.ts'
import { onBuildFailed, onBuilt, tryPropose } from './propose.ts'
import { recordRoundChange } from './rounds.ts'
import { broadcastStatus, respondToStatus, statusFromHeight } from './status.ts'
import type { CoreConfig, CoreState, Effect, HeightState, Input, StepContext } from './types.ts'

/** Creates a core without an open height. */
export const createCore = (config: CoreConfig): CoreState => ({
  config,
  height: null,
  future: new FutureBuffer(config),
})

/**
 * State machine of consensus for one node: QBFT with the differences of docs/design/consensus.md. It has no clock, signing
 * or IO: these arrive as inputs and leave as effects, to be executed in order, so that the simulator runs exactly this
 * code. Deterministic; `state` is changed in place and returned.
 */
export const step = (
  state: CoreState,
  input: Input,
): { readonly state: CoreState; readonly effects: readonly Effect[] } => {
  const effects: Effect[] = []
  const contextOf = (height: HeightState): StepContext => ({
    config: state.config,
    future: state.future,
    height,
    nowMs: input.nowMs,
    out: effects,
  })
  if (input.type === 'newHeight') openNext(state, input, contextOf)
  else if (input.type === 'leave') state.height = null
  else if (state.height !== null) dispatch(contextOf(state.height), input)
  return { state, effects }
}

type NewHeight = Extract<Input, { type: 'newHeight' }>
type OfHeight = Exclude<Input, { type: 'newHeight' | 'leave' }>

const openNext = (
  state: CoreState,
  { config, records }: NewHeight,
  contextOf: (height: HeightState) => StepContext,
): void => {
  assert(config.number > (state.height?.config.number ?? 0), 'heights open in order')
  const helper = state.height?.learntFrom ?? null
  state.height = openHeight(config, records)
  const ctx = contextOf(state.height)
  if (helper !== null) ctx.out.push({ type: 'send', to: helper, message: statusFromHeight(state.height) })
  resumeHeight(ctx)
  for (const message of state.future.take(config.number)) receiveMessage(ctx, message, '')
}

const dispatch = (ctx: StepContext, input: OfHeight): void => {
  switch (input.type) {
    case 'request':
      onRequest(ctx)
      return
    case 'message':
      receiveMessage(ctx, input.message, input.from)
      return
    case 'signed':
      receiveOwnMessage(ctx, input.message)
      return
  }
  // Drops results that an earlier height requested.
  if (input.number !== ctx.height.config.number) return
  switch (input.type) {
    case 'built':
      onBuilt(ctx, input.round, input.block)
      return
    case 'buildFailed':
      onBuildFailed(ctx, input.round)
      return
    case 'verdict':
      onValidated(ctx, input.blockHash, input.verdict)
      return
    case 'timeout':
      onTimeout(ctx, input.timer, input.round, input.isolated ?? false)
      return
  }
}

/** Handles a message of another node, with verified signatures. */
const receiveMessage = (ctx: StepContext, message: ConsensusMessage, from: string): void => {
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
  if (message.sender < ctx.height.config.members.length) RECEIVERS[message.type](ctx, message as never)
}

/** Handlers of messages of the open height. */
const RECEIVERS: {
  readonly [Type in SignedMessage['type']]: (ctx: StepContext, message: Extract<SignedMessage, { type: Type }>) => void
} = { proposal: receiveProposal, prepare: receivePrepare, commit: receiveCommit, roundChange: receiveRoundChange }

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
const receiveOwnMessage = (ctx: StepContext, message: SignedMessage): void => {
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
