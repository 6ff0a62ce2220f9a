import type { Uint64 } from '@tandem/base/uint64.ts'

/** Ordered (name, height), `null`: known, not scheduled. `nativeHash` uses proof-chain heights (docs/design/proof-chain.md#fork-height). */
export const EVM_FORKS = [
  'frontier',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
  'london',
  'paris',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
] as const
export type EvmFork = (typeof EVM_FORKS)[number]
/** Newest forks that a development chain may have. */
export const DEVNET_FORKS = ['cancun', 'prague', 'osaka'] as const satisfies readonly EvmFork[]
export type DevnetFork = (typeof DEVNET_FORKS)[number]
/** Forks of the proof chain (docs/design/proof-chain.md#fork-height). */
const PROOF_FORKS = ['nativeHash'] as const
type ForkName = EvmFork | (typeof PROOF_FORKS)[number]
export const FORK_NAMES: readonly ForkName[] = [...EVM_FORKS.slice(1), ...PROOF_FORKS]

/** Returns true for a fork whose height is a number of the main chain; false for a height of the proof chain. */
export const isEvmFork = (name: ForkName): name is EvmFork => (EVM_FORKS as readonly string[]).includes(name)

export interface Fork {
  readonly name: ForkName
  /** First block (or proof height) under the new rules. */
  readonly height: number | null
}

/** Blob parameters from a block on. */
export interface BlobFork extends BlobParams {
  readonly height: number
}

/** undefined: no blobs at that block. */
export const blobParamsAt = (forks: readonly BlobFork[], number: number): BlobParams | undefined =>
  forks.findLast(({ height }) => number >= height)

/** First height under a fork's rules; null when it is not scheduled. */
export const forkHeight = (forks: readonly Fork[], name: ForkName): number | null =>
  forks.find(fork => fork.name === name)?.height ?? null

export const isActive = (forks: readonly Fork[], name: ForkName, height: Uint64): boolean => {
  const first = forkHeight(forks, name)
  return first !== null && height >= first
}

/** Other heights for some forks. An EVM fork without one keeps its own, but never comes before the fork ahead of it. */
export const forksWith = (
  base: readonly Fork[],
  heights: Partial<Record<ForkName, number | null>>,
): readonly Fork[] => {
  let before = 0
  return FORK_NAMES.map(name => {
    let height = heights[name] ?? (heights[name] === null ? null : forkHeight(base, name))
    if (!isEvmFork(name)) return { name, height }
    if (heights[name] === undefined && height !== null && height < before)
      height = Number.isFinite(before) ? before : null
    before = height ?? Number.POSITIVE_INFINITY
    return { name, height }
  })
}

/** Newest EVM fork active at a block. */
export const evmForkAt = (forks: readonly Fork[], number: Uint64): EvmFork => {
  let active: EvmFork = 'frontier'
  for (const name of EVM_FORKS) if (isActive(forks, name, number)) active = name
  return active
}

/** Returns true when a fork is `first` or a later one. */
export const isForkSince = (fork: EvmFork, first: EvmFork): boolean =>
  EVM_FORKS.indexOf(fork) >= EVM_FORKS.indexOf(first)

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
