/** Why a frame fails: in the words of EthereumJS, which clients know, and in those of go-ethereum, which readers of traces know. */
export interface Fault {
  readonly reason: string
  readonly text: string
}

const fault = (reason: string, text = reason): Fault => ({ reason, text })

/** Made once: a program may fail in a frame for every hundred gas. */
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

/** Of a precompile, which says in its own words what it refused. */
export const precompileFault = (reason: string): Fault =>
  reason === FAULTS.outOfGas.reason ? FAULTS.outOfGas : { reason, text: 'precompiled failed' }
