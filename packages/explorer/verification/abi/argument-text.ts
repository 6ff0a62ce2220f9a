import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { checksumAddress } from '../../keccak.ts'
import type { AbiType } from './abi-types.ts'
import type { AbiValue } from './abi-values.ts'

/** The text of an argument is none of its type; the reason is for people. */
type ArgumentError = { readonly code: 'ARGUMENT_INVALID'; readonly reason: string }

const refuse = (reason: string): never => {
  throw new CodedError<ArgumentError>({ code: 'ARGUMENT_INVALID', reason })
}

/** Reason of a refused argument; undefined for any other error. */
export const argumentProblem = (error: unknown): string | undefined => {
  if (!(error instanceof CodedError) || error.code !== 'ARGUMENT_INVALID') return undefined
  return (error.detail as ArgumentError).reason
}

/** Value that a person wrote into a form: arrays and tuples as JSON arrays. Throws CodedError<ArgumentError>. */
export const parseArgument = (type: AbiType, text: string): AbiValue => {
  if (type.kind === 'string') return text
  const trimmed = text.trim()
  if (type.kind === 'array' || type.kind === 'tuple') return abiValueOf(type, parseJson(trimmed))
  return abiValueOf(type, trimmed)
}

/** Numbers stay as they were written: JSON's own lose digits. */
const parseJson = (text: string): unknown => {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ) => unknown
  try {
    return parse(text, (_key, value, { source }) => (typeof value === 'number' ? (source ?? String(value)) : value))
  } catch {
    return refuse('Write it as a JSON array, as [1, 2] or ["0x12…", true].')
  }
}

const abiValueOf = (type: AbiType, value: unknown): AbiValue => {
  if (type.kind === 'array') {
    const items = listOf(value)
    if (type.length !== undefined && items.length !== type.length)
      return refuse(`This array has ${type.length} entries, not ${items.length}.`)
    return items.map(item => abiValueOf(type.item, item))
  }
  if (type.kind === 'tuple') {
    const items = listOf(value)
    if (items.length !== type.items.length)
      return refuse(`This tuple has ${type.items.length} entries, not ${items.length}.`)
    return type.items.map((item, at) => abiValueOf(item, items[at]))
  }
  if (type.kind === 'word' && type.name === 'bool') return boolOf(value)
  if (typeof value !== 'string') return refuse('Write it as text or a number.')
  if (type.kind === 'word') return wordOf(type.name, value)
  return type.kind === 'string' ? value : hexOf(value, undefined)
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : refuse('Write it as a JSON array.')

const boolOf = (value: unknown): boolean => {
  if (value === true || value === 'true' || value === '1') return true
  return value === false || value === 'false' || value === '0' ? false : refuse('Write true or false.')
}

const hexOf = (text: string, bytes: number | undefined): string => {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(text)) return refuse('Write 0x and two hex digits for each byte.')
  if (bytes !== undefined && text.length !== 2 + 2 * bytes) return refuse(`Write 0x and ${2 * bytes} hex digits.`)
  return text.toLowerCase()
}

const wordOf = (name: string, text: string): string => {
  if (name === 'address') return addressOf(text)
  if (name === 'function') return hexOf(text, 24)
  if (name.startsWith('bytes')) return hexOf(text, Number(name.slice('bytes'.length)))
  return numberOf(name, text)
}

const addressOf = (text: string): string => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return refuse('An address has 0x and 40 hex digits.')
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && checksumAddress(text.toLowerCase() as Hex) !== text)
    return refuse('The checksum (EIP-55) is wrong: a digit differs. Copy the address again.')
  return text.toLowerCase()
}

const MAX_NUMBER_CHARS = 80

const numberOf = (name: string, text: string): string => {
  const isNumber = /^(-?[0-9]+|0x[0-9a-fA-F]+)$/.test(text) && text.length <= MAX_NUMBER_CHARS
  if (!isNumber) return refuse('Write a whole number, decimal or as 0x and hex digits.')
  const value = BigInt(text)
  const isSigned = name.startsWith('int')
  const bits = Number(name.slice(isSigned ? 'int'.length : 'uint'.length))
  const fits = (isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) === value
  return fits ? value.toString() : refuse(`This number is out of the range of ${name}.`)
}

/** Text of a decoded value: arrays and tuples in brackets. */
export const valueText = (value: AbiValue): string =>
  typeof value === 'object' ? `[${value.map(valueText).join(', ')}]` : String(value)
