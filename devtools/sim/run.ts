import type { ProfileName } from './plan/profiles.ts'
import { addOutcome, noTotals, type Totals } from './swarm/run-outcome.ts'
import type { SeedReport } from './swarm/run-seed.ts'
import { runSeeds } from './swarm/worker-pool.ts'

/** Parsed options of `tandem sim`. */
export interface SimFlags {
  readonly seed: number
  readonly seeds: number
  readonly heights: number
  readonly nodes?: number
  readonly profile: ProfileName
  readonly jobs: number
  readonly json: boolean
}

/** Interval of progress messages in a long run, milliseconds. */
const PROGRESS_MS = 2_000

/** Runs `tandem sim`: exit status 0 when no rule was broken, 1 otherwise. */
export const runSim = async (flags: SimFlags): Promise<void> => {
  const { seed, seeds, heights, nodes, profile, jobs, json } = flags
  const totals = noTotals()
  const beganMs = performance.now()
  const seconds = () => (performance.now() - beganMs) / 1000
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  process.stdout.once('error', stop)
  const progress = setInterval(() => {
    const { seeds: done, violations } = totals
    process.stderr.write(
      `${done} of ${seeds} seeds, ${violations} violations, ${(done / seconds()).toFixed(1)} seeds/s\n`,
    )
  }, PROGRESS_MS)
  try {
    await runSeeds({
      firstSeed: seed,
      count: seeds,
      heights,
      profile,
      jobs,
      size: nodes,
      signal: stopping.signal,
      onReport: report => {
        addOutcome(totals, report.outcome)
        tell(report, flags)
      },
    })
  } finally {
    clearInterval(progress)
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
  process.stdout.write(
    json ? `${JSON.stringify({ totals: { ...totals, seconds: seconds() } })}\n` : summary(totals, seconds()),
  )
  if (totals.violations > 0 || totals.seeds === 0) process.exitCode = 1
}

const tell = ({ outcome, failure }: SeedReport, flags: SimFlags): void => {
  if (flags.json) {
    const { lines: _, ...facts } = outcome
    process.stdout.write(`${JSON.stringify(failure === null ? facts : { ...facts, failure })}\n`)
    return
  }
  if (failure === null) {
    if (flags.seeds === 1) process.stdout.write(`trace ${outcome.trace}\n`)
    return
  }
  const part = (title: string, lines: readonly string[]) => [`  ${title}`, ...lines.map(line => `    ${line}`)]
  const { seed } = outcome
  const again = `--seed ${seed} --profile ${flags.profile} --heights ${flags.heights}`
  const nodes = flags.nodes === undefined ? '' : ` --nodes ${flags.nodes}`
  const text = [
    `SEED=${seed} ${failure.text}`,
    `  again: tandem sim ${again}${nodes}`,
    ...part(`the smallest schedule found (${failure.runs} runs):`, failure.schedule),
    ...part('the last that happened in it:', failure.lines),
  ]
  process.stdout.write(`${text.join('\n')}\n`)
}

const summary = (totals: Totals, seconds: number): string => {
  const n = (value: number) => value.toLocaleString('en')
  const { seeds, heights, events, virtualMs } = totals
  const faults = (
    [
      ...['crashes', 'partitions', 'pauses', 'clockJumps', 'heightsLeft', 'forgeries'],
      ...['lost', 'duplicated', 'byzantineMessages', 'malformed'],
    ] as const
  )
    .map(name => `${n(totals[name])} ${name}`)
    .join(', ')
  return [
    `${n(seeds)} seeds, ${n(totals.violations)} violations, ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(1)} seeds/s)`,
    `${n(heights)} heights, ${n(events)} events, ${n(Math.round(virtualMs / 1000))} virtual seconds; ${faults}`,
    `highest round ${n(totals.maxRound)}, slowest recovery ${n(totals.healedMs)} ms, at most ${n(totals.maxHealedRounds)} rounds, ${n(totals.accusations)} accusations\n`,
  ].join('\n')
}
