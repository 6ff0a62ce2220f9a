import type { Hex } from '@tandem/base/bytes.ts'
import { withoutTrailing } from '@tandem/base/text.ts'
import { checksumAddress } from '../keccak.ts'

/** Decimal text of an amount in units of 10^-decimals, without trailing zeros. */
export const formatUnits = (amount: bigint, decimals: number): string => {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = withoutTrailing(digits.slice(digits.length - decimals), '0')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

const TOKEN_DECIMALS = 18
const GWEI_DECIMALS = 9

export const formatWei = (wei: bigint): string => formatUnits(wei, TOKEN_DECIMALS)
export const formatGwei = (wei: bigint): string => formatUnits(wei, GWEI_DECIMALS)

/** Whole tokens as the nearest JSON number: by way of decimal text, since a multiplication of floats adds digits. */
export const tokensFromWei = (wei: bigint): number => Number(formatWei(wei))

/** Percent with two decimals of a part of a whole; 0 of nothing. */
export const percentOf = (part: bigint, whole: bigint): number =>
  whole <= 0n ? 0 : Number((part * 10_000n + whole / 2n) / whole) / 100

export const checksumOrNull = (address: Hex | null): string | null =>
  address === null ? null : checksumAddress(address)

export const roundTo = (value: number, decimals: number): number => {
  const factor = 10 ** decimals
  return Math.round(value * factor) / factor
}
