import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { ChainBlock, ChainView, CouncilMemberStatus } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { type Certificate, signerIndexes } from '../../../primitives/consensus/certificate.ts'
import { quorumOf, toleratedFaults } from '../../../rules/council/quorum.ts'
import { block, blockNumber } from '../../codecs/block.ts'
import { ADDRESS_SCHEMA, DATA_SCHEMA, full, hash, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { addresses, CONSENSUS_BLOCK_SCHEMA, INTEGER_SCHEMA, listOf, objectOf, orNull } from '../../codecs/schemas.ts'
import { blockJson } from '../../encode/block.ts'
import { headerNotFound, RESPONSE_TOO_LARGE } from '../../errors.ts'
import {
  type BlockNumberRef,
  type BlockRef,
  blockNumberOf,
  committedRange,
  findBlock,
} from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { named, optional } from '../../router/method-description.ts'
import { NULL_JSON, RawJson } from '../../router/raw-json.ts'

const validatorsOf = (members: readonly CouncilMemberStatus[] = []): readonly Hex[] =>
  members.map(({ validator }) => validator)

/** Certificate in the child's header, equal on every node; at the head the one this node stored. */
const certificateOf = async (view: ChainView, number: number): Promise<Certificate | undefined> => {
  const child = number < view.head().header.number ? await view.blockByNumber(number + 1) : undefined
  return child?.extra.parentCertificate ?? view.certificate(number)
}

/** Member `consensus` of docs/interface.md#consensus-block. Genesis had no votes: zeros, and the first council. */
const consensusJson = async (view: ChainView, number: number): Promise<string> => {
  if (number === 0)
    return `{"round":0,"prepareMsgNum":0,"commitMsgNum":0,"validators":${JSON.stringify(validatorsOf(view.council(0)))}}`
  const certificate = await certificateOf(view, number)
  const committee = view.committee(number) ?? []
  return `{"round":${certificate?.round ?? 0},"prepareMsgNum":${quorumOf(committee.length)},"commitMsgNum":${certificate?.seals.length ?? 0},"validators":${JSON.stringify(committee)}}`
}

/** Block object with its consensus data (docs/interface.md#consensus-block). */
const consensusBlockJson = async (view: ChainView, block: ChainBlock, full: boolean): Promise<string> =>
  blockJson(block, full, 'final', `,"consensus":${await consensusJson(view, block.header.number)}`)

/** Pending block with the consensus of none yet: zeros, and the committee that decides the next block. */
const pendingConsensusBlockJson = (view: ChainView, block: ChainBlock, full: boolean): string => {
  const validators = view.committee(view.head().header.number + 1) ?? []
  const consensus = { round: 0, prepareMsgNum: 0, commitMsgNum: 0, validators }
  return blockJson(block, full, 'pending', `,"consensus":${JSON.stringify(consensus)}`)
}

const withConsensus = async ({ view }: Context, ref: BlockRef, full: boolean): Promise<RawJson> => {
  if (ref === 'pending') return new RawJson(pendingConsensusBlockJson(view, (await view.pending()).block, full))
  const found = await findBlock(view, ref)
  return found === undefined ? NULL_JSON : new RawJson(await consensusBlockJson(view, found, full))
}

const consensusBlock = method({
  summary: 'A block with its round, the numbers of its votes and its committee',
  params: [blockNumber, full],
  result: orNull(CONSENSUS_BLOCK_SCHEMA),
  notes:
    '`round` and `commitMsgNum` come from the certificate in the next block, at the head from the one this node holds; `prepareMsgNum` is the quorum.',
  handler: withConsensus,
})

const range = async (
  { view, client }: Context,
  from: BlockNumberRef,
  to: BlockNumberRef,
  full = false,
): Promise<RawJson> => {
  const { first, last } = await committedRange(view, from, to)
  const blocks: string[] = []
  let length = 0
  for (let number = first; number <= last; number++) {
    await sliceOver(client)
    const found = await view.blockByNumber(number)
    if (found === undefined) throw headerNotFound(number)
    const text = await consensusBlockJson(view, found, full)
    length += text.length
    if (length > RPC_LIMITS.answerBytes) throw RESPONSE_TOO_LARGE
    blocks.push(text)
  }
  return new RawJson(`[${blocks.join(',')}]`)
}

/** Answers for a given block, or the one after the head. Committees are stored for every cycle, so pruned state does not matter. */
const at = async <T>(
  { view }: Context,
  ref: BlockNumberRef | undefined,
  read: (number: number) => T | undefined,
): Promise<T> => {
  const isNext = ref === undefined || ref === 'pending'
  const number = isNext ? view.head().header.number + 1 : await blockNumberOf(view, ref)
  const known = read(number)
  if (known === undefined) throw headerNotFound(number)
  return known
}

const committeeAt = (context: Context, ref: BlockNumberRef | undefined): Promise<readonly Hex[]> =>
  at(context, ref, number => context.view.committee(number))

const councilAt = (context: Context, ref: BlockNumberRef | undefined): Promise<readonly CouncilMemberStatus[]> =>
  at(context, ref, number => context.view.council(number))

/** Eligible members of the council; a small one keeps others in its committee too (docs/design/council.md#qualification). */
const eligibleAt = async (context: Context, ref: BlockNumberRef | undefined): Promise<readonly CouncilMemberStatus[]> =>
  (await councilAt(context, ref)).filter(({ status }) => status === 'active')

/** Certificate of a block with its signers; null for genesis, the pending block and unknown ones. */
const certificateJson = async ({ view }: Context, ref: BlockRef): Promise<object | null> => {
  const found = ref === 'pending' ? undefined : await findBlock(view, ref)
  const number = found?.header.number ?? 0
  const certificate = number === 0 ? undefined : await certificateOf(view, number)
  const committee = view.committeeByIndex(number)
  if (found === undefined || certificate === undefined || committee === undefined) return null
  return {
    number: toQuantity(number),
    blockHash: found.hash,
    round: certificate.round,
    committee,
    signers: signerIndexes(certificate).map(index => committee[index]),
    seals: certificate.seals.map(bytesToHex),
  }
}

const atBlock = optional(blockNumber)

/** Methods about the decision of blocks and the committee. */
export const nativeConsensus = {
  native_getBlockWithConsensusInfo: consensusBlock,
  native_getBlockWithConsensusInfoByNumber: {
    ...consensusBlock,
    summary: 'As native_getBlockWithConsensusInfo',
    notes: undefined,
  },
  native_getBlockWithConsensusInfoByHash: {
    ...consensusBlock,
    summary: 'As native_getBlockWithConsensusInfo, by hash',
    params: [hash, full],
    notes: undefined,
  },
  native_getBlockWithConsensusInfoRange: method({
    summary: 'Blocks with how they were decided, ascending, both ends included',
    params: [named('from', blockNumber), named('to', blockNumber), optional(full)],
    result: listOf(CONSENSUS_BLOCK_SCHEMA),
    notes: 'At most 100 blocks; more is -32602. Transactions are hashes unless the third argument is true.',
    weight: 20,
    handler: range,
  }),
  native_getCertificate: method({
    summary: 'Validators that signed the commit of a block, and their seals',
    params: [block],
    result: orNull(
      objectOf('Certificate', {
        number: QUANTITY_SCHEMA,
        blockHash: hash.schema,
        round: INTEGER_SCHEMA,
        committee: listOf(ADDRESS_SCHEMA),
        signers: listOf(ADDRESS_SCHEMA),
        seals: listOf(DATA_SCHEMA),
      }),
    ),
    notes:
      'From the certificate in the next block, at the head from the one this node holds. `committee` is in the order of the members’ indexes, `seals` in that of `signers`. null for genesis and the pending block.',
    handler: certificateJson,
  }),
  native_getCommittee: method({
    summary: 'Validators of the committee of the current round, in proposer order',
    params: [atBlock],
    result: listOf(ADDRESS_SCHEMA),
    notes: 'Without a block: the committee that decides the next one.',
    handler: committeeAt,
  }),
  native_getCommitteeSize: method({
    summary: 'Size of the committee',
    params: [atBlock],
    result: INTEGER_SCHEMA,
    handler: async (context, ref) => (await committeeAt(context, ref)).length,
  }),
  native_getCouncil: method({
    summary: 'All eligible validators, whether or not in the committee',
    params: [atBlock],
    result: listOf(ADDRESS_SCHEMA),
    notes:
      'Eligible: neither queued, inactive nor jailed; native_getStakingInfo lists all with their status. Without a block: the council that serves at the next one. A council serves the cycle after the next (docs/council.md).',
    handler: async (context, ref) => validatorsOf(await eligibleAt(context, ref)),
  }),
  native_getCouncilSize: method({
    summary: 'Number of eligible validators: the length of native_getCouncil',
    params: [atBlock],
    result: INTEGER_SCHEMA,
    notes: 'Above native_getCommitteeSize, committees are samples: see native_getCouncilTolerance.',
    handler: async (context, ref) => (await eligibleAt(context, ref)).length,
  }),
  native_getCouncilTolerance: method({
    summary: 'Number of members of native_getCouncil that may be faulty or offline',
    params: [atBlock],
    result: INTEGER_SCHEMA,
    notes: 'f where all serve, else a smaller share (docs/design/council.md#sampling).',
    handler: async (context, ref) =>
      toleratedFaults((await eligibleAt(context, ref)).length, (await committeeAt(context, ref)).length),
  }),
  native_getStakingInfo: method({
    summary: 'Names, stakes and reward addresses of the council',
    params: [atBlock],
    result: listOf(
      objectOf('Stake', {
        name: { type: 'string' },
        ...addresses('validator', 'owner', 'reward'),
        stake: QUANTITY_SCHEMA,
        status: { type: 'string', enum: ['active', 'queued', 'inactive', 'jailed'] },
      }),
    ),
    notes:
      'As the council that serves at the block was read, at any height. `queued`: admitted, begins to serve in a later cycle; `inactive`: no seal in any certificate for too long; `jailed`: evidence in a block. Without a block: at the next one.',
    handler: async (context, ref) =>
      (await councilAt(context, ref)).map(({ name, validator, owner, reward, stakeWei, status }) => ({
        name,
        validator,
        owner,
        reward,
        stake: toQuantity(stakeWei),
        status,
      })),
  }),
} satisfies MethodTable
