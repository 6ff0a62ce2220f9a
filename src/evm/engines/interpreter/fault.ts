/** Fault of a frame: the text of EthereumJS, which clients know, and that of go-ethereum for traces. */
export interface Fault {
  readonly reason: string
  readonly text: string
}

const fault = (reason: string, text = reason): Fault => ({ reason, text })

/** Created once, since a program may fail in a frame for every hundred gas. */
export const FAULTS = {
  outOfGas: fault('out of gas'),
  revert: fault('revert', 'execution reverted'),
  stackUnderflow: fault('stack underflow'),
  stackOverflow: fault('stack overflow'),
  invalidJump: fault('invalid JUMP', 'invalid jump destination'),
  invalidOpcode: fault('invalid opcode'),
  staticStateChange: fault('static state change', 'write protection'),
  returnDataOutOfBounds: fault('out of gas', 'return data out of bounds'),
  createCollision: fault('create collision', 'contract address collision'),
  codeTooLarge: fault('code size to deposit exceeds maximum code size', 'max code size exceeded'),
  codeNotPaid: fault('out of gas', 'contract creation code storage out of gas'),
  codeInvalid: fault('invalid bytecode deployed', 'invalid code: must not begin with 0xef'),
  initCodeTooLarge: fault('initcode exceeds max initcode size', 'max initcode size exceeded'),
  valueOverflow: fault('value overflow'),
} as const

/** Fault of a precompile, with the precompile's own text. */
export const precompileFault = (reason: string): Fault =>
  reason === FAULTS.outOfGas.reason ? FAULTS.outOfGas : { reason, text: 'precompiled failed' }
