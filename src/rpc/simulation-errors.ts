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

interface Said {
  readonly code: number
  readonly message: string
}
type Reason<Code extends string> = Extract<TransactionError, { readonly code: Code }>

const blockGasExceeded = ({ have, limit }: Reason<'GAS_LIMIT_TOO_HIGH' | 'BLOCK_GAS_EXCEEDED'>): Said => ({
  code: SIMULATION_CODES.blockGas,
  message: `block gas limit exceeded: have ${have}, left ${limit}`,
})

const SAYING: { readonly [Code in TransactionError['code']]?: (reason: Reason<Code>) => Said } = {
  NONCE_TOO_LOW: ({ expected, got }) => ({
    code: SIMULATION_CODES.nonceTooLow,
    message: `nonce too low: have ${got}, want ${expected}`,
  }),
  NONCE_TOO_HIGH: ({ expected, got }) => ({
    code: SIMULATION_CODES.nonceTooHigh,
    message: `nonce too high: have ${got}, want ${expected}`,
  }),
  INSUFFICIENT_FUNDS: ({ have, want }) => ({
    code: SIMULATION_CODES.insufficientFunds,
    message: `insufficient funds for gas * price + value: have ${have}, want ${want}`,
  }),
  FEE_BELOW_BASE_FEE: ({ have, want }) => ({
    code: SIMULATION_CODES.feeBelowBaseFee,
    message: `max fee per gas less than block base fee: have ${have}, want ${want}`,
  }),
  INTRINSIC_GAS: ({ have, want }) => ({
    code: SIMULATION_CODES.intrinsicGas,
    message: `intrinsic gas too low: have ${have}, want ${want}`,
  }),
  GAS_LIMIT_TOO_HIGH: blockGasExceeded,
  BLOCK_GAS_EXCEEDED: blockGasExceeded,
  SENDER_NOT_EOA: () => ({ code: SIMULATION_CODES.senderNotEoa, message: 'sender not an eoa' }),
  INIT_CODE_TOO_LARGE: ({ size, limit }) => ({
    code: SIMULATION_CODES.initCode,
    message: `max initcode size exceeded: code size ${size}, limit ${limit}`,
  }),
}

/** Returns the method's own error for a call that is invalid in its block; undefined where it has none. */
export const invalidCall = (reason: TransactionError): Said | undefined => {
  const say = SAYING[reason.code] as ((reason: TransactionError) => Said) | undefined
  return say?.(reason)
}
