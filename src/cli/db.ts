import type { Command } from 'commander'

export const addDbCommand = (program: Command): void => {
  const db = program.command('db').description('Look after a data folder (the node must be stopped)')
  db.command('verify')
    .description('Recompute state root, transaction and receipt roots and block links, and say what is wrong')
    .requiredOption('--datadir <folder>', 'the data folder')
    .option('--from <number>', 'first block to check', '0')
    .option('--json', 'one JSON line as result', false)
    .action(async (flags: { datadir: string; from: string; json: boolean }) => {
      const { runDbVerify } = await import('./run-db-verify.ts')
      await runDbVerify(flags)
    })
}
