import { type Command, InvalidArgumentError, Option } from 'commander'
import { httpUrlOption, outputOptions, portOption } from '../shared/options/options.ts'
import { proxyOptions } from '../shared/options/proxy-options.ts'
import type { ExplorerFlags } from './run.ts'

const nodeOption = (text: string): string => {
  if (!URL.canParse(text) || !/^wss?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('It must be a WebSocket URL: ws://127.0.0.1:8545/ws.')
  return text
}

const databaseOption = (text: string): string => {
  if (!URL.canParse(text) || !/^postgres(ql)?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('It must be the URL of a PostgreSQL database: postgres://user:password@host/name.')
  return text
}

export const addExplorerCommand = (program: Command): void => {
  const command = program
    .command('explorer')
    .description('Index the chain of a node and serve the explorer, in a process of its own')
    .addOption(
      new Option('--node <url>', 'WebSocket of a node of the network').argParser(nodeOption).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--rpc-url <url>',
        'public HTTP address of the node, which the pages give to wallets (default: they give none)',
      ).argParser(httpUrlOption('https://node.example')),
    )
    .addOption(new Option('--datadir <folder>', 'where index and verified contracts are kept').makeOptionMandatory())
    .addOption(
      new Option(
        '--database <url>',
        'PostgreSQL database of the index: postgres://user:password@host/name (default: a SQLite file in --datadir)',
      ).argParser(databaseOption),
    )
    .addOption(
      new Option('--database-read <url>', 'a replica of it that serves the requests').argParser(databaseOption),
    )
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'port of API and pages; 0 picks a free one').argParser(portOption).default(8570),
    )
    .addOption(new Option('--explorer-keys <file>', 'API keys with ten times the requests, one a line'))
    .addOption(new Option('--explorer-labels <file>', 'names of addresses: JSON, {"0x...": "name"}'))
    .addOption(
      new Option(
        '--explorer-price <file>',
        'sources of the price of the native token: an oracle contract, exchanges (JSON)',
      ),
    )
    .addOption(
      new Option('--solc-dir <directory>', 'more compilers for verifying contracts: soljson files of other versions'),
    )
    .addHelpText(
      'after',
      `
Examples:
  tandem explorer --node ws://127.0.0.1:8545/ws --datadir ./explorer
  tandem explorer --node wss://node.example/ws --datadir ./explorer --trust-proxy loopback --rpc-url https://node.example
  tandem explorer --node ws://127.0.0.1:8545/ws --datadir ./explorer --database postgres://tandem@db.example/tandem`,
    )
    .action(async (flags: ExplorerFlags) => {
      const { runExplorer } = await import('./run.ts')
      await runExplorer(flags)
    })
  for (const option of [...proxyOptions('proxies in front'), ...outputOptions()]) command.addOption(option)
}
