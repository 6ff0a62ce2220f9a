import type { Hex } from '@tandem/base/bytes.ts'
import type { SignedMessage, StatusMessage } from '../../primitives/consensus/message.ts'
import type { HeightConfig, HeightState, StepContext } from './types.ts'

/** Returns true when another node votes or follows: a committee of one waits for no other votes, but its followers need it. */
export const hasOtherVoters = ({ members, index }: HeightConfig): boolean => members.length > 1 || index < 0

/** Broadcasts what this node has, so that neighbours send what it lacks. A status names one body: they are requested in turn. */
export const broadcastStatus = ({ height, out }: StepContext): void => {
  if (!hasOtherVoters(height.config)) return
  const message = statusFromHeight(height)
  out.push({ type: 'broadcast', message })
  if (message.wanted !== null && height.wanted.delete(message.wanted)) height.wanted.add(message.wanted)
}

/** Requests a missing body, the first time at once. */
export const requestBody = ({ height, out }: StepContext, blockHash: Hex): void => {
  if (height.wanted.has(blockHash)) return
  height.wanted.add(blockHash)
  out.push({ type: 'broadcast', message: statusFromHeight(height, blockHash) })
}

/** Ends the requests of a round that is over; a block with a quorum of commits is needed in any round. */
export const endRequests = ({ wanted, commits, quorum }: HeightState): void => {
  for (const hash of wanted)
    if (!commits.roundsOf(hash).some(round => commits.count(round, hash) >= quorum)) wanted.delete(hash)
}

export const statusFromHeight = (
  height: HeightState,
  wanted: Hex | null = height.wanted.values().next().value ?? null,
): StatusMessage => {
  const { config, round, proposals, prepares, commits, roundChanges } = height
  const changed = [...roundChanges.values()].filter(change => change.round >= round).map(change => change.sender)
  const size = config.members.length
  return {
    type: 'status',
    number: config.number,
    round,
    hasProposal: proposals.has(round),
    prepares: bitmapOf(prepares.senders(round), size),
    commits: bitmapOf(commits.senders(round), size),
    roundChanges: bitmapOf(changed, size),
    wanted,
  }
}

/** Sends a neighbour what its status lacks: a height, a body, messages of this node (docs/design/consensus.md#state-machine). */
export const respondToStatus = (ctx: StepContext, statusMessage: StatusMessage, to: string): void => {
  const { height, out } = ctx
  const { number } = height.config
  if (statusMessage.number < number) {
    out.push({ type: 'sendDecided', to, number: statusMessage.number })
    return
  }
  if (statusMessage.number > number) return
  if (height.decided !== null) {
    out.push({ type: 'send', to, message: { type: 'decided', ...height.decided } })
    return
  }
  const body = statusMessage.wanted === null ? undefined : height.blocks.get(statusMessage.wanted)
  if (body !== undefined) out.push({ type: 'send', to, message: { type: 'body', block: body } })
  for (const message of lackedBy(height, statusMessage)) out.push({ type: 'send', to, message })
}

const lackedBy = ({ config, own }: HeightState, statusMessage: StatusMessage): readonly SignedMessage[] => {
  const lacked: SignedMessage[] = []
  const misses = (bitmap: Uint8Array): boolean => !hasBit(bitmap, config.index)
  const { proposal, prepare, commit, roundChange } = own
  if (proposal?.round === statusMessage.round && !statusMessage.hasProposal) lacked.push(proposal)
  if (prepare?.round === statusMessage.round && misses(statusMessage.prepares)) lacked.push(prepare)
  // Commits of every round of the height count, so the missing one may be of another round.
  if (commit !== null && (commit.round !== statusMessage.round || misses(statusMessage.commits))) lacked.push(commit)
  if (roundChange !== null && isNews(roundChange.round, statusMessage, misses(statusMessage.roundChanges)))
    lacked.push(roundChange)
  return lacked
}

/** A round change above the neighbour's round is sent even if it has one of this node: that one may be older. */
const isNews = (round: number, statusMessage: StatusMessage, missing: boolean): boolean =>
  round > statusMessage.round || (round === statusMessage.round && missing)

const bitmapOf = (senders: Iterable<number>, size: number): Uint8Array => {
  const bitmap = new Uint8Array(Math.ceil(size / 8))
  for (const sender of senders) bitmap[sender >> 3] = (bitmap[sender >> 3] as number) | (1 << (sender & 7))
  return bitmap
}

const hasBit = (bitmap: Uint8Array, index: number): boolean =>
  index >= 0 && ((bitmap[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
