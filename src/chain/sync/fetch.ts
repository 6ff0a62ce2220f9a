import type { SealedRange } from '../../consensus/verify-range.ts'
import type { Network } from '../../network/network.ts'
import { type DecodedBlock, decodeBlock } from '../../primitives/block.ts'
import { assert } from '../../util/assert.ts'
import { isCoded } from '../../util/errors.ts'
import { turnOver } from '../../util/turn.ts'
import type { Piece } from './plan.ts'

/** Blocks as a peer sent them: their form is sound, nothing else is known of them yet. */
export interface Fetched {
  readonly range: SealedRange
  readonly from: string
}

export type BlockSource = Pick<Network, 'request' | 'reportFalsehood'>

/** Asks peers for the first blocks of a piece, as many as one has. Rejects with CodedError<RequestError>, or as `decodeBlock` does. */
export const fetchPiece = async (network: BlockSource, { from: first, count }: Piece): Promise<Fetched> => {
  const { answer, from } = await network.request(
    'getBlocks',
    { from: first, count },
    {
      among: peer => peer.head.number >= first && peer.earliest <= first,
      judge: blocks => (blocks.length === 0 ? 'empty' : blocks.length > count ? 'false' : 'good'),
    },
  )
  const certificate = answer.at(-1)?.certificate
  assert(certificate !== undefined, 'a good answer holds a block')
  try {
    const blocks: DecodedBlock[] = []
    for (const { block } of answer) {
      blocks.push(decodeBlock(block))
      const pause = turnOver()
      if (pause !== undefined) await pause
    }
    return { range: { blocks, certificate }, from }
  } catch (error) {
    if (isCoded(error)) network.reportFalsehood(from, `block from ${first} on: ${error.message}`)
    throw error
  }
}
