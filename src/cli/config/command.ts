import type { Command } from 'commander'

/** Adds `config`; `createProgram` makes a command line of its own, whose commands print instead of run. */
export const addConfigCommand = (program: Command, createProgram: () => Command): void => {
  const config = program.command('config').description('Look at the options that files and the environment give')
  config
    .command('print')
    .description('Print the options that a command would run with, and where each comes from')
    .argument('<command...>', 'a command with its options: start --network testnet')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (_: readonly string[], __: object, print: Command) =>
      (await import('./run.ts')).printConfig(print, createProgram(), print.args),
    )
  config
    .command('check')
    .description('Check a file of options: its form, its names and its values')
    .argument('<file>', 'a TOML file with a table for each command')
    .action(async (file: string) => (await import('./run.ts')).checkConfig(createProgram, file))
}
