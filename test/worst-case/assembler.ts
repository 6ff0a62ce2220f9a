import { concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { OPCODES } from '../../src/evm/opcodes.ts'

/* Bytecode from words: names of opcodes, and numbers, which are pushed in the fewest bytes. */

const byName = new Map(OPCODES.map(({ name, op }) => [name, op]))

/** PUSH0 to PUSH32. */
export const push = (value: bigint | number): Uint8Array => {
  const hex = value.toString(16)
  const digits = value === 0 || value === 0n ? '' : hex.padStart(hex.length + (hex.length & 1), '0')
  return Uint8Array.of(0x5f + digits.length / 2, ...hexToBytes(`0x${digits}`))
}

/** A push of two bytes, for places in the code. */
const pushPlace = (place: number): Uint8Array => Uint8Array.of(0x61, place >> 8, place & 0xff)

const assembleWord = (word: string): Uint8Array => {
  const op = byName.get(word)
  return op === undefined ? push(BigInt(word)) : Uint8Array.of(op)
}

/** `asm('0 0 LOG0')`. */
export const asm = (text: string): Uint8Array => concatBytes(...text.split(/\s+/).filter(Boolean).map(assembleWord))

/** A piece of a program that may need to know where it stands. */
export type Part = Uint8Array | ((at: number) => Uint8Array)

export const program = (...parts: readonly Part[]): Uint8Array => {
  let code: Uint8Array = new Uint8Array(0)
  for (const part of parts) code = concatBytes(code, typeof part === 'function' ? part(code.byteLength) : part)
  return code
}

export const repeat = (count: number, bytes: Uint8Array): Uint8Array =>
  concatBytes(...Array.from({ length: count }, () => bytes))

/** Does the body again and again as long as more than `reserve` gas is left. The stack is as high after the body as before it. */
export const loop =
  (body: Uint8Array, reserve: bigint): Part =>
  at =>
    concatBytes(asm('JUMPDEST'), body, push(reserve), asm('GAS GT'), pushPlace(at), asm('JUMPI'))

/** As many times the body as fit into some code, so that the loop itself costs little. */
export const unrolled = (body: Uint8Array, bytes = 2_000): Uint8Array =>
  repeat(Math.max(1, Math.floor(bytes / body.byteLength)), body)

/** Leaves the size of the call data on the stack and its bytes in memory from 0 on. */
export const LOAD_INPUT = asm('CALLDATASIZE 0 0 CALLDATACOPY')

/** Init code that deploys `runtime`. */
export const deploying = (runtime: Uint8Array): Uint8Array => {
  const size = pushPlace(runtime.byteLength)
  return concatBytes(size, Uint8Array.of(0x60, 0x0d), asm('0 CODECOPY'), size, asm('0 RETURN STOP'), runtime)
}
