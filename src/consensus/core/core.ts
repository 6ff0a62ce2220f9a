import { assert } from '@tandem/base/assert.ts'
import { onRequest, onTimeout, openHeight, resumeHeight } from './height.ts'
import { FutureBuffer } from './messages/future-buffer.ts'
import { onValidated } from './messages/proposals.ts'
import { receiveMessage, receiveOwnMessage } from './messages/receive.ts'
import { onBuildFailed, onBuilt } from './propose.ts'
import { statusFromHeight } from './status.ts'
import type { CoreConfig, CoreState, Effect, HeightState, Input, StepContext } from './types.ts'

/** Creates a core without an open height. */
export const createCore = (config: CoreConfig): CoreState => ({
  config,
  height: null,
  future: new FutureBuffer({
    heights: config.futureHeights,
    rounds: config.futureRounds,
    messages: config.bufferedMessages,
    bodies: config.heldBlocks,
  }),
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
