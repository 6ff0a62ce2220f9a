import { isCoded } from '@tandem/base/errors.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import { type BlockPlace, fetchSealedHeader, type PeerSource } from './sync/fetch-headers.ts'
import { type Anchor, type SealedHeader, type TrustRules, trustBlock } from './sync/skipping-verification.ts'

interface ProveOptions {
  readonly network: PeerSource
  /** Peers that have the child of the block, whose headers are verified one after the other. */
  readonly witnesses: readonly string[]
  readonly anchor: Anchor
  readonly rules: TrustRules
  readonly nowSeconds: number
}

/** `false`: the chain has another block of that number. `unknown`: no peer could prove either. */
export type Proof = 'true' | 'false' | 'unknown'

/**
 * Proves that a block is part of the chain, by its child: one that an honest validator sealed has a final parent, and seals of the block
 * itself prove nothing (docs/design/snapshot-sync.md). Each witness is used alone, with all headers between the anchor and the child: a
 * lying witness proves nothing, and does not affect the next. A block is false only when another one of its number is proven. Throws
 * ANCHOR_TOO_OLD.
 */
export const proveBlock = async ({ number, hash }: BlockPlace, options: ProveOptions): Promise<Proof> => {
  for (const witness of options.witnesses.slice(0, SNAPSHOT_LIMITS.witnesses)) {
    const child = await headerOf(witness, number + 1, options)
    if (child !== undefined && (await isTrusted(child, witness, options)))
      return child.header.parentHash === hash ? 'true' : 'false'
  }
  return 'unknown'
}

const headerOf = async (
  witness: string,
  number: number,
  { network }: ProveOptions,
): Promise<SealedHeader | undefined> => {
  try {
    return await fetchSealedHeader(network, number, witness)
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

const isTrusted = async (
  target: SealedHeader,
  witness: string,
  { network, anchor, rules, nowSeconds }: ProveOptions,
): Promise<boolean> => {
  const fetch = (number: number) => fetchSealedHeader(network, number, witness)
  try {
    await trustBlock(anchor, target, { ...rules, nowSeconds, fetch })
    return true
  } catch (error) {
    if (!isCoded(error) || error.code === 'ANCHOR_TOO_OLD') throw error
    return false
  }
}
