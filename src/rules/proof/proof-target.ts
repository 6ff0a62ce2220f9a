import { isActive } from '../../config/forks.ts'
import type { ChainParams, ProofChainParams } from '../../config/networks.ts'

/* Difficulty of the proof chain: ASERT in main blocks instead of seconds, in integers (docs/design/proof-chain.md#difficulty). */

/** Hash function of a header: 1 below the fork `nativeHash`, 2 from it on. */
export type ProofVersion = 1 | 2

export const proofVersionAt = ({ forks }: Pick<ChainParams, 'forks'>, height: number): ProofVersion =>
  isActive(forks, 'nativeHash', height) ? 2 : 1

/** Name of the hash function of a header at a height. */
export const proofAlgorithmAt = (params: Pick<ChainParams, 'forks' | 'proofChain'>, height: number): string =>
  proofVersionAt(params, height) === 2 ? params.proofChain.after : params.proofChain.before

export const maxTargetOf = ({ maxTargetBefore, maxTargetAfter }: ProofChainParams, version: ProofVersion): bigint =>
  version === 2 ? maxTargetAfter : maxTargetBefore

/** Reference point of the targets: the genesis of the proof chain, later the last header of version 1. */
export interface TargetReference {
  readonly height: number
  readonly anchorNumber: number
  readonly target: bigint
}

/** Height and anchor of a parent header. */
type TargetParent = Omit<TargetReference, 'target'>

const RADIX_BITS = 16n
const RADIX = 1n << RADIX_BITS
/** Coefficients of the cubic approximation of 2^x on [0, 1) (Bitcoin Cash, ASERT specification of 2020-11-15). */
const C1 = 195_766_423_245_049n
const C2 = 971_821_376n
const C3 = 5_127n

/** Gaps beyond this many spacings ease the target, doubling it every `VALVE_STEP` spacings. */
const VALVE_START = 10
const VALVE_STEP = 2

const clamp = (target: bigint, limit: bigint): bigint => (target < 1n ? 1n : target > limit ? limit : target)

/** 2^(x / 2^16) times `target`; `x` may be negative. */
const scale = (target: bigint, x: bigint): bigint => {
  const shift = x >> RADIX_BITS
  const fraction = x - (shift << RADIX_BITS)
  const factor = ((C1 * fraction + C2 * fraction ** 2n + C3 * fraction ** 3n + (1n << 47n)) >> 48n) + RADIX
  const product = target * factor
  return (shift < 0n ? product >> -shift : product << shift) >> RADIX_BITS
}

/** Target by the schedule alone, before limits: from the parent's distance to its scheduled position. */
const scheduled = (reference: TargetReference, parent: TargetParent, rules: ProofChainParams): bigint => {
  const { spacingBlocks, halfLifeBlocks } = rules
  const ahead =
    BigInt(parent.anchorNumber - reference.anchorNumber) -
    BigInt(spacingBlocks) * BigInt(parent.height - reference.height)
  const x = (ahead * RADIX) / BigInt(halfLifeBlocks)
  // Beyond this many doublings every target is at its limit; a larger shift would only take memory.
  return scale(reference.target, x > 256n * RADIX ? 256n * RADIX : x < -512n * RADIX ? -512n * RADIX : x)
}

/** Exact target of `parent`'s child with this anchor; `reference`: of its version. The idle valve eases that of a very late child. */
export const proofTarget = (
  rules: ProofChainParams,
  version: ProofVersion,
  reference: TargetReference,
  parent: TargetParent,
  anchorNumber: number,
): bigint => {
  const limit = maxTargetOf(rules, version)
  const target = clamp(scheduled(reference, parent, rules), limit)
  const late = anchorNumber - parent.anchorNumber - VALVE_START * rules.spacingBlocks
  if (late <= 0) return target
  const doublings = Math.floor(late / (VALVE_STEP * rules.spacingBlocks))
  return doublings >= 256 ? limit : clamp(target << BigInt(doublings), limit)
}

/** Number of version-1 hashes that equal one nativeHash: only pending headers around the fork are compared by it. */
const VERSION_2_WEIGHT = 2n ** 15n

/** Expected number of version-1 hashes for a header. */
export const proofWork = (version: ProofVersion, target: bigint): bigint => {
  const hashes = 2n ** 256n / (target + 1n)
  return version === 2 ? hashes * VERSION_2_WEIGHT : hashes
}
