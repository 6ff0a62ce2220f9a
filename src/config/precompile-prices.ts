/** Price of a precompile: so many times the fork's own, and a fixed part for each call. */
export interface PrecompilePrice {
  readonly times: bigint
  readonly plus: bigint
}

/** Prices by number that differ from the fork's own; null: there is no such precompile. */
export type PrecompilePrices = Readonly<Record<number, PrecompilePrice | null>>

const times = (factor: bigint): PrecompilePrice => ({ times: factor, plus: 0n })
const plus = (gas: bigint): PrecompilePrice => ({ times: 1n, plus: gas })

/** Prices of the networks, at most 20 ms of a processor for a million gas (docs/security.md#cost-of-gas); without blobs no commitments. */
const ROWS: readonly (readonly [number, PrecompilePrice | null])[] = [
  // ECRECOVER: 4,000.
  [0x01, plus(1_000n)],
  // MODEXP.
  [0x05, times(2n)],
  // BLAKE2 F.
  [0x09, times(2n)],
  // Point evaluation.
  [0x0a, null],
  // BLS12-381: sums, multiples, pairing, maps.
  [0x0b, times(4n)],
  [0x0c, times(4n)],
  [0x0d, times(4n)],
  [0x0e, times(4n)],
  [0x0f, times(4n)],
  [0x10, times(4n)],
  [0x11, times(4n)],
  // P256VERIFY: 18,000.
  [0x100, plus(11_100n)],
]

export const PRECOMPILE_PRICES: PrecompilePrices = Object.fromEntries(ROWS)
