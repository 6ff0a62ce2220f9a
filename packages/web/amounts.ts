import { withoutTrailing } from '@tandem/base/text.ts'

/** Decimal places that stay of an amount; smaller parts are left out by lists. */
const SHOWN_PLACES = 6

const grouped = (digits: string): string => digits.replace(/\B(?=(?:\d{3})+$)/g, ',')

/** Whole and fraction of an amount in units of 10^-decimals. */
const split = (amount: bigint, decimals: number): readonly [string, string] => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const sign = amount < 0n ? '-' : ''
  return [sign + grouped(digits.slice(0, digits.length - decimals)), digits.slice(digits.length - decimals)]
}

/** Text of an amount with thousands separators, cut after six places; an amount below that reads `<0.000001`. */
export const formatAmount = (amount: bigint, decimals: number, places: number = SHOWN_PLACES): string => {
  const [whole, fraction] = split(amount, decimals)
  const kept = withoutTrailing(fraction.slice(0, places), '0')
  if (kept !== '') return `${whole}.${kept}`
  const isTiny = whole === '0' && amount > 0n
  return isTiny ? `<0.${'0'.repeat(Math.max(0, places - 1))}1` : whole
}

/** Text of an amount with every digit. */
export const formatExact = (amount: bigint, decimals: number): string => {
  const [whole, fraction] = split(amount, decimals)
  const kept = withoutTrailing(fraction, '0')
  return kept === '' ? whole : `${whole}.${kept}`
}

/** Number with thousands separators, and at most two decimals. */
export const formatNumber = (value: number | bigint): string =>
  typeof value === 'bigint'
    ? value.toLocaleString('en-US')
    : value.toLocaleString('en-US', { maximumFractionDigits: 2 })
