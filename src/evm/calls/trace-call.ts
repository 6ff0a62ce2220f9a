import { delegationTarget } from '../../primitives/transaction/delegation.ts'
import type { TraceHooks } from '../tracer.ts'
import {
  applyCallNonce,
  callError,
  callGas,
  callMinimumGas,
  callRecipient,
  checkValue,
  type PreparedCall,
  settleCall,
} from './message/call-message.ts'

/** Traces a call as a transaction: no fee, but a nonce. Throws INSUFFICIENT_BALANCE_FOR_TRANSFER, INTRINSIC_GAS_TOO_LOW. */
export const traceCall = async (call: PreparedCall, hooks: TraceHooks): Promise<void> => {
  const { context, env, rules, moves, journal, message } = call
  const { from, to } = message
  const { interrupt, prefetch } = context
  const gas = callGas(message)
  checkValue(call)
  const minimum = callMinimumGas(call)
  if (gas < minimum) throw callError({ code: 'INTRINSIC_GAS_TOO_LOW', have: gas, want: minimum })
  const target = callRecipient(call)
  for (const address of [from, target, env.miner]) await prefetch?.code(address)
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
      logsBefore: 0,
    },
    journal,
  )
  const begun = applyCallNonce(call, gas)
  const result = await context.engine.run(journal, env, begun.message, { interrupt, prefetch, moves, trace: hooks })
  for (const address of result.destroyed) journal.deleteAccount(address)
  if (rules.sweepsEmpty) journal.sweepTouched()
  hooks.tracer.end?.({ gasUsed: settleCall(call, { ...result, refund: result.refund + begun.refund }, gas).gasUsed })
}
