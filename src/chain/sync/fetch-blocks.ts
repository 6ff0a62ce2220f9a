import { assert } from '@tandem/base/assert.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { certificateFault, rejectHighS } from '../../consensus/certificate.ts'
import type { RangeFault, RangeRules, SealedRange } from '../../consensus/verify-range.ts'
import type { SealedBlock } from '../../network/messages/consensus-messages.ts'
import type { Network } from '../../network/network.ts'
import type { Peer } from '../../network/peer/peer.ts'
import type { RequestEvent } from '../../network/peer/requester.ts'
import { type DecodedBlock, decodeBlock, decodeBlockHeader } from '../../primitives/block.ts'
import type { BlockBatch } from './range-plan.ts'

/** Rules for checking the certificate of the last block; without them it is not checked. */
type ClaimRules = Pick<RangeRules, 'committees' | 'domain' | 'recover'>

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

/** Blocks from a peer: well-formed, otherwise unverified. */
export interface FetchedBlocks {
  readonly range: SealedRange
  readonly from: string
}

type BlockSource = Pick<Network, 'request' | 'reportForgery'>

interface FetchOptions {
  /** Eligible peers, of those that claim to have it. */
  readonly among: (peer: string) => boolean
  readonly watch: (peer: string, event: RequestEvent) => void
  readonly rules: ClaimRules
  readonly pause?: typeof sliceOver | undefined
}

/** Fetches the first blocks of a batch, as many as one peer has. Throws CodedError<RequestError>, or as `decodeFetchedBlocks`. */
export const fetchBatch = async (
  network: BlockSource,
  { from: first, count }: BlockBatch,
  { among, watch, rules, pause }: FetchOptions,
): Promise<FetchedBlocks> => {
  const { answer, from } = await network.request(
    'getBlocks',
    { from: first, count },
    {
      among: peer => claimsBlock(peer, first) && among(peer.id),
      // The peer claimed to have them.
      validate: (blocks, isAlone) =>
        blocks.length > 0 && blocks.length <= count ? 'good' : blocks.length > 0 || isAlone ? 'false' : 'empty',
      watch,
    },
  )
  return decodeFetchedBlocks(network, answer, { from, first, rules, pause })
}

/** Returns true when a peer claims to have this block. */
export const claimsBlock = ({ head, earliest }: Peer, number: number): boolean =>
  head.number >= number && earliest <= number

/** The headers of a response prove it false. */
type FalseBlocksError = { readonly code: 'BLOCKS_FALSE'; readonly number: number; readonly reason: string }

/** Decodes blocks from `first` on: headers, then bodies. Otherwise reports the peer and throws BLOCKS_FALSE or BLOCK_MALFORMED. */
export const decodeFetchedBlocks = async (
  network: Pick<BlockSource, 'reportForgery'>,
  sealed: readonly SealedBlock[],
  { from, first, rules, pause = sliceOver }: Partial<FetchOptions> & { readonly from: string; readonly first: number },
): Promise<FetchedBlocks> => {
  const certificate = sealed.at(-1)?.certificate
  assert(certificate !== undefined, 'a range holds a block')
  try {
    const fault = claimFault(sealed, first, rules)
    if (fault !== null) throw new CodedError<FalseBlocksError>({ code: 'BLOCKS_FALSE', ...fault })
    const blocks: DecodedBlock[] = []
    for (const { block } of sealed) {
      blocks.push(decodeBlock(block))
      const over = pause()
      if (over !== undefined) await over
    }
    return { range: { blocks, certificate }, from }
  } catch (error) {
    if (isCoded(error)) network.reportForgery(from, `blocks from ${first} on: ${error.message}`)
    throw error
  }
}
