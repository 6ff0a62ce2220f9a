import { EVMError } from '@ethereumjs/evm'

/*
 * Failures in the words of go-ethereum, which tools that read traces know; EthereumJS has shorter ones.
 */

type Kind = EVMError['error']

const MESSAGES = EVMError.errorMessages

const TEXTS: Readonly<Partial<Record<Kind, string>>> = {
  [MESSAGES.REVERT]: 'execution reverted',
  [MESSAGES.INVALID_JUMP]: 'invalid jump destination',
  [MESSAGES.STATIC_STATE_CHANGE]: 'write protection',
  [MESSAGES.CODESTORE_OUT_OF_GAS]: 'contract creation code storage out of gas',
  [MESSAGES.CODESIZE_EXCEEDS_MAXIMUM]: 'max code size exceeded',
  [MESSAGES.INITCODE_SIZE_VIOLATION]: 'max initcode size exceeded',
  [MESSAGES.INVALID_BYTECODE_RESULT]: 'invalid code: must not begin with 0xef',
  [MESSAGES.CREATE_COLLISION]: 'contract address collision',
  [MESSAGES.INSUFFICIENT_BALANCE]: 'insufficient balance for transfer',
}

/** An EVM error that knows more than its kind. */
export class Fault extends EVMError {
  readonly text: string

  constructor(error: Kind, text: string) {
    super(error)
    this.text = text
  }
}

export const faultText = (error: EVMError): string =>
  error instanceof Fault ? error.text : (TEXTS[error.error] ?? error.error)
