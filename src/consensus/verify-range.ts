import type { Hex } from '@tandem/base/bytes.ts'
import type { DecodedBlock } from '../primitives/block.ts'
import type { Certificate } from '../primitives/consensus/certificate.ts'
import { type ExtraData, readExtraData } from '../primitives/consensus/extra-data.ts'
import type { SigningDomain } from '../primitives/consensus/vote.ts'
import { isBodyOf } from '../rules/body.ts'
import {
  type CertificateFault,
  isSealed,
  type RecoverAddress,
  rejectHighS,
  sealChecks,
  shapeFault,
} from './certificate.ts'
import type { Committee } from './committee.ts'
import type { CommitteePort } from './ports.ts'

/** Consecutive blocks from a neighbour with the certificate of the last; the headers of the children hold the others. */
export interface SealedRange {
  readonly blocks: readonly DecodedBlock[]
  readonly certificate: Certificate
}

export interface RangeRules {
  /** Parent of the range, which this node has. */
  readonly parent: { readonly number: number; readonly hash: Hex }
  readonly committees: CommitteePort
  readonly domain: SigningDomain
  readonly recover: RecoverAddress
  /**
   * `tips`: the certificate of the last block, and of the last one of each committee. A sealed block proves those before it, since an
   * honest member seals only on a final parent. `all`: every certificate, that of `parent` in the first header included.
   */
  readonly certificates: 'tips' | 'all'
}

type RangeFaultReason =
  | 'EMPTY'
  /** Number does not match its position. */
  | 'NUMBER'
  /** Hash differs from the child's parentHash or, for the first block, the parent is not `parent`. */
  | 'LINK'
  | 'EXTRA_DATA'
  /** Body does not match its header. */
  | 'BODY'
  /** The child carries no certificate of the block. */
  | 'CERTIFICATE_MISSING'
  /** Only a shorter range can be verified so far (`rangePrefix`). */
  | 'COMMITTEE_UNKNOWN'
  | CertificateFault

/** Fault of a range and the height of its block. */
export interface RangeFault {
  readonly number: number
  readonly reason: RangeFaultReason
}

/**
 * Verifies that a range of blocks is final (docs/design/consensus.md#ranges): null, or the fault nearest to its end. The certificate of
 * the last block is checked first: trust runs from there down the hash links, so that an altered block is reported itself, not its
 * neighbour. Nothing is executed: the importer compares the roots of state and receipts.
 */
export const rangeFault = (range: SealedRange, rules: RangeRules): RangeFault | null => {
  const placing = placeFault(range, rules)
  if (placing !== null) return placing
  const recover = rejectHighS(rules.recover)
  const extras = range.blocks.map(({ header }) => readExtraData(header))
  const [tip, ...others] = dueCertificates(range, extras, rules)
  return (
    sealFault([tip as DueCertificate], rules, recover) ??
    linkFault(range, rules) ??
    bodyFault(range, extras, rules) ??
    sealFault(others, rules, recover)
  )
}

/** Returns the first `count` blocks of a range with the certificate of the last of them; undefined when their child carries none. */
export const rangePrefix = ({ blocks, certificate }: SealedRange, count: number): SealedRange | undefined => {
  const child = blocks[count]
  const sealed = child === undefined ? certificate : readExtraData(child.header)?.parentCertificate
  return sealed ? { blocks: blocks.slice(0, count), certificate: sealed } : undefined
}

/** Returns the agreed certificate of each block of a verified range, to be stored with it. */
export const certificatesOfRange = (range: SealedRange): readonly Certificate[] =>
  range.blocks.map((_, at) => (rangePrefix(range, at + 1) as SealedRange).certificate)

/** Checks the heights, and that their committees are known. */
const placeFault = ({ blocks }: SealedRange, { parent, committees }: RangeRules): RangeFault | null => {
  const first = parent.number + 1
  if (blocks.length === 0) return { number: first, reason: 'EMPTY' }
  const misplaced = blocks.findLastIndex(({ header }, at) => header.number !== first + at)
  if (misplaced >= 0) return { number: first + misplaced, reason: 'NUMBER' }
  const unknown = blocks.findIndex((_, at) => committees.committee(first + at) === undefined)
  return unknown < 0 ? null : { number: first + unknown, reason: 'COMMITTEE_UNKNOWN' }
}

const linkFault = ({ blocks }: SealedRange, { parent }: RangeRules): RangeFault | null => {
  const broken = blocks.findLastIndex(({ hash }, at) => {
    const child = blocks[at + 1]
    return child !== undefined && child.header.parentHash !== hash
  })
  if (broken >= 0) return { number: parent.number + 1 + broken, reason: 'LINK' }
  return blocks[0]?.header.parentHash === parent.hash ? null : { number: parent.number + 1, reason: 'LINK' }
}

const bodyFault = (
  { blocks }: SealedRange,
  extras: readonly (ExtraData | undefined)[],
  { parent }: RangeRules,
): RangeFault | null => {
  for (let at = blocks.length - 1; at >= 0; at--) {
    const number = parent.number + 1 + at
    const extra = extras[at]
    if (extra === undefined) return { number, reason: 'EXTRA_DATA' }
    if (!isBodyOf(blocks[at] as DecodedBlock, extra)) return { number, reason: 'BODY' }
  }
  return null
}

interface DueCertificate {
  readonly number: number
  readonly blockHash: Hex
  readonly committee: Committee
  /** null: the child carries none. */
  readonly certificate: Certificate | null
}

/** Returns the certificates to check, from the end of the range, which always includes one, to its beginning. */
const dueCertificates = (
  { blocks, certificate }: SealedRange,
  extras: readonly (ExtraData | undefined)[],
  { parent, committees, certificates }: RangeRules,
): readonly DueCertificate[] => {
  const due: DueCertificate[] = []
  const lowest = certificates === 'all' && parent.number > 0 ? -1 : 0
  let above: Committee | undefined
  for (let at = blocks.length - 1; at >= lowest; at--) {
    const number = parent.number + 1 + at
    const committee = committees.committee(number)
    // The parent's committee may be too old to be known; its hash links it to the range.
    if (committee === undefined) break
    const isTip = above === undefined || !isSame(committee, above)
    above = committee
    if (certificates === 'tips' && !isTip) continue
    const blockHash = blocks[at]?.hash ?? parent.hash
    const sealed = at === blocks.length - 1 ? certificate : (extras[at + 1]?.parentCertificate ?? null)
    due.push({ number, blockHash, committee, certificate: sealed })
  }
  return due
}

/** The shapes of all are checked first, since that is cheap. */
const sealFault = (
  due: readonly DueCertificate[],
  { domain }: RangeRules,
  recover: RecoverAddress,
): RangeFault | null => {
  for (const { number, certificate, committee } of due) {
    const reason = certificate === null ? 'CERTIFICATE_MISSING' : shapeFault(certificate, committee)
    if (reason !== null) return { number, reason }
  }
  const broken = due.find(({ certificate, committee, ...sealed }) =>
    sealChecks(certificate as Certificate, sealed, committee, domain).some(check => !isSealed(check, recover)),
  )
  return broken === undefined ? null : { number: broken.number, reason: 'SEAL_INVALID' }
}

const isSame = (a: Committee, b: Committee): boolean =>
  a === b || (a.members.length === b.members.length && a.members.every((member, at) => member === b.members[at]))
