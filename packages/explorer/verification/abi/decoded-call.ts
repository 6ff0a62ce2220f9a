import { concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { type AbiFunction, abiEntries } from './abi-types.ts'
import { type AbiValue, decodeParameters } from './abi-values.ts'

/** A call or a log with the names of a verified contract. */
interface DecodedCall {
  readonly signature: string
  readonly args: readonly { readonly name: string; readonly type: string; readonly value: AbiValue }[]
}

const SELECTOR_BYTES = 4

const named = ({ signature, inputs }: AbiFunction, values: readonly AbiValue[]): DecodedCall => ({
  signature,
  args: inputs.map(({ name, text }, index) => ({ name, type: text, value: values[index] as AbiValue })),
})

/** Decodes calldata; undefined when the contract has no such function, or the data is none of its. */
export const decodeCallByAbi = (abi: readonly unknown[], data: Uint8Array): DecodedCall | undefined => {
  const selector = Buffer.from(data.subarray(0, SELECTOR_BYTES)).toString('hex')
  if (data.length < SELECTOR_BYTES) return undefined
  for (const [hash, entry] of abiEntries(abi, 'function')) {
    if (!hash.startsWith(`0x${selector}`)) continue
    const types = entry.inputs.map(({ type }) => type)
    const values = decodeParameters(types, data.subarray(SELECTOR_BYTES))
    return values && named(entry, values)
  }
  return undefined
}

interface LogData {
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** Decodes a log; of an indexed text, bytes, array or tuple the log has the hash alone. */
export const decodeLogByAbi = (abi: readonly unknown[], { topics, data }: LogData): DecodedCall | undefined => {
  const [hash, ...indexedTopics] = topics
  const entry = hash && abiEntries(abi, 'event').get(hash)
  if (!entry || entry.inputs.filter(({ indexed }) => indexed).length !== indexedTopics.length) return undefined
  const indexedTypes = entry.inputs
    .filter(({ indexed }) => indexed)
    .map(({ type }) => (type.kind === 'word' ? type : ({ kind: 'word', name: 'bytes32' } as const)))
  const plainTypes = entry.inputs.filter(({ indexed }) => !indexed).map(({ type }) => type)
  const fromTopics = decodeParameters(indexedTypes, concatBytes(...indexedTopics.map(hexToBytes)))
  const fromData = decodeParameters(plainTypes, data)
  if (fromTopics === undefined || fromData === undefined) return undefined
  const [topicValues, dataValues] = [fromTopics[Symbol.iterator](), fromData[Symbol.iterator]()]
  const values = entry.inputs.map(({ indexed }) => (indexed ? topicValues : dataValues).next().value as AbiValue)
  return named(entry, values)
}
