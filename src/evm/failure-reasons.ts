/** Reasons why code stops, in go-ethereum's words, for calls, failures and traces, which add figures (wasm/step-recorder.ts). */
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

/** Reasons of precompiles, in EthereumJS' words; the first is like that of a revert. */
export const PRECOMPILE_REASON = {
  revert: 'revert',
  outOfGas: REASON.outOfGas,
  outOfRange: 'value out of range',
  inputLength: 'invalid input length',
  inputEmpty: 'input is empty',
  notInField: 'fp point not in field',
  notOnCurve: 'point not on curve',
  otherCommitment: 'kzg commitment does not match versioned hash',
  proofInputs: 'kzg inputs invalid',
  proofFalse: 'kzg proof invalid',
} as const
export type PrecompileReason = (typeof PRECOMPILE_REASON)[keyof typeof PRECOMPILE_REASON]
