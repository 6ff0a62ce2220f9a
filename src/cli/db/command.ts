import { type Command, Option } from 'commander'
import { integerOption } from '../shared/options/options.ts'

export const addDbCommand = (program: Command): void => {
  const db = program.command('db').description('Look after a data folder (the node must be stopped)')
  db.command('verify')
    .description('Recompute state root, transaction and receipt roots and block links, and report every difference')
    .requiredOption('--datadir <folder>', 'the data folder')
    .addOption(
      new Option('--from <number>', 'first block to check')
        .argParser(integerOption(0, Number.MAX_SAFE_INTEGER))
        .default(0),
    )
    .option('--json', 'one JSON line as result', false)
    .action(async (flags: { datadir: string; from: number; json: boolean }) => {
      const { runDbVerify } = await import('./run.ts')
      await runDbVerify(flags)
    })
}
