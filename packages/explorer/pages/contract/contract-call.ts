import { bytesToHex, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { askNode } from '../../chain/node-rpc.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { abiEntries, type ContractFunction } from '../../verification/abi/abi-types.ts'
import { type AbiValue, decodeParameters, encodeParameters } from '../../verification/abi/abi-values.ts'
import { valueText } from '../../verification/abi/argument-text.ts'
import { customErrorText, revertReason } from '../../verification/abi/failure-text.ts'
import type { PageContext } from '../page-route.ts'

/** Value that a function returned, as its text. */
interface ReturnedValue {
  readonly name: string
  readonly type: string
  readonly text: string
}

type CallOutcome =
  | { readonly kind: 'returned'; readonly values: readonly ReturnedValue[] }
  /** The contract refused, the answer is none of the ABI, or the node failed. */
  | { readonly kind: 'failed'; readonly reason: string }

const { answerChars } = EXPLORER_LIMITS.contract

export const calldataOf = ({ selector, inputs }: ContractFunction, values: readonly AbiValue[]): Hex =>
  bytesToHex(
    concatBytes(
      hexToBytes(selector),
      encodeParameters(
        inputs.map(({ type }) => type),
        values,
      ),
    ),
  )

interface Call {
  readonly address: Hex
  readonly entry: ContractFunction
  readonly values: readonly AbiValue[]
  readonly gas: number
  /** ABI with the errors of the contract. */
  readonly abi: readonly unknown[]
}

const HEX = /^0x([0-9a-f]{2})*$/

/** Runs a function on the head's state, and decodes what it returns. */
export const runFunction = async (
  { node }: Pick<PageContext, 'node'>,
  { address, entry, values, gas, abi }: Call,
): Promise<CallOutcome> => {
  const params = [{ to: address, data: calldataOf(entry, values), gas: `0x${gas.toString(16)}` }, 'latest']
  const answer = await askNode(node, 'eth_call', params)
  if (answer === undefined || answer.length > answerChars)
    return { kind: 'failed', reason: 'The answer is too long for a page.' }
  const { result, error } = JSON.parse(answer) as {
    readonly result?: unknown
    readonly error?: { readonly message?: unknown; readonly data?: unknown }
  }
  if (typeof result === 'string' && HEX.test(result)) return returned(entry, result as Hex)
  return { kind: 'failed', reason: failureText(abi, error) }
}

const returned = ({ outputs }: ContractFunction, result: Hex): CallOutcome => {
  if (outputs.length === 0) return { kind: 'returned', values: [] }
  const data = hexToBytes(result)
  const values = decodeParameters(
    outputs.map(({ type }) => type),
    data,
  )
  if (values === undefined)
    return {
      kind: 'failed',
      reason: data.length === 0 ? 'It returned nothing.' : 'It returned something else than its ABI says.',
    }
  return {
    kind: 'returned',
    values: outputs.map(({ name, text }, at) => ({ name, type: text, text: valueText(values[at] as AbiValue) })),
  }
}

const failureText = (
  abi: readonly unknown[],
  error: { readonly message?: unknown; readonly data?: unknown } | undefined,
): string => {
  const message = typeof error?.message === 'string' ? error.message : 'The node gave no answer.'
  if (typeof error?.data !== 'string' || !HEX.test(error.data)) return message
  const data = hexToBytes(error.data as Hex)
  return revertReason(data) ?? customErrorText(abiEntries(abi, 'error'), data) ?? message
}
