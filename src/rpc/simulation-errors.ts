import type { TransactionError } from '../rules/transaction.ts'

/** Error codes of eth_simulateV1 (execution APIs). */
export const SIMULATION_CODES = {
  nonceTooLow: -38010,
  nonceTooHigh: -38011,
  feeBelowBaseFee: -38012,
  intrinsicGas: -38013,
  insufficientFunds: -38014,
  blockGas: -38015,
  numberOrder: -38020,
  timeOrder: -38021,
  movedToItself: -38022,
  senderNotEoa: -38024,
  initCode: -38025,
  limit: -38026,
} as const

/** Code and message of an error. */
type CodedText = readonly [code: number, message: string]
type Reason<Code extends string> = Extract<TransactionError, { readonly code: Code }>

const blockGasExceeded = ({ have, limit }: Reason<'GAS_LIMIT_TOO_HIGH' | 'BLOCK_GAS_EXCEEDED'>): CodedText => [
  SIMULATION_CODES.blockGas,
  `block gas limit exceeded: have ${have}, left ${limit}`,
]

const TEXTS: { readonly [Code in TransactionError['code']]?: (reason: Reason<Code>) => CodedText } = {
  NONCE_TOO_LOW: ({ expected, got }) => [SIMULATION_CODES.nonceTooLow, `nonce too low: have ${got}, want ${expected}`],
  NONCE_TOO_HIGH: ({ expected, got }) => [
    SIMULATION_CODES.nonceTooHigh,
    `nonce too high: have ${got}, want ${expected}`,
  ],
  INSUFFICIENT_FUNDS: ({ have, want }) => [
    SIMULATION_CODES.insufficientFunds,
    `insufficient funds for gas * price + value: have ${have}, want ${want}`,
  ],
  FEE_BELOW_BASE_FEE: ({ have, want }) => [
    SIMULATION_CODES.feeBelowBaseFee,
    `max fee per gas less than block base fee: have ${have}, want ${want}`,
  ],
  INTRINSIC_GAS: ({ have, want }) => [
    SIMULATION_CODES.intrinsicGas,
    `intrinsic gas too low: have ${have}, want ${want}`,
  ],
  GAS_LIMIT_TOO_HIGH: blockGasExceeded,
  BLOCK_GAS_EXCEEDED: blockGasExceeded,
  SENDER_NOT_EOA: () => [SIMULATION_CODES.senderNotEoa, 'sender not an eoa'],
  INIT_CODE_TOO_LARGE: ({ size, limit }) => [
    SIMULATION_CODES.initCode,
    `max initcode size exceeded: code size ${size}, limit ${limit}`,
  ],
}

/** Returns the method's own error for a call that is invalid in its block; undefined where it has none. */
export const invalidCall = (reason: TransactionError): CodedText | undefined =>
  (TEXTS[reason.code] as ((reason: TransactionError) => CodedText) | undefined)?.(reason)
