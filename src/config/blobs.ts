/** Gas of one blob (EIP-4844). */
export const GAS_PER_BLOB = 131_072n

/** Number of blobs in a block of a chain with Ethereum's rules, and the update rule of their price (EIP-7840). */
export interface BlobParams {
  /** Blobs per block at which the price is constant. */
  readonly target: number
  /** Maximum blobs per block. */
  readonly max: number
  readonly baseFeeUpdateFraction: bigint
}

/** Ethereum's own values (EIP-4844, 7691, 7892), for a genesis that sets none. */
export const ETHEREUM_BLOBS = {
  cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n },
  prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193n },
  bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671n },
} as const satisfies Readonly<Record<string, BlobParams>>
