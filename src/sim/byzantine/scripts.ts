import {
  forgesPrepares,
  forgesTheParentCertificate,
  ignoresThePrepared,
  justifiesWithAnotherHeight,
  justifiesWithOneSender,
  justifiesWithStaleChanges,
  picksTheUnprepared,
  proposesFromTheFuture,
  proposesInvalid,
  proposesLate,
  proposesTwo,
} from './proposing.ts'
import type { Script } from './script.ts'
import {
  commitsToOne,
  floodsRounds,
  hidesThePrepared,
  pushesRounds,
  replays,
  sendsGarbage,
  votesForAll,
  withholdsCommits,
} from './voting.ts'

/** Every way to lie there is, by what it is called in a schedule. One without any is silent. */
export const SCRIPTS = {
  'proposes two blocks': proposesTwo,
  'proposes an invalid block': proposesInvalid,
  'proposes from the future': proposesFromTheFuture,
  'forges the parent certificate': forgesTheParentCertificate,
  'proposes late': proposesLate,
  'picks the unprepared': picksTheUnprepared,
  'ignores the prepared': ignoresThePrepared,
  'justifies with stale round changes': justifiesWithStaleChanges,
  'justifies with one sender': justifiesWithOneSender,
  'justifies with another height': justifiesWithAnotherHeight,
  'forges prepares': forgesPrepares,
  'votes for all': votesForAll,
  'withholds commits': withholdsCommits,
  'commits to one': commitsToOne,
  'hides the prepared': hidesThePrepared,
  'pushes rounds': pushesRounds,
  'floods rounds': floodsRounds,
  replays,
  'sends garbage': sendsGarbage,
} as const satisfies Readonly<Record<string, Script>>

export type ScriptName = keyof typeof SCRIPTS
