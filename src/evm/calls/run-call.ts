import { copyBytes } from '@tandem/base/bytes.ts'
import { findAccessList } from './access-list.ts'
import { findGasEstimate } from './estimate-gas.ts'
import {
  type CallContext,
  callFailureError,
  callGas,
  checkValue,
  prepareCall,
  runCall,
} from './message/call-message.ts'
import type { AccessListResult, CallRequest, CallResult } from './types.ts'

/** Read-only execution on a state, as `CallService` runs it in its workers. Errors are CodedError<CallError>. */
export const call = async (context: CallContext, request: CallRequest): Promise<CallResult> => {
  const prepared = await prepareCall(context, request)
  const gas = callGas(request.message)
  checkValue(prepared)
  const outcome = await runCall(prepared, gas)
  if (outcome.failure !== null) throw callFailureError(outcome)
  return { output: copyBytes(outcome.output), gasUsed: outcome.gasUsed }
}

export const estimateGas = async (context: CallContext, request: CallRequest): Promise<bigint> =>
  findGasEstimate(await prepareCall(context, request))

export const createAccessList = async (context: CallContext, request: CallRequest): Promise<AccessListResult> =>
  findAccessList(await prepareCall(context, request))
