import { LIMITS } from '../../../config/limits.ts'
import type { RecoverAddress } from '../../../consensus/certificate.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { blockVoteDigest, type SigningDomain } from '../../../primitives/consensus/vote.ts'
import { decodeExtraData } from '../../../primitives/extra-data.ts'
import type { Header } from '../../../primitives/header.ts'
import { faultsOf } from '../../../rules/quorum.ts'
import type { Hex } from '../../../util/bytes.ts'
import { CodedError, undefinedIfCoded } from '../../../util/errors.ts'

/** Why nobody can be told what the chain is; the node goes on with blocks. */
export type TrustError =
  /** So long ago that its validators may have left with their stakes: a younger checkpoint is needed. */
  | {
      readonly code: 'ANCHOR_TOO_OLD'
      readonly number: number
      readonly ageSeconds: number
      readonly limitSeconds: number
    }
  /** Too few of those who sealed at `from` still seal soon after it: a younger checkpoint is needed. */
  | { readonly code: 'TRUST_BROKEN'; readonly from: number; readonly to: number }

/** A header with a certificate of its block, as a peer sent it. */
export interface SealedHeader {
  readonly header: Header
  readonly hash: Hex
  readonly certificate: Certificate
}

/** A block that is known to be of the chain, and who is known to have sealed then. */
export interface Anchor {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly sealers: ReadonlySet<Hex>
  /** So many of them cannot all be faulty. */
  readonly enough: number
}

export interface TrustRules {
  readonly domain: SigningDomain
  readonly recover: RecoverAddress
}

/** Genesis: its council is in the operator's own file. */
export const genesisAnchor = (timestamp: number, validators: readonly Hex[]): Anchor => ({
  number: 0,
  timestamp,
  sealers: new Set(validators),
  enough: faultsOf(validators.length) + 1,
})

/** A header that is trusted names in its hash who sealed its parent: a quorum of that committee. undefined: the first has no parent that was sealed. */
export const anchorFromHeader = (header: Header, rules: TrustRules): Anchor | undefined => {
  const { parentCertificate } = decodeExtraData(header.extraData)
  if (parentCertificate === null) return undefined
  const sealed = { number: header.number - 1, blockHash: header.parentHash }
  const sealers = sealersOf(parentCertificate, sealed, rules)
  // A quorum of n is two thirds of it, so n is at most half as much again.
  return {
    number: header.number,
    timestamp: header.timestamp,
    sealers,
    enough: faultsOf(Math.max(1, Math.floor((3 * sealers.size) / 2))) + 1,
  }
}

/** Whether so many of the anchor's sealers sealed this block that one of them is honest, and an honest one seals what is final alone. */
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
 * Walks from the anchor to the block `target`: in one step where enough of the same validators seal at both ends, else by blocks between
 * them, each of which names the sealers for the next step. Throws ANCHOR_TOO_OLD, TRUST_BROKEN, and what `fetch` throws.
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
  const limitSeconds = LIMITS.snapshot.trustSeconds
  if (ageSeconds > limitSeconds)
    throw new CodedError<TrustError>({ code: 'ANCHOR_TOO_OLD', number: start.number, ageSeconds, limitSeconds })
  let anchor = start
  /** Farther blocks that wait for one nearer to the anchor. */
  const waiting = [target]
  for (let step = 0; step < LIMITS.snapshot.trustSteps; step++) {
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
