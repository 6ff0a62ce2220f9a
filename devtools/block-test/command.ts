import { type Command, Option } from 'commander'
import { executionOption } from '../../src/cli/shared/options/options.ts'
import type { BlockTestFlags } from './run-files.ts'

export const addBlockTestCommand = (program: Command): void => {
  program
    .command('blocktest')
    .description('Run public blockchain tests (execution-spec-tests) as recorded chains: one JSON object a line')
    .argument('<file...>', 'files of blockchain tests, or folders of them')
    .addOption(executionOption())
    .addOption(
      new Option('--bench', 'measure the last block of each test: Mgas/s, the fastest of three').default(false),
    )
    .addHelpText(
      'after',
      `
Each line has name, network, pass and reason. A block that must be refused has to be refused for the named reason. The count is told
on standard error. Known gap: header times from 2^53 seconds on are not read (12 tests of EIP-4788).
Exit status: 0 when tests ran and all of them passed, 1 otherwise.

Examples:
  tandem blocktest blockchain_tests/prague
  tandem blocktest --bench benchmark/compute`,
    )
    .action(async (files: readonly string[], flags: BlockTestFlags) => {
      const { runBlockTestFiles } = await import('./run-files.ts')
      await runBlockTestFiles(files, flags)
    })
}
