/**
 * Reasons why code stops, in go-ethereum's words: errors of calls, causes of failed transactions and traces give the same. Traces add
 * figures where they have them (wasm/step-recorder.ts).
 */
export const REASON = {
  outOfGas: 'out of gas',
  revert: 'execution reverted',
  stackUnderflow: 'stack underflow',
  stackOverflow: 'stack limit reached',
  invalidJump: 'invalid jump destination',
  invalidOpcode: 'invalid opcode',
  staticStateChange: 'write protection',
  createCollision: 'contract address collision',
  codeTooLarge: 'max code size exceeded',
  codeInvalid: 'invalid code: must not begin with 0xef',
  initCodeTooLarge: 'max initcode size exceeded',
} as const

/** Reason that a precompile gives when it fails like a revert. */
export const PRECOMPILE_REVERT = 'revert'

/** Reason that BLAKE2 F gives for input of another form. */
export const PRECOMPILE_OUT_OF_RANGE = 'value out of range'
