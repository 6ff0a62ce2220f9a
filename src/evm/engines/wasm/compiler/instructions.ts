/* WebAssembly as the compiler writes it: opcodes, value types, and the functions that a compiled module imports. */

export const I = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  select: 0x1b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  load32: 0x28,
  load64: 0x29,
  load8: 0x2d,
  load32to64: 0x35,
  store32: 0x36,
  store64: 0x37,
  store8: 0x3a,
  const32: 0x41,
  const64: 0x42,
  eqz32: 0x45,
  eq32: 0x46,
  ne32: 0x47,
  lessUnsigned32: 0x49,
  greaterUnsigned32: 0x4b,
  notLessUnsigned32: 0x4f,
  eqz64: 0x50,
  eq64: 0x51,
  ne64: 0x52,
  less64: 0x53,
  lessUnsigned64: 0x54,
  greaterUnsigned64: 0x56,
  notLess64: 0x59,
  notLessUnsigned64: 0x5a,
  clz64: 0x79,
  add32: 0x6a,
  subtract32: 0x6b,
  and32: 0x71,
  or32: 0x72,
  shiftRight32: 0x76,
  add64: 0x7c,
  subtract64: 0x7d,
  and64: 0x83,
  or64: 0x84,
  xor64: 0x85,
  shiftLeft64: 0x86,
  shiftRightSigned64: 0x87,
  shiftRight64: 0x88,
  wrap: 0xa7,
  extend: 0xad,
} as const

/** After the prefix of vector instructions. */
export const V = {
  prefix: 0xfd,
  load: 0x00,
  store: 0x0b,
  shuffle: 0x0d,
  splat64: 0x12,
  lane64: 0x1d,
  setLane64: 0x1e,
} as const

export const VOID = 0x40
export const T = { i32: 0x7f, i64: 0x7e, v128: 0x7b, function: 0x60 } as const

interface Signature {
  readonly takes: readonly number[]
  readonly gives: readonly number[]
}

/** Of compiled functions: frame, gas at which to pause; returns an answer (assembly/compiled.ts). */
const COMPILED: Signature = { takes: [T.i32, T.i64], gives: [T.i32] }
const GROW: Signature = { takes: [T.i64, T.i64], gives: [T.i64] }
const STEP: Signature = { takes: [T.i32, T.i64], gives: [T.i64] }
const BINARY: Signature = { takes: [T.i32, T.i32, T.i32], gives: [] }
const TERNARY: Signature = { takes: [T.i32, T.i32, T.i32, T.i32], gives: [] }
const SIGN: Signature = { takes: [T.i32, T.i32], gives: [] }
const WITH_NUMBER: Signature = { takes: [T.i32, T.i32, T.i32, T.i64], gives: [] }

/** Types of the module by index; the first is that of compiled functions. */
export const SIGNATURES: readonly Signature[] = [COMPILED, GROW, STEP, BINARY, TERNARY, WITH_NUMBER, SIGN]

/** Functions of the interpreter's module that compiled code calls. */
export const IMPORTS = [
  ['growTo', GROW],
  ['hashAt', STEP],
  ['powerAt', STEP],
  ['loadSlotAt', STEP],
  ['storeSlotAt', STEP],
  ['loadTransientAt', STEP],
  ['storeTransientAt', STEP],
  ['balanceAt', STEP],
  ['codeSizeAt', STEP],
  ['copyInputAt', STEP],
  ['copyCodeAt', STEP],
  ['copyReturnAt', STEP],
  ['copyMemoryAt', STEP],
  ['log0At', STEP],
  ['log1At', STEP],
  ['log2At', STEP],
  ['log3At', STEP],
  ['log4At', STEP],
  ['multiply', BINARY],
  ['divide', BINARY],
  ['divideSigned', BINARY],
  ['remainder', BINARY],
  ['remainderSigned', BINARY],
  ['addModulo', TERNARY],
  ['multiplyModulo', TERNARY],
  ['signExtend', SIGN],
  ['shiftLeft', BINARY],
  ['shiftRight', WITH_NUMBER],
  ['loadInput', WITH_NUMBER],
] as const satisfies readonly (readonly [string, Signature])[]

export type ImportName = (typeof IMPORTS)[number][0]
