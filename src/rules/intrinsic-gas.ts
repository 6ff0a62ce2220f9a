import { type EvmFork, isForkSince } from '../config/forks.ts'
import type { DecodedTransaction } from '../primitives/transaction/transaction.ts'

/** Gas prices charged before a transaction's message runs, at one block. */
export interface IntrinsicGasRules {
  readonly createGas: number
  readonly zeroByteGas: number
  readonly nonZeroByteGas: number
  /** EIP-3860; 0 where it is not active. */
  readonly initCodeWordGas: number
  /** EIP-7623: price per token of calldata in the floor; 0 where there is no floor. */
  readonly floorTokenGas: number
}

const TRANSACTION_GAS = 21_000
const CREATE_GAS = 32_000
const ACCESS_ADDRESS_GAS = 2_400
const ACCESS_KEY_GAS = 1_900
const INIT_CODE_WORD_GAS = 2
/** EIP-7702, for each authorization: the price of an account that does not exist yet. */
const AUTHORIZATION_GAS = 25_000
const FLOOR_TOKEN_GAS = 10
/** Tokens of a non-zero byte (EIP-7623). */
const NON_ZERO_TOKENS = 4

/** Returns the prices of a fork; a flat price of calldata replaces the fork's own, floor included. */
export const intrinsicGasRules = (fork: EvmFork, calldataGasPerByte: bigint | null): IntrinsicGasRules => {
  const since = (name: EvmFork): boolean => isForkSince(fork, name)
  const flat = calldataGasPerByte === null ? undefined : Number(calldataGasPerByte)
  return {
    createGas: since('homestead') ? CREATE_GAS : 0,
    zeroByteGas: flat ?? 4,
    nonZeroByteGas: flat ?? (since('istanbul') ? 16 : 68),
    initCodeWordGas: since('shanghai') ? INIT_CODE_WORD_GAS : 0,
    floorTokenGas: flat === undefined && since('prague') ? FLOOR_TOKEN_GAS : 0,
  }
}

/** Transaction fields that determine the intrinsic gas. */
export type GasFields = Pick<DecodedTransaction, 'to' | 'data' | 'accessList' | 'authorizationList'>

/** Gas charged before the message runs (Yellow Paper 6.2, EIP-2028, 2930, 3860, 7702). */
export const intrinsicGas = (tx: GasFields, rules: IntrinsicGasRules): bigint => {
  let gas = TRANSACTION_GAS + calldataGas(tx.data, rules)
  if (tx.to === null) gas += rules.createGas + rules.initCodeWordGas * Math.ceil(tx.data.byteLength / 32)
  for (const entry of tx.accessList) gas += ACCESS_ADDRESS_GAS + ACCESS_KEY_GAS * entry.storageKeys.length
  if (tx.authorizationList !== undefined) gas += AUTHORIZATION_GAS * tx.authorizationList.length
  return BigInt(gas)
}

const calldataGas = (data: Uint8Array, rules: IntrinsicGasRules): number => {
  if (rules.zeroByteGas === rules.nonZeroByteGas) return data.byteLength * rules.zeroByteGas
  const zeros = countZeros(data)
  return zeros * rules.zeroByteGas + (data.byteLength - zeros) * rules.nonZeroByteGas
}

const countZeros = (data: Uint8Array): number => {
  let zeros = 0
  for (let i = 0; i < data.byteLength; i++) if (data[i] === 0) zeros++
  return zeros
}

/** Minimum gas a transaction uses, independent of execution and refunds (EIP-7623); 0n where there is no floor. */
export const floorGas = (tx: Pick<GasFields, 'data'>, rules: IntrinsicGasRules): bigint => {
  if (rules.floorTokenGas === 0) return 0n
  const zeros = countZeros(tx.data)
  const tokens = zeros + (tx.data.byteLength - zeros) * NON_ZERO_TOKENS
  return BigInt(TRANSACTION_GAS + tokens * rules.floorTokenGas)
}

/** Smallest valid gas limit of a transaction. */
export const minimumGas = (tx: GasFields, rules: IntrinsicGasRules): bigint => {
  const intrinsic = intrinsicGas(tx, rules)
  const floor = floorGas(tx, rules)
  return floor > intrinsic ? floor : intrinsic
}
