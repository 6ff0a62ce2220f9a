import type { ChainBlock, ChainView } from '../../../chain/types.ts'
import { blockFromParts } from '../../../primitives/block.ts'
import type { Header } from '../../../primitives/header.ts'
import { toQuantity } from '../../../util/bytes.ts'
import { headerJson } from '../../encode/block.ts'
import { NULL_JSON, RawJson } from '../../router/raw-json.ts'

/* Blocks of this chain have no uncles; those of a recorded proof-of-work chain may (fixture mode). */

export const uncleCount = (block: ChainBlock): string => toQuantity(block.ethereum?.uncles.length ?? 0)

/** Header object of an uncle; null when there is none. */
export const uncleJson = async (view: ChainView, block: ChainBlock, index: number): Promise<RawJson> => {
  const uncle = block.ethereum?.uncles[index]
  if (uncle === undefined) return NULL_JSON
  // The parent of a valid uncle is a block of the chain.
  const parent = await view.blockByHash(uncle.parentHash)
  const totalDifficulty = (parent?.ethereum?.totalDifficulty ?? 0n) + uncle.difficulty
  return new RawJson(
    headerJson({ ...emptyBlock(uncle, totalDifficulty), extra: { ...block.extra, proposer: uncle.miner } }),
  )
}

const emptyBlock = (header: Header, totalDifficulty: bigint) =>
  blockFromParts(header, {
    transactions: [],
    proofHeaders: [],
    evidence: [],
    ethereum: { uncles: [], withdrawals: undefined, totalDifficulty },
  })
