import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'

/** A value read from calldata or a log. */
interface DecodedValue {
  readonly name: string
  readonly type: string
  readonly text: string
}

export interface Decoded {
  readonly signature: string
  readonly values: readonly DecodedValue[]
}

interface Signature {
  readonly name: string
  /** Types and names, as Solidity writes them: static types alone, which take one word each. */
  readonly inputs: string
}

/** Functions of the token standards, by their first four bytes. */
const FUNCTIONS: Readonly<Record<string, Signature>> = {
  '0xa9059cbb': { name: 'transfer', inputs: 'address to, uint256 amount' },
  '0x23b872dd': { name: 'transferFrom', inputs: 'address from, address to, uint256 amount' },
  '0x095ea7b3': { name: 'approve', inputs: 'address spender, uint256 amount' },
  '0x40c10f19': { name: 'mint', inputs: 'address to, uint256 amount' },
  '0xa0712d68': { name: 'mint', inputs: 'uint256 amount' },
  '0x42966c68': { name: 'burn', inputs: 'uint256 amount' },
  '0x79cc6790': { name: 'burnFrom', inputs: 'address from, uint256 amount' },
  '0x42842e0e': { name: 'safeTransferFrom', inputs: 'address from, address to, uint256 id' },
  '0xa22cb465': { name: 'setApprovalForAll', inputs: 'address operator, bool approved' },
  '0x2e1a7d4d': { name: 'withdraw', inputs: 'uint256 amount' },
  '0xd0e30db0': { name: 'deposit', inputs: '' },
}

/** Events of the token standards, by their first topic. */
const EVENTS: Readonly<Record<string, Signature>> = {
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef': {
    name: 'Transfer',
    inputs: 'address from, address to, uint256 value',
  },
  '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925': {
    name: 'Approval',
    inputs: 'address owner, address spender, uint256 value',
  },
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31': {
    name: 'ApprovalForAll',
    inputs: 'address owner, address operator, bool approved',
  },
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62': {
    name: 'TransferSingle',
    inputs: 'address operator, address from, address to, uint256 id, uint256 value',
  },
}

const WORD_CHARS = 64
const ADDRESS_CHARS = 40

/** Text of one word as its type; undefined when it is no value of the type. */
const textOfWord = (word: string, type: string): string | undefined => {
  if (type === 'address')
    return /^0{24}/.test(word) ? checksumAddress(`0x${word.slice(WORD_CHARS - ADDRESS_CHARS)}` as Hex) : undefined
  const value = BigInt(`0x${word}`)
  if (type === 'bool') return value > 1n ? undefined : String(value === 1n)
  return value.toLocaleString('en-US')
}

const inputsOf = (inputs: string): readonly string[] => (inputs === '' ? [] : inputs.split(', '))

/** Words as the inputs of a signature; undefined when they do not fit it. */
const decodeWords = ({ name, inputs }: Signature, words: readonly string[]): Decoded | undefined => {
  const wanted = inputsOf(inputs)
  if (words.length !== wanted.length) return undefined
  const values: DecodedValue[] = []
  for (const [at, input] of wanted.entries()) {
    const [type = '', label = ''] = input.split(' ')
    const text = textOfWord(words[at] as string, type)
    if (text === undefined) return undefined
    values.push({ name: label, type, text })
  }
  return { signature: `${name}(${inputs})`, values }
}

/** Words of 32 bytes; what is left at the end is no word. */
const wordsOf = (hex: string): readonly string[] =>
  Array.from({ length: Math.floor(hex.length / WORD_CHARS) }, (_, at) =>
    hex.slice(at * WORD_CHARS, (at + 1) * WORD_CHARS),
  )

/** Calldata as a call of a known function. */
export const decodeCall = (input: string): Decoded | undefined => {
  const known = FUNCTIONS[input.slice(0, 10)]
  if (known === undefined || input.length !== 10 + inputsOf(known.inputs).length * WORD_CHARS) return undefined
  return decodeWords(known, wordsOf(input.slice(10)))
}

/** A log as a known event: indexed values come first in the standards. */
export const decodeLog = (topics: readonly string[], data: string): Decoded | undefined => {
  const known = EVENTS[topics[0] ?? '']
  if (known === undefined || data.length > 2 + inputsOf(known.inputs).length * WORD_CHARS) return undefined
  return decodeWords(known, [...topics.slice(1).map(topic => topic.slice(2)), ...wordsOf(data.slice(2))])
}
