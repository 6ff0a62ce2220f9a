import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Patch } from '../../support/patch.ts'
import type { CouncilKill } from './kill.ts'
import type { CouncilProfile } from './plan.ts'

const TURNS = 'rules/council/proposer-turns.ts'
const QUEUE = 'rules/council/activation-queue.ts'
const ACTIVITY = 'rules/council/validator-activity.ts'
const COMMITTEE = 'consensus/committee.ts'

/** Cycles of a run in which patience ends. */
const LONG = 450

interface CouncilMutant {
  readonly profile: CouncilProfile
  readonly patch: Patch
  readonly cycles: number
}

const mutant = (profile: CouncilProfile, file: string, find: string, replace: string, cycles = 160): CouncilMutant => ({
  profile,
  cycles,
  patch: { file, find, replace },
})

/** Wrong rules of the council, with the profile that shows each of them (docs/design/council.md#simulation). */
export const COUNCIL_MUTANTS = {
  'members on trial not capped': mutant('newcomers', COMMITTEE, '.slice(0, trialsOf(size)))', ')'),
  'all doubtful places taken by trials': mutant('newcomers', COMMITTEE, 'trialsOf(size)))', 'size / 2))'),
  'members on trial drawn first': mutant(
    'newcomers',
    COMMITTEE,
    'return [...first, ...last].slice(0, size)',
    'return [...last, ...first].slice(0, size)',
  ),
  'members on trial never drawn': mutant('newcomers', COMMITTEE, '.slice(0, trialsOf(size)))', '.slice(0, 0))', LONG),
  'a newcomer counts as heard': mutant('newcomers', ACTIVITY, ' && !unproven.has(member)', ''),
  'a silent member counts as heard': mutant(
    'mixed',
    ACTIVITY,
    '!lapses.has(member) && !jailed.has(member)',
    '!jailed.has(member)',
  ),
  'all begin at once': mutant('newcomers', QUEUE, 'limit < waiting && heard >=', 'limit < waiting && 256 + heard >='),
  'newcomers wait for a quorum of the whole council': mutant(
    'newcomers',
    QUEUE,
    'Math.min(serving + limit + 1, committeeSize)',
    'serving + limit + 1',
  ),
  'newcomers propose before they seal': mutant(
    'newcomers',
    TURNS,
    '    ...worstFirst.filter(({ isHeard }) => !isHeard),\n',
    '',
  ),
  'a missed turn costs nothing': mutant('idle', TURNS, '3 * missed >= taken + missed', 'missed < 0'),
  'a rest never ends': mutant(
    'idle',
    TURNS,
    '(idleness?.restsUntil ?? 0) >= first',
    '(idleness?.strikes ?? 0) > 0',
    LONG,
  ),
  'any number may rest': mutant('idle', TURNS, 'resting.slice(0, most)', 'resting'),
  'a rest ends before it begins': mutant('idle', TURNS, 'cycleBlocks * (1 + 2 ** (strikes - 1))', 'cycleBlocks'),
  'strikes do not add up': mutant('idle', TURNS, '(idleness?.strikes ?? 0) + 1', '1'),
  'an outage counts against proposers': mutant(
    'outages',
    TURNS,
    '    if (certificate.round > faultsOf(committee.members.length)) continue\n',
    '',
  ),
  'only the round of the decision is a turn taken': mutant(
    'outages',
    TURNS,
    'member === proposer || round === certificate.round',
    'round === certificate.round',
  ),
  'only the maker of a block has taken its turn': mutant(
    'outages',
    TURNS,
    'member === proposer || round === certificate.round',
    'member === proposer',
  ),
} as const satisfies Readonly<Record<string, CouncilMutant>>

export type CouncilMutantName = keyof typeof COUNCIL_MUTANTS

/** Simulates seeds with a mutant, in a thread of its own, until one breaks a rule; null: none does. */
export const killCouncilMutant = async (name: CouncilMutantName, seeds: number): Promise<CouncilKill | null> => {
  const { profile, patch, cycles } = COUNCIL_MUTANTS[name]
  const task = { kind: 'council', options: { profile, seeds, cycles } }
  const worker = new Worker(new URL('../mutants/worker.ts', import.meta.url), {
    workerData: { patches: [patch], task },
  })
  const [kill] = await once(worker, 'message')
  return kill as CouncilKill | null
}
