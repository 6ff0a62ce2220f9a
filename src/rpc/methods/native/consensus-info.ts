import type { Hex } from '@tandem/base/bytes.ts'
import type { ChainBlock, ChainView, CouncilMemberStatus } from '../../../chain/types.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { blockJson } from '../../encode/block.ts'

/**
 * Quorum ceil(2n/3): the size of the prepare certificate behind a commit (docs/design/blocks.md#consensus-members,
 * docs/design/council.md#committee).
 */
const quorumOf = (size: number): number => Math.ceil((2 * size) / 3)

export const validatorsOf = (members: readonly CouncilMemberStatus[] = []): readonly Hex[] =>
  members.map(({ validator }) => validator)

/** Certificate in the child's header, equal on every node; at the head the one this node stored. */
export const certificateOf = async (view: ChainView, number: number): Promise<Certificate | undefined> => {
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
export const consensusBlockJson = async (view: ChainView, block: ChainBlock, full: boolean): Promise<string> =>
  blockJson(block, full, 'final', `,"consensus":${await consensusJson(view, block.header.number)}`)

/** The same for the pending block, on which nobody has voted yet: zeros, and the committee that decides the next block. */
export const pendingConsensusBlockJson = (view: ChainView, block: ChainBlock, full: boolean): string => {
  const committee = view.committee(view.head().header.number + 1) ?? []
  const consensus = { round: 0, prepareMsgNum: 0, commitMsgNum: 0, validators: committee }
  return blockJson(block, full, 'pending', `,"consensus":${JSON.stringify(consensus)}`)
}
