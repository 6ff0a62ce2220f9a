import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { certificateFault } from '../../consensus/certificate.ts'
import { rejectHighS } from '../../consensus/signer/signature-verifier.ts'
import type { RangeFault, RangeRules } from '../../consensus/verify-range.ts'
import type { SealedBlock } from '../../network/wire/consensus.ts'
import { decodeBlockHeader } from '../../primitives/block.ts'

/** Rules for checking the certificate of the last block; without them it is not checked. */
export type ClaimRules = Pick<RangeRules, 'committees' | 'domain' | 'recover'>

/**
 * Returns the fault of a response as far as its headers show it: their numbers, their links, and the certificate of the last one where its
 * committee is known. No body is decoded, so a false response costs only its headers and one certificate. Throws BLOCK_MALFORMED for an
 * invalid header.
 */
export const claimFault = (sealed: readonly SealedBlock[], first: number, rules?: ClaimRules): RangeFault | null => {
  const heads = sealed.map(({ block }) => decodeBlockHeader(block, BLOCK_BOUNDS.headerBytes))
  for (const [at, { header }] of heads.entries()) {
    const number = first + at
    if (header.number !== number) return { number, reason: 'NUMBER' }
    const parent = heads[at - 1]
    if (parent !== undefined && header.parentHash !== parent.hash) return { number, reason: 'LINK' }
  }
  const number = first + sealed.length - 1
  const committee = rules?.committees.committee(number)
  const [head, last] = [heads.at(-1), sealed.at(-1)]
  if (rules === undefined || committee === undefined || head === undefined || last === undefined) return null
  const { domain, recover } = rules
  const certified = { number, blockHash: head.hash }
  const reason = certificateFault(last.certificate, certified, committee, domain, rejectHighS(recover))
  return reason === null ? null : { number, reason }
}
