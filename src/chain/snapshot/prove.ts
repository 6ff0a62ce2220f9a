import { LIMITS } from '../../config/limits.ts'
import { isCoded } from '../../util/errors.ts'
import { fetchSealedHeader, type PeerSource } from './sync/fetch-headers.ts'
import { type Anchor, type SealedHeader, type TrustRules, trustBlock } from './sync/skipping-verification.ts'

export interface ProveOptions {
  readonly network: PeerSource
  /** Peers whose headers are walked, one after the other. */
  readonly witnesses: readonly string[]
  readonly anchor: Anchor
  readonly rules: TrustRules
  readonly nowSeconds: number
}

/** `false`: the chain has another block there. `unknown`: nobody could show either. */
export type Proof = 'true' | 'false' | 'unknown'

/**
 * Whether a block is of the chain. Each witness is taken alone, with all headers between the anchor and the block from it: one that lies
 * proves nothing, and spoils nothing for the next. A block is false only where another one of its number is proven. Throws ANCHOR_TOO_OLD.
 */
export const proveBlock = async (target: SealedHeader, options: ProveOptions): Promise<Proof> => {
  for (const witness of options.witnesses.slice(0, LIMITS.snapshot.witnesses)) {
    if (await isTrusted(target, witness, options)) return 'true'
    const theirs = await headerOf(witness, target.header.number, options)
    if (theirs === undefined || !(await isTrusted(theirs, witness, options))) continue
    return theirs.hash === target.hash ? 'true' : 'false'
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
