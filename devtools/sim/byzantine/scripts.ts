import { forgetsLate, votesTwiceLate } from './betraying.ts'
import type { Script } from './byzantine-node.ts'
import { forgesClaims, replaysElsewhere, sendsFalseStatus, stripsClaims, votesForOthers } from './claiming.ts'
import { floodsBodies, forgesDecisions, swapsBodies } from './deciding.ts'
import { fuzzesMessages } from './fuzz.ts'
import { hidesBehindInvalid, hidesCertificates, withholdsBodies } from './hiding.ts'
import { forgesProofs, gossipsForgedProofs, includesOwnProofs, leavesOutProofs } from './mining.ts'
import { forgesRoundChanges, namesAnotherProposer, proposesElsewhere, proposesOutOfTurn } from './offering.ts'
import {
  forgesPrepares,
  forgesTheParentCertificate,
  ignoresThePrepared,
  justifiesWithAnotherHeight,
  justifiesWithOneSender,
  justifiesWithStaleChanges,
  proposesFromTheFuture,
  proposesInvalid,
  proposesLate,
  proposesSlow,
  proposesTwo,
  proposesUnprepared,
} from './proposing.ts'
import { replaysHeights } from './replaying.ts'
import {
  commitsToOne,
  floodsRounds,
  pushesRounds,
  replays,
  sendsGarbage,
  votesForAll,
  withholdsCommits,
  withholdsPrepares,
} from './voting.ts'

/** Ways to break the protocol with valid signatures. */
const BREAKING = {
  'proposes two blocks': proposesTwo,
  'proposes an invalid block': proposesInvalid,
  'proposes from the future': proposesFromTheFuture,
  'forges the parent certificate': forgesTheParentCertificate,
  'proposes late': proposesLate,
  'proposes the unprepared': proposesUnprepared,
  'ignores the prepared': ignoresThePrepared,
  'justifies with stale round changes': justifiesWithStaleChanges,
  'justifies with one sender': justifiesWithOneSender,
  'justifies with another height': justifiesWithAnotherHeight,
  'forges prepares': forgesPrepares,
  'votes for all': votesForAll,
  'withholds commits': withholdsCommits,
  'commits to one': commitsToOne,
  'withholds prepares': withholdsPrepares,
  'pushes rounds': pushesRounds,
  'floods rounds': floodsRounds,
  replays,
  'sends garbage': sendsGarbage,
} as const satisfies Readonly<Record<string, Script>>

/** Forgeries without a key, a quorum or the proposer's role: at least one for each kind of message. */
const FORGING = {
  'names another proposer': namesAnotherProposer,
  'proposes elsewhere': proposesElsewhere,
  'proposes out of turn': proposesOutOfTurn,
  'forges round changes': forgesRoundChanges,
  'forges claims': forgesClaims,
  'strips claims': stripsClaims,
  'votes for others': votesForOthers,
  'replays elsewhere': replaysElsewhere,
  'sends a false status': sendsFalseStatus,
  'forges decisions': forgesDecisions,
  'swaps bodies': swapsBodies,
  'floods bodies': floodsBodies,
} as const satisfies Readonly<Record<string, Script>>

/** Scripts that cost others time. */
const SLOW = { 'proposes slow blocks': proposesSlow } as const satisfies Readonly<Record<string, Script>>

/** Byzantine members that act as one. */
const HIDING = {
  'hides certificates': hidesCertificates,
  'hides certificates behind invalid blocks': hidesBehindInvalid,
  'withholds bodies': withholdsBodies,
} as const satisfies Readonly<Record<string, Script>>

/** Broken word after many rounds. */
const BETRAYING = {
  'votes twice late': votesTwiceLate,
  'forgets late': forgetsLate,
} as const satisfies Readonly<Record<string, Script>>

/** Old heights for a member that is cut off. */
const REPLAYING = { 'replays heights': replaysHeights } as const satisfies Readonly<Record<string, Script>>

/** Messages of every kind without any sense. */
const FUZZING = { 'fuzzes messages': fuzzesMessages } as const satisfies Readonly<Record<string, Script>>

/** Proof headers left out, forged, or kept for its own blocks; only where there are miners. */
const MINING = {
  'leaves out proof headers': leavesOutProofs,
  'includes its own proof headers': includesOwnProofs,
  'forges proof headers': forgesProofs,
  'gossips forged proof headers': gossipsForgedProofs,
} as const satisfies Readonly<Record<string, Script>>

/** All byzantine scripts by their name in a schedule. A node without any is silent. */
export const SCRIPTS = {
  ...BREAKING,
  ...FORGING,
  ...SLOW,
  ...HIDING,
  ...BETRAYING,
  ...REPLAYING,
  ...FUZZING,
  ...MINING,
}

export type ScriptName = keyof typeof SCRIPTS
export const BREAKING_SCRIPTS = Object.keys(BREAKING) as readonly ScriptName[]
export const MINING_SCRIPTS = Object.keys(MINING) as readonly ScriptName[]
export const FORGING_SCRIPTS = Object.keys(FORGING) as readonly ScriptName[]
