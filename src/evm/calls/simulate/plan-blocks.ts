import { CodedError } from '@tandem/base/errors.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import { SIMULATE_LIMITS } from '../../../config/limits/clients.ts'
import type { CallError } from '../../engine.ts'
import type { BlockCalls, BlockSlot } from './types.ts'

const LATEST = Number.MAX_SAFE_INTEGER

const refuse = (detail: CallError) => new CodedError<CallError>(detail)

/**
 * Plans numbers and times of the simulated blocks: consecutive, `stepSeconds` apart, with empty blocks before a given number.
 * Throws SIMULATION_NUMBER_ORDER, SIMULATION_TIME_ORDER and SIMULATION_LIMIT.
 */
export const planBlocks = (
  base: { readonly number: number; readonly timestamp: number },
  blocks: readonly BlockCalls[],
  stepSeconds: number,
): readonly BlockSlot[] => {
  const limit = SIMULATE_LIMITS.blocks
  const places: BlockSlot[] = []
  let { number: previous, timestamp: time } = base
  const put = (timestamp: Uint64, calls: BlockCalls | null): void => {
    if (typeof timestamp === 'bigint' || timestamp > LATEST)
      throw refuse({ code: 'SIMULATION_LIMIT', what: `a time of ${LATEST}` })
    if (timestamp <= time) throw refuse({ code: 'SIMULATION_TIME_ORDER', timestamp, previous: time })
    previous++
    time = timestamp
    places.push({ number: previous, timestamp, calls })
  }
  for (const block of blocks) {
    const { number = previous + 1, timestamp } = block.overrides
    if (typeof number === 'bigint' || number - base.number > limit)
      throw refuse({ code: 'SIMULATION_LIMIT', what: `${limit} blocks` })
    if (number <= previous) throw refuse({ code: 'SIMULATION_NUMBER_ORDER', number, previous })
    while (previous + 1 < number) put(time + stepSeconds, null)
    put(timestamp ?? time + stepSeconds, block)
  }
  return places
}
