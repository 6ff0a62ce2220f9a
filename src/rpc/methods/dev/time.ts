import { toQuantity } from '@tandem/base/bytes.ts'
import { count, enabled, gasLimit, intervalMs, mineArgs, seconds, timestamp } from '../../codecs/dev.ts'
import { BOOLEAN_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import type { MethodTable } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { devMethod, nullCommand, trueCommand } from './dev-method.ts'

const OFFSET_SCHEMA = { type: 'integer' }

/** Values below the shortest interval can only be seconds, as anvil's clients send them. */
const SHORTEST_MS = 50
/** Above this a wall-clock time is in milliseconds, below it in seconds. */
const MILLISECONDS_FROM = 1e11

/** Snapshots, blocks and time; results have the form of anvil's, whose clients check them. */
export const evm = {
  evm_snapshot: devMethod({
    summary: 'Takes a snapshot of the chain; returns its id for evm_revert',
    result: QUANTITY_SCHEMA,
    handler: async ({ dev }) => toQuantity(await dev.snapshot()),
  }),
  evm_revert: devMethod({
    summary: 'Goes back to a snapshot, which is gone then with all taken after it; false where there is none',
    params: [count],
    result: BOOLEAN_SCHEMA,
    notes: 'Restores blocks, state, pool and time; snapshots end with the process.',
    handler: ({ dev }, id) => dev.revert(id),
  }),
  evm_mine: devMethod({
    summary: 'Makes a block at once, or as many as the options say',
    params: [optional(mineArgs)],
    result: { const: '0x0' },
    handler: async ({ dev, cancellation }, options) => {
      await dev.mine({ blocks: options?.blocks ?? 1, timestamp: options?.timestamp, cancellation })
      return '0x0'
    },
  }),
  evm_increaseTime: devMethod({
    summary: 'Moves the time forward; returns the total seconds by which it is ahead',
    params: [seconds],
    result: OFFSET_SCHEMA,
    handler: ({ dev }, by) => dev.increaseTime(by),
  }),
  evm_setTime: devMethod({
    summary: 'Sets the time, in seconds or milliseconds; returns the seconds by which it is ahead',
    params: [timestamp],
    result: OFFSET_SCHEMA,
    handler: ({ dev }, at) => dev.setTime(at >= MILLISECONDS_FROM ? at : at * 1_000),
  }),
  evm_setNextBlockTimestamp: nullCommand({
    summary: 'Sets the timestamp of the next block; the time continues from there',
    params: [timestamp],
    handler: ({ dev }, at) => dev.setNextTimestamp(at),
  }),
  evm_setAutomine: nullCommand({
    summary: 'Whether each transaction gets a block at once',
    params: [enabled],
    handler: ({ dev }, automine) => dev.setMode({ automine }),
  }),
  evm_setIntervalMining: nullCommand({
    summary: 'Makes a block each so many milliseconds; 0 ends that',
    params: [intervalMs],
    notes: `Numbers below ${SHORTEST_MS} are seconds. The middle of a range is used. Without automine and interval, blocks are made on request.`,
    handler: ({ dev }, interval) => dev.setMode({ intervalMs: interval < SHORTEST_MS ? interval * 1_000 : interval }),
  }),
  evm_setBlockGasLimit: trueCommand({
    summary: 'Sets the gas limit of the blocks from the next on',
    params: [gasLimit],
    handler: ({ dev }, gasLimit) => dev.setGasLimit(gasLimit),
  }),
} satisfies MethodTable

/** Methods of `evm` under anvil's names, and those only anvil has. */
export const anvilTime = {
  anvil_snapshot: evm.evm_snapshot,
  anvil_revert: evm.evm_revert,
  anvil_increaseTime: evm.evm_increaseTime,
  anvil_setTime: evm.evm_setTime,
  anvil_setNextBlockTimestamp: evm.evm_setNextBlockTimestamp,
  anvil_setAutomine: evm.evm_setAutomine,
  anvil_setBlockGasLimit: evm.evm_setBlockGasLimit,
  anvil_setIntervalMining: nullCommand({
    summary: 'Makes a block each so many seconds; 0 ends that',
    params: [seconds],
    handler: ({ dev }, interval) => dev.setMode({ intervalMs: interval * 1_000 }),
  }),
  anvil_setBlockTimestampInterval: nullCommand({
    summary: 'From now on each block lies so many seconds after the one before',
    params: [seconds],
    handler: ({ dev }, interval) => dev.setTimestampInterval(interval),
  }),
  anvil_removeBlockTimestampInterval: devMethod({
    summary: 'Ends anvil_setBlockTimestampInterval; false where there was none',
    result: BOOLEAN_SCHEMA,
    handler: ({ dev }) => dev.setTimestampInterval(undefined),
  }),
} satisfies MethodTable
