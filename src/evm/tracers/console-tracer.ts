import { createRequire } from 'node:module'
import { format } from 'node:util'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import type { Tracer } from '../tracer.ts'
import type { TracerContext } from './tracer-context.ts'

/** Address that `console.log` of forge-std and hardhat calls: the text `console.log`. */
const CONSOLE_ADDRESS: Hex = '0x000000000000000000636f6e736f6c652e6c6f67'

/** Longest input that is decoded, and most lines of one transaction. */
const INPUT_BYTES = 16 * 1024
const LINES = 256

/** Lines that contracts wrote with `console.log`, also those of calls that were reverted. */
export const createConsoleTracer = ({ memory }: TracerContext): Tracer => {
  const inputs: Uint8Array[] = []
  let more = 0
  return {
    enter({ to, input }) {
      if (to !== CONSOLE_ADDRESS) return
      if (inputs.length === LINES) {
        more++
        return
      }
      const kept = new Uint8Array(input.subarray(0, INPUT_BYTES + 1))
      memory.add(kept.byteLength)
      inputs.push(kept)
    },
    *result() {
      const lines = inputs.map(consoleText)
      if (more > 0) lines.push(`${more} further lines`)
      yield JSON.stringify(lines)
    },
  }
}

/** Text of one call; hex when it is none of the known ones or its arguments do not decode. */
export const consoleText = (input: Uint8Array): string => {
  if (input.byteLength > INPUT_BYTES) return `${input.byteLength - 1} bytes and more`
  const types = signatures().get(bytesToHex(input.subarray(0, 4)))
  if (types === undefined) return bytesToHex(input)
  if (types.length === 0) return ''
  try {
    const { createContract } = abiLibrary()
    // Functions are decoded by their results.
    const outputs = types.map(type => ({ type }))
    const { log } = createContract([{ type: 'function', name: 'log', inputs: [], outputs }] as const)
    const decoded = (log as { decodeOutput(bytes: Uint8Array): unknown }).decodeOutput(input.subarray(4))
    return formatted((types.length === 1 ? [decoded] : (decoded as readonly unknown[])).map(textOf))
  } catch {
    return bytesToHex(input)
  }
}

/** As console.log of Node: a first text may have places for the others, where integers are not rounded. */
const formatted = ([first = '', ...rest]: readonly string[]): string =>
  format(first.replaceAll(/%[di]/g, '%s'), ...rest)

const textOf = (value: unknown): string => (value instanceof Uint8Array ? bytesToHex(value) : String(value))

/** Loaded with the first line: few transactions write any. */
const abiLibrary = () =>
  createRequire(import.meta.url)('micro-eth-signer/abi.js') as typeof import('micro-eth-signer/abi.js')

const MIXED = ['uint256', 'string', 'bool', 'address'] as const
const SINGLE = ['int256', 'bytes', ...Array.from({ length: 32 }, (_, index) => `bytes${index + 1}`)]

let known: ReadonlyMap<Hex, readonly string[]> | undefined

/** Argument types by selector: up to four of the mixed ones, or one of the others. Old versions name integers without their size. */
const signatures = (): ReadonlyMap<Hex, readonly string[]> => {
  if (known !== undefined) return known
  const lists: (readonly string[])[] = [[]]
  for (let from = 0; from < lists.length && (lists[from] as readonly string[]).length < 4; from++)
    for (const type of MIXED) lists.push([...(lists[from] as readonly string[]), type])
  for (const type of SINGLE) lists.push([type])
  const selectors = new Map<Hex, readonly string[]>()
  for (const types of lists) {
    const names = types.join(',')
    for (const text of new Set([names, names.replaceAll('int256', 'int')]))
      selectors.set(keccak256Hex(Buffer.from(`log(${text})`)).slice(0, 10) as Hex, types)
  }
  known = selectors
  return selectors
}
