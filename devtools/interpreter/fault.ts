import { PRECOMPILE_REASON, REASON } from '../../src/evm/failure-reasons.ts'

/** Fault of a frame: its reason, and the text of traces, which may say more. */
export interface Fault {
  readonly reason: string
  readonly text: string
}

const fault = (reason: string, text = reason): Fault => ({ reason, text })

/** Created once, since a program may fail in a frame for every hundred gas. */
export const FAULTS = {
  outOfGas: fault(REASON.outOfGas),
  revert: fault(REASON.revert),
  stackUnderflow: fault(REASON.stackUnderflow),
  stackOverflow: fault(REASON.stackOverflow),
  invalidJump: fault(REASON.invalidJump),
  invalidOpcode: fault(REASON.invalidOpcode),
  staticStateChange: fault(REASON.staticStateChange),
  // The other engine knows these two only as a lack of gas.
  returnDataOutOfBounds: fault(REASON.outOfGas, 'return data out of bounds'),
  codeNotPaid: fault(REASON.outOfGas, 'contract creation code storage out of gas'),
  createCollision: fault(REASON.createCollision),
  codeTooLarge: fault(REASON.codeTooLarge),
  codeInvalid: fault(REASON.codeInvalid),
  initCodeTooLarge: fault(REASON.initCodeTooLarge),
  valueOverflow: fault('value overflow'),
} as const

/** Fault of a precompile, with the precompile's own text. */
export const precompileFault = (reason: string): Fault =>
  reason === REASON.outOfGas
    ? FAULTS.outOfGas
    : { reason: reason === PRECOMPILE_REASON.revert ? REASON.revert : reason, text: 'precompiled failed' }
