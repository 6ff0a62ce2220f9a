import { concatBytes, hexToBytes } from '@tandem/base/bytes.ts'

/* Init code that never ends: each uses up whatever gas it has, so that what becomes of it is known beforehand. */

/** PUSH2 count, JUMPDEST, PUSH0, PUSH0, LOG0, PUSH1 1, SWAP1, SUB, DUP1, PUSH1 3, JUMPI, POP. */
const logs = (count: number): Uint8Array =>
  hexToBytes(`0x61${count.toString(16).padStart(4, '0')}5b5f5fa0600190038060035750`)

/** JUMPDEST, the body, PUSH1 back, JUMP. */
const forever = (before: Uint8Array, ...body: readonly number[]): Uint8Array =>
  concatBytes(before, Uint8Array.of(0x5b, ...body, 0x60, before.byteLength, 0x56))

const NOTHING = new Uint8Array(0)

export const PROGRAMS = {
  /** The cheapest opcodes there are. */
  loop: forever(NOTHING),
  /** LOG0s, then STATICCALLs of an account without code: PUSH0 four times, PUSH1 0xff, GAS, STATICCALL, POP. */
  'logs, then calls': forever(logs(3_000), 0x5f, 0x5f, 0x5f, 0x5f, 0x60, 0xff, 0x5a, 0xfa, 0x50),
  /** SHA-256 of a word by its precompile: PUSH0 twice, PUSH1 0x20, PUSH0, PUSH1 2, GAS, STATICCALL, POP. */
  'precompile calls': forever(NOTHING, 0x5f, 0x5f, 0x60, 0x20, 0x5f, 0x60, 2, 0x5a, 0xfa, 0x50),
  /** CREATEs of nothing: PUSH0 three times, CREATE, POP. */
  creates: forever(NOTHING, 0x5f, 0x5f, 0x5f, 0xf0, 0x50),
  /** KECCAK256 of 4 kB: PUSH2 0x1000, PUSH0, KECCAK256, POP. */
  hashes: forever(NOTHING, 0x61, 0x10, 0x00, 0x5f, 0x20, 0x50),
  /** Reads of ever other slots: PUSH1 1, ADD, DUP1, SLOAD, POP, on a counter. */
  'cold slots': forever(Uint8Array.of(0x5f), 0x60, 1, 0x01, 0x80, 0x54, 0x50),
  /** Writes of ever other slots, undone at the end: PUSH1 1, ADD, DUP1, DUP1, SSTORE. */
  writes: forever(Uint8Array.of(0x5f), 0x60, 1, 0x01, 0x80, 0x80, 0x55),
} as const satisfies Readonly<Record<string, Uint8Array>>

export type ProgramName = keyof typeof PROGRAMS
export const PROGRAM_NAMES = Object.keys(PROGRAMS) as readonly ProgramName[]
