import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { SimulatedChainBlock } from '../../../chain/simulation-service.ts'
import { CALL_LIMITS, SIMULATE_LIMITS } from '../../../config/limits/clients.ts'
import { block } from '../../codecs/block.ts'
import { listOf, SIMULATED_BLOCK_SCHEMA } from '../../codecs/schemas.ts'
import { type SimulationArgs, simulation } from '../../codecs/simulation.ts'
import { simulatedBlockJson } from '../../encode/simulation.ts'
import { CODES, RpcError } from '../../errors.ts'
import { type BlockRef, blockNumberOf } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { RawJson } from '../../router/raw-json.ts'

/** Converts a timeout to its own error code, which only the specification of this method has. */
const inItsWords = (error: unknown): unknown => {
  if (!isCoded(error) || error.code !== 'EXECUTION_TIMEOUT') return error
  return new RpcError(CODES.timeout, `execution aborted (timeout = ${CALL_LIMITS.timeoutMs / 1_000}s)`)
}

/** Encodes block by block, so that a long response does not block others. */
const rendered = async (blocks: readonly SimulatedChainBlock[], full: boolean, client: string): Promise<RawJson> => {
  const texts: string[] = []
  for (const simulated of blocks) {
    await sliceOver(client)
    texts.push(simulatedBlockJson(simulated, full))
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
