/* Offsets in the interpreter's memory: assembly/frames.ts, accounts.ts and environment.ts repeat them by hand. */

export const FRAME = {
  pc: 0,
  sp: 4,
  gas: 8,
  memorySize: 16,
  base: 24,
  memory: 28,
  code: 32,
  jumps: 40,
  self: 44,
  input: 48,
  inputSize: 52,
  returnSize: 96,
  caller: 112,
  callValue: 144,
} as const

export const ACCOUNT_WORDS = { balance: 0, address: 96 } as const

/** Index among the words of the environment by opcode. */
export const ENVIRONMENT_WORDS: Readonly<Record<number, number>> = {
  50: 0,
  58: 1,
  65: 2,
  66: 3,
  67: 4,
  68: 5,
  69: 6,
  70: 7,
  72: 8,
  74: 9,
}

/** Answers of compiled code (assembly/compiled.ts). */
export const ANSWER = { paused: 6, interpret: 16, noGas: 33, invalidJump: 36 } as const

/** Static addresses of the interpreter's module. */
export interface Addresses {
  readonly words: number
  readonly scratch: number
}
