import { SIMULATE_LIMITS } from '../../config/limits/clients.ts'
import type { CallMessage } from '../../evm/calls/message/call-args.ts'
import { simulationLimit } from '../../evm/calls/simulate/simulation-limits.ts'
import type { BlockCalls, SimulationRequest } from '../../evm/calls/simulate/types.ts'
import { type Codec, codec } from '../router/method-description.ts'
import { callMessageFromArgs, callObject } from './call.ts'
import { asArray, asObject, type JsonObject, member, within } from './object.ts'
import { blockOverrides, stateOverrides } from './overrides.ts'
import { BOOLEAN_SCHEMA, invalidValue, parseBoolean } from './scalars.ts'

/** Argument of eth_simulateV1; the base block is a separate argument. */
export interface SimulationArgs extends Omit<SimulationRequest, 'number' | 'pending'> {
  readonly returnFullTransactions: boolean
}

/**
 * Rejects members that would select a kind of transaction or block that this node does not simulate, instead of ignoring
 * them.
 */
const refuseMembers = (object: JsonObject, names: readonly string[], why: string): void => {
  for (const name of names)
    member(object, name, value => (Array.isArray(value) && value.length === 0 ? undefined : invalidValue(why)))
}

const parseCall = (value: unknown): CallMessage => {
  const object = asObject(value, 'ethapi.TransactionArgs')
  refuseMembers(object, ['blobVersionedHashes', 'blobs'], 'transactions with blobs are not simulated')
  return callMessageFromArgs(callObject.parse(object))
}

const parseOverrides = (value: unknown): BlockCalls['overrides'] => {
  refuseMembers(asObject(value, 'ethapi.BlockOverrides'), ['withdrawals'], 'withdrawals are not simulated')
  return blockOverrides.parse(value)
}

/** Returns a parser that limits the calls of all blocks together before it decodes them. */
const createCallsParser = () => {
  let left: number = SIMULATE_LIMITS.calls
  return (value: unknown): readonly CallMessage[] => {
    const calls = asArray(value, '[]ethapi.TransactionArgs')
    left -= calls.length
    if (left < 0) throw simulationLimit(`${SIMULATE_LIMITS.calls} calls`)
    return calls.map((call, i) => within(`[${i}]`, () => parseCall(call)))
  }
}

const parseBlocks = (value: unknown): readonly BlockCalls[] => {
  const blocks = asArray(value, '[]ethapi.simBlock')
  if (blocks.length === 0) return invalidValue('at least one block is needed')
  if (blocks.length > SIMULATE_LIMITS.blocks) throw simulationLimit(`${SIMULATE_LIMITS.blocks} blocks`)
  const parseCalls = createCallsParser()
  return blocks.map((block, i) =>
    within(`[${i}]`, () => {
      const object = asObject(block, 'ethapi.simBlock')
      return {
        overrides: member(object, 'blockOverrides', parseOverrides) ?? {},
        state: member(object, 'stateOverrides', stateOverrides.parse) ?? {},
        calls: member(object, 'calls', parseCalls) ?? [],
      }
    }),
  )
}

/** Decodes `blockStateCalls` and the flags. Throws InvalidArgument and SIMULATION_LIMIT. */
export const simulation: Codec<SimulationArgs> = codec(
  'simulation',
  {
    type: 'object',
    required: ['blockStateCalls'],
    properties: {
      blockStateCalls: {
        type: 'array',
        minItems: 1,
        maxItems: SIMULATE_LIMITS.blocks,
        items: {
          type: 'object',
          properties: {
            blockOverrides: blockOverrides.schema,
            stateOverrides: stateOverrides.schema,
            calls: { type: 'array', maxItems: SIMULATE_LIMITS.calls, items: callObject.schema },
          },
        },
      },
      validation: BOOLEAN_SCHEMA,
      traceTransfers: BOOLEAN_SCHEMA,
      returnFullTransactions: BOOLEAN_SCHEMA,
    },
  },
  value => {
    const object = asObject(value, 'ethapi.simOpts')
    const flag = (name: string): boolean => member(object, name, parseBoolean) ?? false
    return {
      blocks: member(object, 'blockStateCalls', parseBlocks) ?? invalidValue('blockStateCalls is missing'),
      validation: flag('validation'),
      traceTransfers: flag('traceTransfers'),
      returnFullTransactions: flag('returnFullTransactions'),
    }
  },
)
