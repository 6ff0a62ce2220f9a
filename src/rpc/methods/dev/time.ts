import { toQuantity } from '@tandem/base/bytes.ts'
import { count, enabled, gasLimit, intervalMs, mineArgs, seconds, timestamp } from '../../codecs/dev.ts'
import { BOOLEAN_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { NULL_SCHEMA } from '../../codecs/schemas.ts'
import { devMethod, type MethodTable } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { devFromContext } from './dev-namespace.ts'

const OFFSET_SCHEMA = { type: 'integer' }
const TRUE_SCHEMA = { const: true }

/** Values below the shortest interval can only be seconds, as anvil's clients send them. */
const SHORTEST_MS = 50
/** Above this a wall-clock time is in milliseconds, below it in seconds. */
const MILLISECONDS_FROM = 1e11

/** Snapshots, blocks and time; results have the form of anvil's, whose clients check them. */
export const evm = {
  evm_snapshot: devMethod({
    summary: 'Takes a snapshot of the chain; returns its id for evm_revert',
    params: [],
    result: QUANTITY_SCHEMA,
    handler: async context => toQuantity(await devFromContext(context).snapshot()),
  }),
  evm_revert: devMethod({
    summary: 'Goes back to a snapshot, which is gone then with all taken after it; false where there is none',
    params: [count],
    result: BOOLEAN_SCHEMA,
    notes: 'Restores blocks, state, pool and time; snapshots end with the process.',
    handler: (context, id) => devFromContext(context).revert(id),
  }),
  evm_mine: devMethod({
    summary: 'Makes a block at once, or as many as the options say',
    params: [optional(mineArgs)],
    result: { const: '0x0' },
    handler: async (context, options) => {
      await devFromContext(context).mine({
        blocks: options?.blocks ?? 1,
        timestamp: options?.timestamp,
        cancellation: context.cancellation,
      })
      return '0x0'
    },
  }),
  evm_increaseTime: devMethod({
    summary: 'Moves the time forward; returns the total seconds by which it is ahead',
    params: [seconds],
    result: OFFSET_SCHEMA,
    handler: (context, by) => devFromContext(context).increaseTime(by),
  }),
  evm_setTime: devMethod({
    summary: 'Sets the time, in seconds or milliseconds; returns the seconds by which it is ahead',
    params: [timestamp],
    result: OFFSET_SCHEMA,
    handler: (context, at) => devFromContext(context).setTime(at >= MILLISECONDS_FROM ? at : at * 1_000),
  }),
  evm_setNextBlockTimestamp: devMethod({
    summary: 'Sets the timestamp of the next block; the time continues from there',
    params: [timestamp],
    result: NULL_SCHEMA,
    handler: async (context, at) => {
      await devFromContext(context).setNextTimestamp(at)
      return null
    },
  }),
  evm_setAutomine: devMethod({
    summary: 'Whether each transaction gets a block at once',
    params: [enabled],
    result: NULL_SCHEMA,
    handler: (context, automine) => {
      devFromContext(context).setMode({ automine })
      return null
    },
  }),
  evm_setIntervalMining: devMethod({
    summary: 'Makes a block each so many milliseconds; 0 ends that',
    params: [intervalMs],
    result: NULL_SCHEMA,
    notes: `Numbers below ${SHORTEST_MS} are seconds. The middle of a range is used. Without automine and interval, blocks are made on request.`,
    handler: (context, interval) => {
      devFromContext(context).setMode({ intervalMs: interval < SHORTEST_MS ? interval * 1_000 : interval })
      return null
    },
  }),
  evm_setBlockGasLimit: devMethod({
    summary: 'Sets the gas limit of the blocks from the next on',
    params: [gasLimit],
    result: TRUE_SCHEMA,
    handler: (context, gasLimit) => {
      devFromContext(context).setGasLimit(gasLimit)
      return true
    },
  }),
} satisfies MethodTable

/** The same methods under anvil's names, and those only anvil has. */
export const anvilTime = {
  anvil_snapshot: evm.evm_snapshot,
  anvil_revert: evm.evm_revert,
  anvil_increaseTime: evm.evm_increaseTime,
  anvil_setTime: evm.evm_setTime,
  anvil_setNextBlockTimestamp: evm.evm_setNextBlockTimestamp,
  anvil_setAutomine: evm.evm_setAutomine,
  anvil_setBlockGasLimit: evm.evm_setBlockGasLimit,
  anvil_setIntervalMining: devMethod({
    summary: 'Makes a block each so many seconds; 0 ends that',
    params: [seconds],
    result: NULL_SCHEMA,
    handler: (context, interval) => {
      devFromContext(context).setMode({ intervalMs: interval * 1_000 })
      return null
    },
  }),
  anvil_setBlockTimestampInterval: devMethod({
    summary: 'From now on each block lies so many seconds after the one before',
    params: [seconds],
    result: NULL_SCHEMA,
    handler: (context, interval) => {
      devFromContext(context).setTimestampInterval(interval)
      return null
    },
  }),
  anvil_removeBlockTimestampInterval: devMethod({
    summary: 'Ends anvil_setBlockTimestampInterval; false where there was none',
    params: [],
    result: BOOLEAN_SCHEMA,
    handler: context => devFromContext(context).setTimestampInterval(undefined),
  }),
} satisfies MethodTable
