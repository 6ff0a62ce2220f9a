import { formatAmount, formatExact } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'

const TOKEN_DECIMALS = 18
const GWEI_DECIMALS = 9

/** Wei as whole tokens, cut after six places. */
export const tokens = (wei: string | bigint): string => formatAmount(BigInt(wei), TOKEN_DECIMALS)

/** Wei as whole tokens with every digit. */
export const exactTokens = (wei: string | bigint, symbol: string): string =>
  `${formatExact(BigInt(wei), TOKEN_DECIMALS)} ${symbol}`

export const gwei = (wei: string | bigint): string => formatAmount(BigInt(wei), GWEI_DECIMALS)

/** Most decimals that a token's amounts are shown with; larger claims are read as units. */
const MAX_DECIMALS = 77

/** Digits of whole tokens up to which an amount is written out. */
const MAX_WHOLE_DIGITS = 21

/** Amount of a token in whole tokens, or in units where its decimals are not known; beyond 21 digits as a power of ten. */
export const tokenAmount = (amount: string | bigint | null, decimals: number | null): string => {
  if (amount === null) return 'unknown'
  const units = BigInt(amount)
  const places = decimals !== null && decimals <= MAX_DECIMALS ? decimals : 0
  const digits = units.toString()
  if (digits.length - places <= MAX_WHOLE_DIGITS) return formatAmount(units, places)
  return `${digits[0]}.${digits.slice(1, 4)} × 10^${digits.length - 1 - places}`
}

const ID_CHARS = 20

/** Number of a unit of an ERC-721 or ERC-1155 token. */
export const tokenId = (id: string | null): Html | null =>
  id === null
    ? null
    : html` <span class="chip" title="${id}">#${id.length > ID_CHARS ? `${id.slice(0, 8)}…${id.slice(-6)}` : id}</span>`

/** Percent of a part, two decimals. */
export const percent = (part: bigint, whole: bigint): string =>
  whole <= 0n ? '0 %' : `${Number((part * 10_000n) / whole) / 100} %`

export const statusChip = (status: number | null): Html =>
  status === 1 ? html`<span class="chip good">success</span>` : html`<span class="chip bad">failed</span>`
