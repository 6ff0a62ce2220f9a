import { bytesToBigint, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { commonErrorAbi, panicText } from '@tandem/base/solidity-errors.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { FailedExecution } from '../../store/records.ts'
import { type AbiFunction, abiEntries } from './abi-types.ts'
import { decodeParameters } from './abi-values.ts'
import { valueText } from './argument-text.ts'

let commonEntries: ReadonlyMap<Hex, AbiFunction> | undefined
const common = (): ReadonlyMap<Hex, AbiFunction> => {
  commonEntries ??= abiEntries(commonErrorAbi(), 'error')
  return commonEntries
}

const SELECTOR_BYTES = 4
const TEXT_CHARS = 4_096

/** Text of an error that an ABI declares; undefined when none has the selector or the values do not fit. */
export const customErrorText = (entries: ReadonlyMap<Hex, AbiFunction>, data: Uint8Array): string | undefined => {
  if (data.byteLength < SELECTOR_BYTES) return undefined
  const selector = bytesToHex(data.subarray(0, SELECTOR_BYTES))
  for (const [hash, { name, inputs }] of entries) {
    if (!hash.startsWith(selector)) continue
    const values = decodeParameters(
      inputs.map(({ type }) => type),
      data.subarray(SELECTOR_BYTES),
    )
    if (values !== undefined) return `${name}(${values.map(valueText).join(', ')})`.slice(0, TEXT_CHARS)
  }
  return undefined
}

const ERROR_SELECTOR = '0x08c379a0'
const PANIC_SELECTOR = '0x4e487b71'

/** Text of `Error(string)` or `Panic(uint256)`; undefined for anything else. */
export const revertReason = (data: Uint8Array): string | undefined => {
  const [selector, values] = [bytesToHex(data.subarray(0, SELECTOR_BYTES)), data.subarray(SELECTOR_BYTES)]
  if (selector === ERROR_SELECTOR) return decodeParameters([{ kind: 'string' }], values)?.[0] as string | undefined
  if (selector !== PANIC_SELECTOR) return undefined
  const code = decodeParameters([{ kind: 'word', name: 'uint256' }], values)?.[0] as string | undefined
  return code && panicText(BigInt(code))
}

/** Selector, offset and length. */
const ERROR_HEAD_BYTES = 68

/** Beginning of a text that was longer than what is kept. */
const cutText = (output: Uint8Array): string | undefined => {
  if (output.byteLength < EXPLORER_LIMITS.node.failureBytes) return undefined
  if (bytesToHex(output.subarray(0, SELECTOR_BYTES)) !== ERROR_SELECTOR) return undefined
  if (bytesToBigint(output.subarray(SELECTOR_BYTES, SELECTOR_BYTES + 32)) !== 32n) return undefined
  // `stream`: a character that is cut is left out.
  return `${new TextDecoder().decode(output.subarray(ERROR_HEAD_BYTES), { stream: true })}…`
}

/**
 * Cause of a failure as people read it: the text of a revert, an error of the ABI or of a common library, the selector of another one, or why
 * code stopped.
 */
export const failureText = (
  { error, output }: Pick<FailedExecution, 'error' | 'output'>,
  abi: readonly unknown[] | undefined,
): string => {
  if (output.byteLength === 0) return error
  return (
    revertReason(output) ??
    cutText(output) ??
    (abi && customErrorText(abiEntries(abi, 'error'), output)) ??
    customErrorText(common(), output) ??
    (output.byteLength < SELECTOR_BYTES ? error : `custom error ${bytesToHex(output.subarray(0, SELECTOR_BYTES))}`)
  )
}
