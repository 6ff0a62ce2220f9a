import type { Command } from 'commander'
import { integerOption } from '../shared/options/options.ts'

export const addDbCommand = (program: Command): void => {
  const db = program.command('db').description('Look after a data folder (the node must be stopped)')
  db.command('verify')
    .description('Recompute state root, transaction and receipt roots and block links, and report every difference')
    .requiredOption('--datadir <folder>', 'the data folder')
    .option('--from <number>', 'first block to check', integerOption(0, Number.MAX_SAFE_INTEGER), 0)
    .option('--json', 'one JSON line as result', false)
    .action(async (flags: { datadir: string; from: number; json: boolean }) =>
      (await import('./run.ts')).runDbVerify(flags),
    )
}
