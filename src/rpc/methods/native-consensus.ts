import { LIMITS } from '../../config/limits.ts'
import { turnOver } from '../../util/turn.ts'
import { named, optional } from '../codec.ts'
import { type BlockNumberRef, type BlockRef, blockNumber } from '../codecs/block.ts'
import { ADDRESS_SCHEMA, full, hash } from '../codecs/scalars.ts'
import { consensusBlockJson } from '../consensus-info.ts'
import type { Context } from '../context.ts'
import { headerNotFound, invalidParams, RESPONSE_TOO_LARGE, serverError } from '../errors.ts'
import { NULL_JSON, RawJson } from '../json.ts'
import { type MethodTable, method } from '../method.ts'
import { CONSENSUS_BLOCK_SCHEMA, INTEGER_SCHEMA, listOf, orNull } from '../schemas.ts'
import { findBlock, numberOf } from '../state-reads.ts'

const noPending = (ref: BlockRef): void => {
  if (ref === 'pending') throw serverError('pending is not allowed')
}

const withConsensus = async ({ view }: Context, ref: BlockRef, full: boolean): Promise<RawJson> => {
  noPending(ref)
  const found = await findBlock(view, ref)
  return found === undefined ? NULL_JSON : new RawJson(await consensusBlockJson(view, found, full))
}

const range = async ({ view }: Context, from: BlockNumberRef, to: BlockNumberRef, full = false): Promise<RawJson> => {
  noPending(from)
  noPending(to)
  const first = await numberOf(view, from)
  const last = await numberOf(view, to)
  if (first > last) throw invalidParams('invalid block range: from is after to')
  const blocks: string[] = []
  let length = 0
  for (let number = first; number <= last; number++) {
    await turnOver()
    const found = await view.blockByNumber(number)
    if (found === undefined) throw headerNotFound(number)
    const text = await consensusBlockJson(view, found, full)
    length += text.length
    if (length > LIMITS.rpc.answerBytes) throw RESPONSE_TOO_LARGE
    blocks.push(text)
  }
  return new RawJson(`[${blocks.join(',')}]`)
}

/** Checked before the blocks are looked up: a range may be too long and beyond the head at once. */
const checkLength = (from: BlockNumberRef, to: BlockNumberRef, head: number): void => {
  const at = (ref: BlockNumberRef): number => (typeof ref === 'number' ? ref : ref === 'earliest' ? 0 : head)
  if (at(to) - at(from) + 1 > LIMITS.rpc.blockRange)
    throw invalidParams(`block range too large: at most ${LIMITS.rpc.blockRange} blocks`)
}

/** The committee that decides the block after the head, or the one of a given block. */
const committeeAt = async ({ view }: Context, ref: BlockNumberRef | undefined): Promise<readonly string[]> => {
  if (ref === undefined || ref === 'pending') return view.committee(view.head().header.number + 1)
  return view.committee(await numberOf(view, ref))
}

const councilAt = async ({ view }: Context, ref: BlockNumberRef = 'latest'): Promise<readonly string[]> =>
  view.council(await numberOf(view, ref))

const block = optional(blockNumber)

/** How blocks are decided, and by whom. */
export const nativeConsensus = {
  native_getBlockWithConsensusInfo: method({
    summary: 'A block with its round, the numbers of its votes and its committee',
    params: [blockNumber, full],
    result: orNull(CONSENSUS_BLOCK_SCHEMA),
    notes:
      '`round` and `commitMsgNum` come from the certificate in the next block, at the head from the one this node holds; `prepareMsgNum` is the quorum.',
    handler: withConsensus,
  }),
  native_getBlockWithConsensusInfoByNumber: method({
    summary: 'As native_getBlockWithConsensusInfo',
    params: [blockNumber, full],
    result: orNull(CONSENSUS_BLOCK_SCHEMA),
    handler: withConsensus,
  }),
  native_getBlockWithConsensusInfoByHash: method({
    summary: 'As native_getBlockWithConsensusInfo, by hash',
    params: [hash, full],
    result: orNull(CONSENSUS_BLOCK_SCHEMA),
    handler: withConsensus,
  }),
  native_getBlockWithConsensusInfoRange: method({
    summary: 'Blocks with how they were decided, ascending, both ends included',
    params: [named('from', blockNumber), named('to', blockNumber), optional(full)],
    result: listOf(CONSENSUS_BLOCK_SCHEMA),
    notes: 'At most 100 blocks; more is -32602. Transactions are hashes unless the third argument is true.',
    handler: (context, from, to, full) => {
      checkLength(from, to, context.view.head().header.number)
      return range(context, from, to, full)
    },
  }),
  native_getCommittee: method({
    summary: 'Validators of the committee of the current round, in proposer order',
    params: [block],
    result: listOf(ADDRESS_SCHEMA),
    notes: 'Without a block: the committee that decides the next one.',
    handler: committeeAt,
  }),
  native_getCommitteeSize: method({
    summary: 'Size of the committee',
    params: [block],
    result: INTEGER_SCHEMA,
    handler: async (context, ref) => (await committeeAt(context, ref)).length,
  }),
  native_getCouncil: method({
    summary: 'All eligible validators, whether or not in the committee',
    params: [block],
    result: listOf(ADDRESS_SCHEMA),
    handler: councilAt,
  }),
  native_getCouncilSize: method({
    summary: 'Size of the council',
    params: [block],
    result: INTEGER_SCHEMA,
    handler: async (context, ref) => (await councilAt(context, ref)).length,
  }),
} satisfies MethodTable
