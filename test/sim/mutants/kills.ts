import type { Rule } from '../../../devtools/sim/check/violation.ts'
import type { DrawOptions } from '../../../devtools/sim/plan/draw-plan.ts'
import type { ProfileName } from '../../../devtools/sim/plan/profiles.ts'
import type { ExploreOptions } from '../explore/explorer.ts'
import type { MutantName } from './mutants.ts'
import type { ScenarioName } from './scenarios.ts'

/** Check that detects a mutant: the tool, its options, for the simulator the violated rule, or the name of a scenario. */
export type Kill =
  | { readonly by: 'explorer'; readonly options: ExploreOptions }
  | { readonly by: 'simulator'; readonly options: DrawOptions; readonly rule: Rule }
  | { readonly by: 'scenario'; readonly options: ScenarioName }

export const exploring = (size: number, byzantine: number, rounds: number): ExploreOptions => ({
  size,
  byzantine,
  rounds,
  identities: false,
  maxStates: 1_000_000,
})

const fork = (size: number, byzantine: number, rounds: number, identities = false): Kill => ({
  by: 'explorer',
  options: { ...exploring(size, byzantine, rounds), identities },
})

const scenario = (options: ScenarioName): Kill => ({ by: 'scenario', options })

const seed = (number: number, rule: Rule, profile: ProfileName = 'swarm'): Kill => ({
  by: 'simulator',
  options: { seed: number, profile, heights: 6 },
  rule,
})

/** Every mutant there is: one that nobody kills does not compile. */
export const KILLS: Readonly<Record<MutantName, Kill>> = {
  'restart forgets what is prepared': fork(4, 1, 2),
  'quorum of 2f+1': fork(5, 1, 2),
  'seals not bound to the round': fork(4, 1, 4),
  'any prepared round instead of the highest': fork(4, 1, 3),
  'justification not checked': fork(4, 1, 2),
  'committee differs from round to round': fork(5, 1, 2, true),
  'a signer counted twice in a justification': fork(4, 1, 2),
  'a signer counted twice among votes': fork(4, 1, 2),
  'round changes of another height accepted': fork(4, 1, 2),
  'round changes of another round accepted': fork(4, 1, 3),
  'a claim accepted without its prepares': fork(4, 1, 3),
  'one prepare repeated accepted as proof': fork(4, 1, 3),
  'a justification by one round change less than a quorum': fork(4, 1, 2),
  'prepares of another round accepted as proof': fork(4, 1, 4),
  'adopted blocks end a quarantine': seed(2, 'gave up', 'synced'),
  'ranges adopted without their certificates': seed(20, 'agreement', 'synced'),
  'no lock': fork(4, 1, 2),
  'no jump to the rounds of others': seed(3, 'jump'),
  'a jump after whoever is ahead most': seed(21, 'jump'),
  'commits of earlier rounds dropped': seed(34, 'prompt'),
  'sent before it is durable': seed(1, 'durability'),
  'votes without the log that it lost': seed(26, 'amnesia', 'crashes'),
  'what is prepared not logged': seed(11, 'amnesia'),
  'neither log nor watermark holds it to its word': seed(15, 'equivocation'),
  'timestamp not checked': seed(9, 'timestamp'),
  'verdict of the execution ignored': seed(14, 'gave up'),
  'evidence names an honest member': seed(2, 'evidence'),
  'evidence from signatures that are not checked': seed(3, 'evidence'),
  'statements of the open round evicted': seed(2, 'evidence', 'stall'),
  'the last commit evicted': seed(1, 'evidence', 'stall'),
  'no timer for a round entered later': seed(60, 'liveness'),
  'a round given up alone': seed(4, 'jump', 'relay'),
  'a round change sent once': seed(6, 'liveness', 'relay'),
  'a statement relayed once': seed(5, 'liveness', 'relay'),
  'nothing relayed from one relay to another': seed(1, 'liveness', 'relay'),
  'members that rest take turns': seed(14, 'validity', 'council'),
  'no status from who follows a lone member': seed(15, 'liveness', 'council'),
  'no retransmission': seed(3, 'liveness'),
  'a torn batch left in the log': seed(27, 'liveness'),
  'a decision in the log forgotten at the start': seed(4, 'gave up'),
  'parent certificate not checked': seed(1, 'validity'),
  'certificate of a decision not checked': seed(139, 'chain'),
  'claim of a round change not checked': seed(47, 'evidence'),
  'signatures of a proof not checked': seed(3, 'evidence'),
  'proposer in the header not checked': seed(2, 'validity'),
  'parent not checked': seed(1, 'validity'),
  'proposals out of turn accepted': seed(2, 'validity'),
  'body of another header taken': seed(3, 'validity'),
  'any body taken': seed(47, 'memory'),
  'claims whose body is missing not left out': seed(3, 'rounds', 'hidden'),
  'only the body of the highest claim requested': seed(8, 'requests', 'withheld'),
  'the same missing body requested each time': seed(8, 'requests', 'withheld'),
  'bodies of earlier rounds still requested': seed(5, 'requests', 'withheld'),
  'a decided block requested in one round only': seed(33, 'requests', 'withheld'),
  'the body of the lock evicted': seed(22, 'body', 'hidden'),
  'the proposal of the current round evicted': seed(3, 'rounds', 'hidden'),
  'the body of the last prepare evicted': seed(1, 'body', 'claims'),
  'proposals of a height without a limit': seed(36, 'memory', 'hidden'),
  'bodies outlive their proposals': seed(36, 'memory', 'hidden'),
  'a restart keeps all bodies of its log': seed(4, 'memory', 'restarts'),
  'heights sent again end a quarantine': seed(22, 'amnesia', 'eclipse'),
  'signs before a quorum reports its height': seed(4, 'equivocation', 'wiped'),
  'a report of a later height counts': seed(15, 'amnesia', 'wiped'),
  'any neighbour reports for those it says to reach': seed(9, 'equivocation', 'wiped'),
  'a lower prepared certificate kept': seed(1, 'rounds', 'hidden'),
  'the first prepared certificate of a log kept': seed(45, 'amnesia', 'restarts'),
  'a commit for one prepare less than a quorum': seed(16, 'liveness'),
  'a decision by one commit less than a quorum': fork(4, 1, 2),
  'a jump after as many as may lie': seed(21, 'jump'),
  'a commit leaves before it is durable': seed(1, 'durability'),
  'a proposal on round changes to later rounds': seed(47, 'evidence'),
  'quarantine of no height': seed(2, 'gave up', 'wiped'),
  'validation not cancelled': seed(2, 'waste', 'slow'),
  'a cancelled validation goes on': seed(2, 'waste', 'slow'),
  'work of a height goes on after it': seed(30, 'waste'),
  'a transaction is never stopped': seed(2, 'pace', 'slow'),
  'a builder waits for validations that nothing ends': seed(4, 'pace', 'slow'),
  'a round change that claims its own round as prepared': scenario('a claim of its own round is ignored'),
  'timeouts that do not grow': scenario('a committee slower than the first timeout decides'),
  'signatures not bound to the chain id': scenario('seals of another chain id are invalid'),
  'signatures not bound to the genesis': scenario('seals of another genesis are invalid'),
  'a buffer of later heights without a limit': scenario('messages of later heights are bounded'),
  'no watermark on proposals': scenario('a second proposal of one round is not signed'),
  'vote rule ignored': seed(29, 'omission', 'mining'),
  'a block prepared before judged by the vote rule': scenario(
    'a block that a quorum prepared may leave out a proof header',
  ),
  'a refusal that counts for the block proposed again': scenario(
    'a block proposed again while it was being refused is judged anew',
  ),
  'an anchor that is not committed': seed(14, 'proof', 'mining'),
  'difficulty from the reference of the first hash': seed(1, 'proof', 'mining'),
  'a proof header included twice': seed(83, 'proof', 'mining'),
  'seed of the cycle before': seed(1, 'proof', 'mining'),
  'payee from the headers of the block itself': seed(1, 'rounds', 'mining'),
}

export const killsBy = <By extends Kill['by']>(by: By): readonly (readonly [MutantName, Extract<Kill, { by: By }>])[] =>
  Object.entries(KILLS).flatMap(([name, kill]) =>
    kill.by === by ? [[name as MutantName, kill as Extract<Kill, { by: By }>] as const] : [],
  )
