import { availableParallelism } from 'node:os'
import { type Command, Option } from 'commander'
import { executionOption, integerOption, listOption } from '../../src/cli/shared/options/options.ts'
import { STATE_TEST_LIMITS } from '../limits.ts'
import type { StateTestFlags } from './run-files.ts'

export const addStateTestCommand = (program: Command): void => {
  program
    .command('statetest')
    .description('Run public state tests (execution-spec-tests, ethereum/tests): one JSON object a line for each entry')
    .argument('<file...>', 'files of state tests, or folders of them')
    .addOption(executionOption())
    .addOption(
      new Option('--fork <names>', 'comma-separated forks as the files name them; all by default')
        .argParser(listOption)
        .env('STATETEST_FORKS'),
    )
    .addOption(
      new Option('--jobs <number>', 'threads')
        .argParser(integerOption(1, STATE_TEST_LIMITS.jobs))
        .default(Math.min(availableParallelism(), STATE_TEST_LIMITS.jobs), 'the number of cores'),
    )
    .addHelpText(
      'after',
      `
Each line has name, fork, index, stateRoot, logsHash, pass and file, and txError where the transaction was refused, error where
something else went wrong, skipped and reason for a fork that is not known. The count and the files that could not be read
are told on standard error.
Exit status: 0 when entries ran and all of them passed, 1 otherwise.

Examples:
  tandem statetest GeneralStateTests/stExample
  STATETEST_FORKS=Cancun,Prague tandem statetest --execution ethereumjs add11.json`,
    )
    .action(async (files: readonly string[], flags: StateTestFlags) => {
      const { runStateTest } = await import('./run-files.ts')
      await runStateTest(files, flags)
    })
}
