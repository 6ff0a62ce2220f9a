import { createRandom, type Random } from '@tandem/base/random.ts'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import { CONSENSUS_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import { faultsOf } from '../../../src/rules/council/quorum.ts'
import { SIMULATION_LIMITS } from '../../limits.ts'
import { BETRAYAL_ROUND } from '../byzantine/betraying.ts'
import { BREAKING_SCRIPTS, FORGING_SCRIPTS, type ScriptName } from '../byzantine/scripts.ts'
import { CRASH_POINTS } from '../member/crash-points.ts'
import { MAX_WORK_MS } from '../member/ledger.ts'
import type { CouncilPlan } from '../sim-council.ts'
import { drawMining } from './draw-mining.ts'
import type { ByzantinePlan, CrashLoss, LinkConditions, Plan, PlannedFault } from './plan.ts'
import { PROFILES, type Profile, type ProfileName } from './profiles.ts'

export interface DrawOptions {
  readonly seed: number
  readonly profile: ProfileName
  readonly heights: number
  /** Undefined: drawn from the seed. */
  readonly size?: number | undefined
}

/** Most runs have four nodes: the smallest committee that tolerates a byzantine member, and the cheapest. */
const SIZES = [1, 2, 3, 4, 4, 4, 4, 4, 4, 5, 6, 7]
/** Runs of Byzantine proposers are as long as a committee tolerates; most committees are small, since cost grows with the square. */
const HIDING_SIZES = [4, 4, 4, 4, 5, 7, 7, 7, 7, 10, 10, 10, 13, 13, 16, 28, 31]
const WITHHOLDING_SIZES = [4, 7, 7, 7]
/** Smallest committee that tolerates two faulty members. */
const ECLIPSE_NODES = 7
/** The same for one faulty member. */
const CRASH_NODES = 4
/** Mostly one, so that whatever it misses nobody has from another one. */
const RELAYS = [1, 1, 1, 2, 3]
/** 0 is instant mode. */
const BLOCK_TIMES_MS = [1_000, 1_000, 1_000, 1_000, 500, 250, 0]
const ROUND_TIMEOUTS_MS = [1_000, 1_000, 500, 250, 100]
/** Share of runs with real signatures. */
const REAL_KEYS = 0.01
/** Duration of faults per requested height, unless the heights are reached before. */
const FAULT_MS_PER_HEIGHT = 2_500
/** Some last five times as long, until round timeouts reach their cap. */
const LONG_RUNS = 0.05
const LONGEST_FAULT_MS = 15_000
const SKEW_MS = 5_000
const LEAP_BACK_MS = -30_000

/** Draws the run of a seed. */
export const drawPlan = ({ seed, profile, heights, size: wanted }: DrawOptions): Plan => {
  const random = createRandom(seed)
  const chances: Profile = PROFILES[profile]
  const isHiding = chances.hidden > 0
  const size = wanted ?? random.pick(isHiding ? HIDING_SIZES : SIZES)
  const drawLiars = () =>
    isHiding ? drawHiding(size, heights, random) : drawByzantine(size, random, createRandom(seed * 1_021))
  const byzantine = random.chance(chances.byzantine) ? drawLiars() : []
  const council = random.chance(chances.council) && size > 1 ? drawCouncil(size, byzantine.length, random) : null
  const faultsMs = heights * FAULT_MS_PER_HEIGHT * (random.chance(LONG_RUNS) ? 5 : 1)
  const setting = { size, relays: drawRelays(size, chances, createRandom(seed * 1_061)), byzantine, council, faultsMs }
  const plan: Plan = {
    ...setting,
    seed,
    profile,
    heights,
    blockTimeMs: random.pick(BLOCK_TIMES_MS),
    roundTimeoutMs: random.pick(ROUND_TIMEOUTS_MS),
    executionMs: 1 + random.next() ** 4 * 100,
    slow: null,
    mining: null,
    heldBlocks: CONSENSUS_LIMITS.heldBlocks,
    blockSync: false,
    realKeys: random.chance(REAL_KEYS),
    linkConditions: random.chance(chances.linkFaults) ? drawLinkConditions(random) : FAULTLESS,
    faults: drawFaults(setting, chances, random),
  }
  const slow = drawSlow(plan, chances, createRandom(seed * 1_031))
  const withLoad = drawBodies(
    drawFuzzing(slow, chances, createRandom(seed * 1_033)),
    chances,
    createRandom(seed * 1_049),
  )
  // A stream of its own: without miners a seed's plan is what it was.
  const mining = createRandom(seed * 1_039)
  const mined = mining.chance(chances.mining) ? drawMining(withLoad, mining) : withLoad
  const disguised = drawDisguise(mined, chances, createRandom(seed * 1_091))
  const withheld = drawWithheld(disguised, chances, createRandom(seed * 1_097))
  const eclipsed = drawEclipse(withheld, chances, createRandom(seed * 1_051))
  const wiped = drawWiped(eclipsed, chances, createRandom(seed * 1_069))
  const stalled = drawStall(wiped, chances, createRandom(seed * 1_087))
  const synced = drawBlockSync(stalled, chances, createRandom(seed * 1_103))
  return drawResting(synced, chances, createRandom(seed * 1_063))
}

/** A stream of its own: it changes nothing else of a seed's plan. Where slowness is all that is wrong, nothing else is slow or lies. */
const drawSlow = (plan: Plan, { slow }: Profile, random: Random): Plan => {
  if (plan.byzantine.length === 0 || !random.chance(slow)) return plan
  const isAlone = plan.profile === 'slow'
  const { roundTimeoutMs } = plan
  const blockMs = Math.min(MAX_WORK_MS, Math.round(roundTimeoutMs * (0.3 + random.next() ** 2 * 30)))
  return {
    ...plan,
    byzantine: plan.byzantine.map(({ node, scripts }) => ({
      node,
      scripts: [...(isAlone ? [] : scripts), 'proposes slow blocks'],
    })),
    slow: { blockMs, hostileMs: random.chance(0.5) ? MAX_WORK_MS : 0 },
    ...(isAlone && { executionMs: Math.min(plan.executionMs, roundTimeoutMs / 50) }),
  }
}

/** A stream of its own as well. Half of them say nothing else. */
const drawFuzzing = (plan: Plan, { fuzz }: Profile, random: Random): Plan => {
  if (!random.chance(fuzz)) return plan
  const isAlone = random.chance(0.5)
  const byzantine = plan.byzantine.map(({ node, scripts }) => ({
    node,
    scripts: [...(isAlone ? [] : scripts), 'fuzzes messages' as const],
  }))
  return { ...plan, byzantine }
}

/** A stream of its own as well. */
const drawBodies = (plan: Plan, { bodies }: Profile, random: Random): Plan =>
  random.chance(bodies) ? { ...plan, heldBlocks: 1 + random.below(2) } : plan

/** A stream of its own as well. All Byzantine members of a run act alike. */
const drawDisguise = (plan: Plan, { disguised }: Profile, random: Random): Plan => {
  if (!random.chance(disguised)) return plan
  const scripts = ['hides certificates behind invalid blocks'] as const
  return { ...plan, byzantine: plan.byzantine.map(({ node }) => ({ node, scripts })) }
}

/** Committees in which two certificates may be claimed at once, and small ones. */
const drawWithheld = (plan: Plan, { withheld }: Profile, random: Random): Plan => {
  if (!random.chance(withheld)) return plan
  const size = random.pick(WITHHOLDING_SIZES)
  const byzantine = inARow(faultsOf(size), size, plan.heights, random, [
    'withholds bodies',
    ...(random.chance(0.4) ? (['votes for all'] as const) : []),
  ])
  const faults = honestOf({ size, relays: 0, byzantine }).flatMap((node): readonly PlannedFault[] =>
    random.chance(0.7)
      ? [{ kind: 'answers', node, atMs: random.below(4_000), forMs: 4_000 + random.below(16_000) }]
      : [],
  )
  return { ...plan, size, byzantine, council: null, faults, blockTimeMs: random.pick([500, 1_000]) }
}

/** Some members are away for many blocks, and get none of those that their engines request. */
const drawBlockSync = (plan: Plan, { blockSync }: Profile, random: Random): Plan => {
  if (!random.chance(blockSync)) return plan
  if (plan.faults.some(({ kind }) => kind === 'eclipse')) return { ...plan, blockSync: true }
  const away = honestOf(plan).flatMap((node): readonly PlannedFault[] => {
    if (!random.chance(0.4)) return []
    const place = { node, atMs: random.below(8_000), forMs: 1_000 + random.below(9_000) }
    const gap = random.chance(0.5)
      ? ({ ...place, kind: 'crash', point: 'now', loses: 'nothing' } as const)
      : ({ ...place, kind: 'pause' } as const)
    return [gap, { ...place, forMs: place.forMs + random.below(10_000), kind: 'answers' }]
  })
  const faults = [...plan.faults, ...away].sort((a, b) => a.atMs - b.atMs)
  return {
    ...plan,
    blockSync: true,
    faults,
    blockTimeMs: random.pick([250, 250, 500, 1_000]),
    heights: 1_000,
    faultsMs: 25_000,
  }
}

/** A stream of its own as well. */
const drawResting = (plan: Plan, { resting }: Profile, random: Random): Plan =>
  plan.council !== null && random.chance(resting) ? { ...plan, council: { ...plan.council, resting: true } } : plan

const drawRelays = (size: number, { relays }: Profile, random: Random): number =>
  size > 1 && random.chance(relays) ? random.pick(RELAYS) : 0

/** One member is Byzantine, another one counts as faulty until it votes again: so two must be tolerated. */
const drawEclipse = (plan: Plan, { eclipse }: Profile, random: Random): Plan => {
  if (!random.chance(eclipse)) return plan
  const size = Math.max(plan.size, ECLIPSE_NODES)
  const byzantine = random.below(size)
  const node = (byzantine + 1 + random.below(size - 1)) % size
  const atMs = Math.round(5_000 + random.next() * 4_000)
  const forMs = Math.round(4_000 + random.next() * 14_000)
  const place = { node, atMs }
  const faults: PlannedFault[] = [
    { ...place, forMs, kind: 'eclipse' },
    { ...place, forMs: 200 + random.below(2_000), kind: 'crash', point: 'now', loses: 'log, watermark and blocks' },
  ]
  if (random.chance(0.3))
    faults.push({ ...place, forMs, kind: 'clockJump', skewMs: Math.round((random.next() * 2 - 1) * SKEW_MS) })
  return {
    ...plan,
    size,
    byzantine: [{ node: byzantine, scripts: ['replays heights'] }],
    council: null,
    faults,
    blockTimeMs: random.pick([500, 1_000]),
    heights: 1_000,
    faultsMs: 25_000,
  }
}

/** One member, which counts as faulty until it votes again. It hears only a Byzantine one, or has a clock that is set once it runs. */
const drawWiped = (plan: Plan, { wiped }: Profile, random: Random): Plan => {
  if (!random.chance(wiped)) return plan
  const isHostile = random.chance(0.5)
  const size = Math.max(plan.size, isHostile ? ECLIPSE_NODES : CRASH_NODES)
  const byzantine = random.below(size)
  const node = (byzantine + 1 + random.below(size - 1)) % size
  const place = { node, atMs: Math.round(3_000 + random.next() * 6_000) }
  const downMs = 100 + random.below(2_000)
  const loses = random.pick(['whole folder', 'whole folder', 'log, watermark and blocks', 'log and watermark'] as const)
  const crash = { ...place, forMs: downMs, kind: 'crash', point: 'now', loses } as const
  const other: PlannedFault = isHostile
    ? { ...place, forMs: Math.round(4_000 + random.next() * 14_000), kind: 'eclipse' }
    : { ...place, forMs: downMs + random.below(1_000), kind: 'clockJump', skewMs: LEAP_BACK_MS }
  return {
    ...plan,
    size,
    byzantine: isHostile ? [{ node: byzantine, scripts: ['replays heights'] }] : [],
    council: null,
    faults: [crash, other],
    blockTimeMs: random.pick([500, 1_000]),
    heights: 1_000,
    faultsMs: 25_000,
  }
}

/** Rounds go by, since those who are up and the Byzantine ones are a quorum, and none decides, since these do not commit. */
const drawStall = (plan: Plan, { stall }: Profile, random: Random): Plan => {
  if (!random.chance(stall)) return plan
  const size = CRASH_NODES
  const roundTimeoutMs = random.pick([50, 100])
  const { maxTimeoutExponent } = CONSENSUS_BOUNDS
  const faultsMs = BETRAYAL_ROUND * 1.1 * roundTimeoutMs * 2 ** maxTimeoutExponent
  const first = random.below(size)
  const nodes = Array.from({ length: faultsOf(size) + 1 }, (_, at) => (first + at) % size)
  const [down = 0, ...bad] = nodes
  const atMs = Math.round(2_000 + random.next() * 4_000)
  return {
    ...plan,
    size,
    byzantine: bad.map(node => ({ node, scripts: [random.pick(['votes twice late', 'forgets late'] as const)] })),
    faults: [{ kind: 'crash', node: down, point: 'now', loses: 'nothing', atMs, forMs: faultsMs }],
    roundTimeoutMs,
    blockTimeMs: 1_000,
    executionMs: Math.min(plan.executionMs, roundTimeoutMs / 4),
    heights: 1_000,
    faultsMs,
  }
}

/** Byzantine members in a row, as many as are tolerated or fewer, at the first proposers of one of the heights. */
const drawHiding = (size: number, heights: number, random: Random): readonly ByzantinePlan[] => {
  const most = faultsOf(size)
  const count = most === 0 ? 0 : random.chance(0.5) ? most : 1 + random.below(most)
  return inARow(count, size, heights, random, ['hides certificates'])
}

const inARow = (
  count: number,
  size: number,
  heights: number,
  random: Random,
  scripts: readonly ScriptName[],
): readonly ByzantinePlan[] => {
  const first = 1 + random.below(heights)
  return Array.from({ length: count }, (_, at) => ({ node: (first + at) % size, scripts }))
}

/** Network conditions without faults, and after healing. */
export const FAULTLESS: LinkConditions = { loss: 0, duplicate: 0, delayMs: 5, stuck: 0 }

const drawLinkConditions = (random: Random): LinkConditions => ({
  loss: random.chance(0.3) ? 0 : random.next() * 0.3,
  duplicate: random.next() * 0.3,
  delayMs: 2 + random.next() ** 3 * 300,
  stuck: random.chance(0.5) ? 0 : random.next() * 0.05,
})

/** Forgeries use a separate random stream, so that they change nothing else of a seed's plan. */
const drawByzantine = (size: number, random: Random, forging: Random): readonly ByzantinePlan[] => {
  const count = faultsOf(size) === 0 ? 0 : 1 + random.below(faultsOf(size))
  const first = random.below(size)
  return Array.from({ length: count }, (_, at) => ({
    node: (first + at) % size,
    scripts: [...drawScripts(BREAKING_SCRIPTS, 0.6, random), ...drawScripts(FORGING_SCRIPTS, 0.6, forging)],
  }))
}

const drawScripts = (names: readonly ScriptName[], most: number, random: Random): readonly ScriptName[] => {
  const share = random.next() * most
  return names.filter(() => random.chance(share))
}

/** With byzantine members, a committee stays large enough to tolerate one. */
const drawCouncil = (size: number, byzantine: number, random: Random): CouncilPlan => ({
  cycleBlocks: random.pick([1, 2, 3, 5]),
  smallest: byzantine > 0 ? Math.min(size, 4) : 1 + random.below(size),
  resting: false,
})

type Setting = Pick<Plan, 'size' | 'relays' | 'byzantine' | 'council' | 'faultsMs'>

const drawFaults = (setting: Setting, chances: Profile, random: Random): readonly PlannedFault[] => {
  const kinds = [
    [chances.partitions, drawPartition],
    [chances.crashes, drawCrash],
    [chances.pauses, drawPause],
    [chances.clocks, drawClockJump],
  ] as const
  const honest = honestOf(setting)
  const faults = kinds.flatMap(([chance, draw]) => {
    if (!random.chance(chance)) return []
    const gapMs = 150 + random.next() ** 2 * 5_000
    const forMs = 20 + random.next() ** 2 * 6_000
    return timesOf(setting.faultsMs, gapMs, random).map((atMs): PlannedFault => {
      const lasts = Math.min(LONGEST_FAULT_MS, -Math.log(1 - random.next()) * forMs)
      return { atMs, forMs: Math.round(lasts), ...draw(setting, honest, random) }
    })
  })
  return faults.sort((a, b) => a.atMs - b.atMs).slice(0, SIMULATION_LIMITS.faults)
}

const honestOf = ({ size, relays, byzantine }: Pick<Setting, 'size' | 'relays' | 'byzantine'>): readonly number[] => {
  const bad = new Set(byzantine.map(({ node }) => node))
  return Array.from({ length: size + relays }, (_, node) => node).filter(node => !bad.has(node))
}

const timesOf = (endMs: number, gapMs: number, random: Random): readonly number[] => {
  const times: number[] = []
  for (let atMs = random.next() * gapMs; atMs < endMs; atMs += 1 - Math.log(1 - random.next()) * gapMs)
    times.push(Math.round(atMs))
  return times
}

const drawPartition = ({ size, relays }: Setting, _: readonly number[], random: Random) => {
  const one = random.below(size + relays)
  const side = [one]
  if (random.chance(0.6))
    for (let node = 0; node < size + relays; node++) if (node !== one && random.chance(0.5)) side.push(node)
  return { kind: 'partition', side, oneWay: random.chance(0.3) } as const
}

const drawCrash = (setting: Setting, honest: readonly number[], random: Random) => {
  const node = random.pick(honest)
  return {
    kind: 'crash',
    node,
    point: random.pick(CRASH_POINTS),
    loses: drawLoss(setting, honest, node, random),
  } as const
}

/** A log may be lost where the others can progress without its owner, which counts as faulty until then. */
const drawLoss = (
  { size, byzantine, council }: Setting,
  honest: readonly number[],
  node: number,
  random: Random,
): CrashLoss => {
  const smallest = council?.smallest ?? size
  if (node !== honest[0] || byzantine.length >= faultsOf(smallest) || !random.chance(0.4)) return 'nothing'
  return random.pick(['log', 'log and watermark'] as const)
}

const drawPause = (_: Setting, honest: readonly number[], random: Random) =>
  ({ kind: 'pause', node: random.pick(honest) }) as const

/** Only one node's clock may be half a minute behind: with more there is no quorum until they have caught up. */
const drawClockJump = (_: Setting, honest: readonly number[], random: Random) => {
  const node = random.pick(honest)
  const skewMs =
    node === honest.at(-1) && random.chance(0.3) ? LEAP_BACK_MS : Math.round((random.next() * 2 - 1) * SKEW_MS)
  return { kind: 'clockJump', node, skewMs } as const
}
