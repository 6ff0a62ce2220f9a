import { availableParallelism } from 'node:os'
import { type Command, Option } from 'commander'
import { integerOption } from '../../src/cli/shared/options/options.ts'
import { SIMULATION_LIMITS } from '../limits.ts'
import { PROFILE_NAMES, PROFILES } from './plan/profiles.ts'
import type { SimFlags } from './run.ts'

const profileLines = PROFILE_NAMES.map(name => `  ${name.padEnd(11)} ${PROFILES[name].summary}`).join('\n')

export const addSimCommand = (program: Command): void => {
  program
    .command('sim')
    .description(
      'Run whole committees in virtual time with faults drawn from a seed, and check that none breaks a rule',
    )
    .addOption(
      new Option('--seed <number>', 'the first seed: equal seeds give equal runs')
        .argParser(integerOption(0, 2 ** 32))
        .default(1),
    )
    .addOption(
      new Option('--seeds <count>', 'how many seeds to run').argParser(integerOption(1, 1_000_000_000)).default(1),
    )
    .addOption(
      new Option(
        '--heights <number>',
        'blocks to reach with faults, before the network heals and every node must progress',
      )
        .argParser(integerOption(1, SIMULATION_LIMITS.heights))
        .default(6),
    )
    .addOption(
      new Option('--nodes <number>', 'nodes in a run (drawn from the seed by default: 1 to 7)').argParser(
        integerOption(1, SIMULATION_LIMITS.nodes),
      ),
    )
    .addOption(new Option('--profile <name>', 'kinds of faults').choices(PROFILE_NAMES).default('swarm'))
    .addOption(
      new Option('--jobs <number>', 'threads')
        .argParser(integerOption(1, SIMULATION_LIMITS.jobs))
        .default(Math.min(availableParallelism(), SIMULATION_LIMITS.jobs), 'the number of cores'),
    )
    .option('--json', 'one JSON line for each seed, then one with the totals', false)
    .addHelpText(
      'after',
      `
Profiles:
${profileLines}

Every node runs the consensus engine that ships, with its log, its codecs and its recovery; only clock, disk, network and execution
are simulated. A seed that breaks a rule is run again and again with less, and told as the smallest schedule that still breaks it.
Exit status: 0 when no rule was broken, 1 otherwise. Ctrl-C ends a long run after the seeds under way, with the totals so far.

Examples:
  tandem sim --seeds 1000
  tandem sim --seed 4711 --profile byzantine --nodes 7 --heights 20`,
    )
    .action(async (flags: SimFlags) => {
      const { runSim } = await import('./run.ts')
      await runSim(flags)
    })
}
