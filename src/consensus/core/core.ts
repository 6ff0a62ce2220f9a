import { assert } from '../../util/assert.ts'
import { FutureBuffer } from './future-buffer.ts'
import { onRequest, onTimeout, openHeight, resumeHeight } from './height.ts'
import { onVerdict } from './proposals.ts'
import { onBuildFailed, onBuilt } from './propose.ts'
import { receive, receiveOwn } from './receive.ts'
import { statusOf } from './status.ts'
import type { CoreConfig, CoreState, Effect, HeightState, Input, Turn } from './types.ts'

/** A core that has no height yet. */
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
 * The consensus of one node: QBFT with the differences of reference/consensus.md 0 and 1. No time, no signatures, no input or
 * output: they come in as inputs and go out as effects, to be carried out in order, so a simulator runs exactly this code.
 * Deterministic; `state` is changed in place and answered again.
 */
export const step = (
  state: CoreState,
  input: Input,
): { readonly state: CoreState; readonly effects: readonly Effect[] } => {
  const effects: Effect[] = []
  const turn = (height: HeightState): Turn => ({
    config: state.config,
    future: state.future,
    height,
    nowMs: input.nowMs,
    out: effects,
  })
  if (input.type === 'newHeight') openNext(state, input, turn)
  else if (input.type === 'leave') state.height = null
  else if (state.height !== null) dispatch(turn(state.height), input)
  return { state, effects }
}

type NewHeight = Extract<Input, { type: 'newHeight' }>
type OfHeight = Exclude<Input, { type: 'newHeight' | 'leave' }>

const openNext = (state: CoreState, { config, records }: NewHeight, turnOf: (height: HeightState) => Turn): void => {
  assert(config.number > (state.height?.config.number ?? 0), 'heights open in order')
  const helper = state.height?.learntFrom ?? null
  state.height = openHeight(config, records)
  const turn = turnOf(state.height)
  if (helper !== null) turn.out.push({ type: 'send', to: helper, message: statusOf(state.height) })
  resumeHeight(turn)
  for (const message of state.future.take(config.number)) receive(turn, message, '')
}

const dispatch = (turn: Turn, input: OfHeight): void => {
  switch (input.type) {
    case 'request':
      onRequest(turn)
      return
    case 'message':
      receive(turn, input.message, input.from)
      return
    case 'signed':
      receiveOwn(turn, input.message)
      return
  }
  // Answers to what an earlier height asked for come too late.
  if (input.number !== turn.height.config.number) return
  switch (input.type) {
    case 'built':
      onBuilt(turn, input.round, input.block)
      return
    case 'buildFailed':
      onBuildFailed(turn, input.round)
      return
    case 'verdict':
      onVerdict(turn, input.blockHash, input.verdict)
      return
    case 'timeout':
      onTimeout(turn, input.timer, input.round, input.isolated ?? false)
      return
  }
}
