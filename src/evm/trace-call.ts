import { nextNonce } from '../util/nonce.ts'
import { delegationTarget } from './authorizations.ts'
import {
  callError,
  callGas,
  callIntrinsicGas,
  callMinimumGas,
  checkValue,
  type PreparedCall,
  settleCall,
  targetOf,
} from './call-message.ts'
import type { Engine } from './engine.ts'
import type { TraceHooks } from './tracers/tracer.ts'

/**
 * Runs a call as if it stood in a block, under a tracer. As for `eth_call` no fee is charged, but the nonce is raised. Throws
 * INSUFFICIENT_BALANCE_FOR_TRANSFER, INTRINSIC_GAS_TOO_LOW; an interrupt comes through as it is.
 */
export const traceCall = async (call: PreparedCall, tracingEngine: Engine, hooks: TraceHooks): Promise<void> => {
  const { context, env, rules, moves, journal, message } = call
  const { from, to, value, data } = message
  const { interrupt, prefetch } = context
  const gas = callGas(message)
  checkValue(call, gas)
  const minimum = callMinimumGas(call)
  if (gas < minimum) throw callError({ code: 'INTRINSIC_GAS_TOO_LOW', have: gas, want: minimum })
  const target = targetOf(call)
  for (const address of [target, env.miner]) await prefetch?.code(address)
  const delegate = delegationTarget(journal.code(target))
  if (delegate !== undefined) await prefetch?.code(delegate)
  hooks.tracer.begin?.(
    {
      from,
      to: target,
      isCreation: to === null,
      gasLimit: gas,
      coinbase: env.miner,
      authorities: [],
      precompiles: rules.precompiles,
      blockNumber: env.number,
      blockHash: null,
      hash: null,
      index: 0,
    },
    journal,
  )
  journal.setNonce(from, nextNonce(journal.nonce(from)))
  const intrinsic = callIntrinsicGas(call)
  const result = await tracingEngine.run(
    journal,
    env,
    { from, to, value, data, gas: gas - intrinsic, gasPrice: call.gasPrice, accessList: call.accessList },
    { ...(interrupt && { interrupt }), ...(prefetch && { prefetch }), ...(moves && { moves }), trace: hooks },
  )
  for (const address of result.destroyed) journal.deleteAccount(address)
  if (rules.sweepsEmpty) journal.sweepTouched()
  hooks.tracer.end?.({ gasUsed: settleCall(call, result).gasUsed })
}
