import type { Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { keccak256Hex } from '../../keccak.ts'

/** A type of the contract ABI. */
export type AbiType =
  | { readonly kind: 'word'; readonly name: string }
  | { readonly kind: 'bytes' | 'string' }
  | { readonly kind: 'array'; readonly item: AbiType; readonly length: number | undefined }
  | { readonly kind: 'tuple'; readonly items: readonly AbiType[] }

/** A named parameter of a function, event or constructor. */
interface AbiParameter {
  readonly name: string
  /** As in a signature: tuples in parentheses. */
  readonly text: string
  readonly type: AbiType
  readonly indexed: boolean
}

export interface AbiFunction {
  readonly name: string
  readonly signature: string
  readonly inputs: readonly AbiParameter[]
}

const MAX_DEPTH = 12
const MAX_PARAMETERS = 256
const MAX_LENGTH = 1_000_000

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Parameters of an ABI entry; undefined when a type is unknown or nested too deep. */
const abiParameters = (list: unknown, depth = 0): readonly AbiParameter[] | undefined => {
  if (!Array.isArray(list) || list.length > MAX_PARAMETERS || depth > MAX_DEPTH) return undefined
  const parameters: AbiParameter[] = []
  for (const entry of list as readonly unknown[]) {
    if (!isRecord(entry) || typeof entry['type'] !== 'string') return undefined
    const parsed = parseType(entry['type'], entry['components'], depth)
    if (parsed === undefined) return undefined
    const { name } = entry
    parameters.push({ name: typeof name === 'string' ? name : '', indexed: entry['indexed'] === true, ...parsed })
  }
  return parameters
}

const ARRAY = /^(.*)\[([0-9]{0,7})\]$/s
/** Types of one word. */
const WORDS: ReadonlySet<string> = new Set([
  'address',
  'bool',
  'function',
  ...Array.from({ length: 32 }, (_, index) => [
    `uint${8 * (index + 1)}`,
    `int${8 * (index + 1)}`,
    `bytes${index + 1}`,
  ]).flat(),
])

const parseType = (
  text: string,
  components: unknown,
  depth: number,
): { readonly text: string; readonly type: AbiType } | undefined => {
  if (depth > MAX_DEPTH) return undefined
  const array = ARRAY.exec(text)
  if (array !== null) {
    const item = parseType(array[1] as string, components, depth + 1)
    const length = array[2] === '' ? undefined : Number(array[2])
    if (item === undefined || (length ?? 0) > MAX_LENGTH) return undefined
    return { text: `${item.text}[${array[2]}]`, type: { kind: 'array', item: item.type, length } }
  }
  if (text === 'tuple') {
    const items = abiParameters(components, depth + 1)
    if (items === undefined) return undefined
    return {
      text: `(${items.map(item => item.text).join(',')})`,
      type: { kind: 'tuple', items: items.map(({ type }) => type) },
    }
  }
  if (text === 'bytes' || text === 'string') return { text, type: { kind: text } }
  return WORDS.has(text) ? { text, type: { kind: 'word', name: text } } : undefined
}

/** Types of the constructor's parameters: none without a constructor; undefined when one is unknown. */
export const constructorTypes = (abi: readonly unknown[]): readonly AbiType[] | undefined =>
  constructorParameters(abi)?.map(({ type }) => type)

type AbiKind = 'function' | 'event' | 'error'

/** Entries of ABIs that are in use: a transaction may have a thousand logs of a contract with thousands of events. */
const entriesOf: Readonly<Record<AbiKind, WeakMap<readonly unknown[], ReadonlyMap<Hex, AbiFunction>>>> = {
  function: new WeakMap(),
  event: new WeakMap(),
  error: new WeakMap(),
}

/** Functions, events or errors of an ABI by the hash of their signature. */
export const abiEntries = (abi: readonly unknown[], kind: AbiKind): ReadonlyMap<Hex, AbiFunction> =>
  getOrMake(entriesOf[kind], abi, () => readEntries(abi, kind))

const readEntries = (abi: readonly unknown[], kind: AbiKind): ReadonlyMap<Hex, AbiFunction> => {
  const entries = new Map<Hex, AbiFunction>()
  for (const entry of abi) {
    if (!isRecord(entry) || entry['type'] !== kind || entry['anonymous'] === true) continue
    const { name } = entry
    const inputs = abiParameters(entry['inputs'] ?? [])
    if (typeof name !== 'string' || inputs === undefined) continue
    const signature = `${name}(${inputs.map(({ text }) => text).join(',')})`
    entries.set(keccak256Hex(signature), { name, signature, inputs })
  }
  return entries
}

const SELECTOR_CHARS = 10
const MUTABILITIES = ['pure', 'view', 'nonpayable', 'payable'] as const

/** Function of a contract as people call it. */
export interface ContractFunction extends AbiFunction {
  readonly selector: Hex
  readonly outputs: readonly AbiParameter[]
  readonly mutability: (typeof MUTABILITIES)[number]
}

/** Functions of an ABI in its order; those of unknown types are left out. */
export const contractFunctions = (abi: readonly unknown[]): readonly ContractFunction[] => {
  const functions: ContractFunction[] = []
  for (const entry of abi) {
    if (!isRecord(entry) || entry['type'] !== 'function') continue
    const outputs = abiParameters(entry['outputs'] ?? [])
    const [found] = abiEntries([entry], 'function')
    if (outputs === undefined || found === undefined) continue
    const [hash, described] = found
    const mutability = MUTABILITIES.find(name => name === entry['stateMutability']) ?? 'nonpayable'
    functions.push({ ...described, selector: hash.slice(0, SELECTOR_CHARS) as Hex, outputs, mutability })
  }
  return functions
}

/** Parameters of the constructor: none without one; undefined when a type is unknown. */
export const constructorParameters = (abi: readonly unknown[]): readonly AbiParameter[] | undefined => {
  const entry = abi.find(item => isRecord(item) && item['type'] === 'constructor')
  return abiParameters(isRecord(entry) ? (entry['inputs'] ?? []) : [])
}
