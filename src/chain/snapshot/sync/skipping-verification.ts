import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, undefinedIfCoded } from '@tandem/base/errors.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import type { RecoverAddress } from '../../../consensus/certificate.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../../primitives/consensus/extra-data.ts'
import { blockVoteDigest, type SigningDomain } from '../../../primitives/consensus/vote.ts'
import type { Header } from '../../../primitives/header.ts'
import { faultsOf } from '../../../rules/council/quorum.ts'

/** Reasons why no block can be trusted; the node then syncs by blocks. */
export type TrustError =
  /** The anchor is so old that its validators may have left with their stakes: a younger checkpoint is needed. */
  | {
      readonly code: 'ANCHOR_TOO_OLD'
      readonly number: number
      readonly ageSeconds: number
      readonly limitSeconds: number
    }
  /** Too few of the sealers at `from` still seal soon after it: a younger checkpoint is needed. */
  | { readonly code: 'TRUST_BROKEN'; readonly from: number; readonly to: number }

/** Header with a certificate of its block, as a peer sent it. */
export interface SealedHeader {
  readonly header: Header
  readonly hash: Hex
  readonly certificate: Certificate
}

/** Trusted block, and the validators that sealed its parent. */
export interface Anchor {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly sealers: ReadonlySet<Hex>
  /** Number of them that cannot all be faulty. */
  readonly enough: number
}

export interface TrustRules {
  readonly domain: SigningDomain
  readonly recover: RecoverAddress
}

/** Genesis as an anchor: its council is in the operator's own file. */
export const genesisAnchor = (timestamp: number, validators: readonly Hex[]): Anchor => ({
  number: 0,
  timestamp,
  sealers: new Set(validators),
  enough: faultsOf(validators.length) + 1,
})

/** Returns the anchor of a trusted header: its hash covers the sealers of its parent. undefined for the first block. */
export const anchorFromHeader = (header: Header, rules: TrustRules): Anchor | undefined => {
  const { parentCertificate } = decodeExtraData(header.extraData)
  if (parentCertificate === null) return undefined
  const sealed = { number: header.number - 1, blockHash: header.parentHash }
  const sealers = sealersOf(parentCertificate, sealed, rules)
  // A quorum is two thirds of n, so n is at most half as much again.
  return {
    number: header.number,
    timestamp: header.timestamp,
    sealers,
    enough: faultsOf(Math.max(1, Math.floor((3 * sealers.size) / 2))) + 1,
  }
}

/**
 * Returns true when so many of the anchor's sealers sealed this block that one of them is honest. So it is valid, with a quorum of seals of
 * its parent, and its parent is final. The block itself need not be: an honest member seals what it prepared, and a later round may decide
 * another one.
 */
export const hasHonestSealer = (
  anchor: Anchor,
  { header, hash, certificate }: SealedHeader,
  rules: TrustRules,
): boolean => {
  const sealers = sealersOf(certificate, { number: header.number, blockHash: hash }, rules)
  let known = 0
  for (const sealer of sealers) if (anchor.sealers.has(sealer)) known++
  return known >= anchor.enough
}

const sealersOf = (
  { round, seals }: Certificate,
  sealed: { readonly number: number; readonly blockHash: Hex },
  { domain, recover }: TrustRules,
): ReadonlySet<Hex> => {
  const digest = blockVoteDigest(domain, { type: 'commit', ...sealed, round })
  return new Set(seals.flatMap(seal => recover(digest, seal) ?? []))
}

/**
 * Verifies from the anchor to the block `target` that it is valid and its parent final: in one step where enough of the same validators seal at both ends, else through blocks
 * between them, each of which names the sealers for the next step. Throws ANCHOR_TOO_OLD, TRUST_BROKEN, and the errors of `fetch`.
 */
export const trustBlock = async (
  start: Anchor,
  target: SealedHeader,
  {
    fetch,
    nowSeconds,
    ...rules
  }: TrustRules & {
    readonly fetch: (number: number) => Promise<SealedHeader>
    readonly nowSeconds: number
  },
): Promise<void> => {
  const ageSeconds = nowSeconds - start.timestamp
  const limitSeconds = SNAPSHOT_LIMITS.trustSeconds
  if (ageSeconds > limitSeconds)
    throw new CodedError<TrustError>({ code: 'ANCHOR_TOO_OLD', number: start.number, ageSeconds, limitSeconds })
  let anchor = start
  /** Farther blocks that wait for one nearer to the anchor. */
  const waiting = [target]
  for (let step = 0; step < SNAPSHOT_LIMITS.trustSteps; step++) {
    const next = waiting.at(-1) as SealedHeader
    if (hasHonestSealer(anchor, next, rules)) {
      waiting.pop()
      if (waiting.length === 0) return
      anchor = anchorIn(next.header, rules) ?? anchor
      continue
    }
    const middle = Math.floor((anchor.number + next.header.number) / 2)
    if (middle <= anchor.number) break
    waiting.push(await fetch(middle))
  }
  const to = waiting.at(-1)?.header.number ?? target.header.number
  throw new CodedError<TrustError>({ code: 'TRUST_BROKEN', from: anchor.number, to })
}

const anchorIn = (header: Header, rules: TrustRules): Anchor | undefined =>
  undefinedIfCoded(() => anchorFromHeader(header, rules))
