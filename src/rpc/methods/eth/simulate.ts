import { assert } from '@tandem/base/assert.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { SimulatedChainBlock } from '../../../chain/simulation-service.ts'
import { CALL_LIMITS, SIMULATE_LIMITS } from '../../../config/limits/clients.ts'
import type { CallMessage } from '../../../evm/calls/message/call-args.ts'
import { simulationLimit } from '../../../evm/calls/simulate/simulation-limits.ts'
import type { BlockCalls, SimulatedCall, SimulationRequest } from '../../../evm/calls/simulate/types.ts'
import { block } from '../../codecs/block.ts'
import { callMessageFromArgs, callObject } from '../../codecs/call.ts'
import { asArray, asObject, flagsOf, member, refuseMembers, within } from '../../codecs/object.ts'
import { blockOverrides, stateOverrides } from '../../codecs/overrides.ts'
import { invalidValue } from '../../codecs/scalars.ts'
import { booleans, listOf, SIMULATED_BLOCK_SCHEMA } from '../../codecs/schemas.ts'
import { blockJson } from '../../encode/block.ts'
import { jsonData, jsonQuantity } from '../../encode/hex.ts'
import { logJson } from '../../encode/log.ts'
import { CODES, RpcError, revertError } from '../../errors.ts'
import { type BlockRef, blockNumberOf } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec, optional } from '../../router/method-description.ts'
import { RawJson } from '../../router/raw-json.ts'

/** Argument of eth_simulateV1; the base block is a separate argument. */
interface SimulationArgs extends Omit<SimulationRequest, 'number' | 'pending'> {
  readonly returnFullTransactions: boolean
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
      ...booleans('validation', 'traceTransfers', 'returnFullTransactions'),
    },
  },
  value => {
    const object = asObject(value, 'ethapi.simOpts')
    return {
      blocks: member(object, 'blockStateCalls', parseBlocks) ?? invalidValue('blockStateCalls is missing'),
      ...flagsOf(object, 'validation', 'traceTransfers', 'returnFullTransactions'),
    }
  },
)

/** Converts a timeout to its own error code, which only the specification of this method has. */
const inItsWords = (error: unknown): unknown => {
  if (!isCoded(error) || error.code !== 'EXECUTION_TIMEOUT') return error
  return new RpcError(CODES.timeout, `execution aborted (timeout = ${CALL_LIMITS.timeoutMs / 1_000}s)`)
}

/** Encodes in time slices, so that a long response does not block others. */
const rendered = async (blocks: readonly SimulatedChainBlock[], full: boolean, client: string): Promise<RawJson> => {
  const texts: string[] = []
  for (const simulated of blocks) {
    await sliceOver(client)
    texts.push(await simulatedBlockJson(simulated, full, client))
  }
  return new RawJson(`[${texts.join(',')}]`)
}

const simulate = async (
  { simulations, view, client, cancellation }: Context,
  { returnFullTransactions, ...request }: SimulationArgs,
  at: BlockRef,
): Promise<RawJson> => {
  const number = await blockNumberOf(view, at)
  const pending = at === 'pending'
  try {
    const blocks = await simulations.run({ ...request, number, ...(pending && { pending }) }, client, cancellation)
    return await rendered(blocks, returnFullTransactions, client)
  } catch (error) {
    throw inItsWords(error)
  }
}

/** Executes blocks of calls on a state, off the main thread, bounded in blocks, calls, gas, time and bytes. */
export const ethSimulate = {
  eth_simulateV1: method({
    summary: 'Runs blocks of calls, one on the other, on the state after a block',
    params: [simulation, optional(block)],
    result: listOf(SIMULATED_BLOCK_SCHEMA),
    notes: `The block may be left out: latest. At most ${SIMULATE_LIMITS.blocks} blocks, gaps included, ${SIMULATE_LIMITS.calls} calls and ${CALL_LIMITS.gas} gas in all. Simulated blocks mint nothing and have no proposer; fees are shared and burnt as in any block.`,
    weight: 50,
    handler: (context, args, at = 'latest') => simulate(context, args, at),
  }),
} satisfies MethodTable

const errorMember = ({ failure, output }: SimulatedCall): string => {
  if (failure === null) return ''
  const { code, message, data } =
    failure.kind === 'revert' ? revertError(output) : { code: CODES.execution, message: failure.reason }
  return `,"error":${JSON.stringify({ code, message, data })}`
}

/** Logs encoded between looks at the clock: well below a millisecond. */
const LOGS_PER_LOOK = 64

/** Place of the first log of a call. */
type FirstLog = Parameters<typeof logJson>[1]

const callJson = async (call: SimulatedCall, first: FirstLog, client: string): Promise<string> => {
  const logs: string[] = []
  for (const [i, log] of call.logs.entries()) {
    if (i % LOGS_PER_LOOK === 0) await sliceOver(client)
    logs.push(logJson(log, { ...first, logIndex: first.logIndex + i }))
  }
  const returned = call.failure === null ? jsonData(call.output) : '"0x"'
  return `{"returnData":${returned},"logs":[${logs.join(',')}],"gasUsed":${jsonQuantity(call.gasUsed)},"maxUsedGas":${jsonQuantity(call.peakGas)},"status":"${call.failure === null ? '0x1' : '0x0'}"${errorMember(call)}}`
}

/** Simulated block: the block object, with the results of its transactions in `calls` (execution APIs, eth_simulateV1). */
const simulatedBlockJson = async (
  { block, calls }: SimulatedChainBlock,
  full: boolean,
  client: string,
): Promise<string> => {
  const { number: blockNumber, timestamp: blockTimestamp } = block.header
  const results: string[] = []
  let logIndex = 0
  for (const [transactionIndex, call] of calls.entries()) {
    const transactionHash = block.transactions[transactionIndex]?.hash
    assert(transactionHash !== undefined, 'a simulated call has its transaction')
    const place = { blockHash: block.hash, blockNumber, blockTimestamp, transactionHash, transactionIndex }
    results.push(await callJson(call, { ...place, logIndex }, client))
    logIndex += call.logs.length
  }
  return blockJson(block, full, 'final', `,"calls":[${results.join(',')}]`)
}
