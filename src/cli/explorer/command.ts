import { type Command, InvalidArgumentError } from 'commander'
import { explorerFileOptions } from '../shared/options/explorer-files.ts'
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
    .requiredOption('--node <url>', 'WebSocket of a node of the network', nodeOption)
    .option(
      '--rpc-url <url>',
      'public HTTP address of the node, which the pages give to wallets (default: they give none)',
      httpUrlOption('https://node.example'),
    )
    .requiredOption('--datadir <folder>', 'where index and verified contracts are kept')
    .option(
      '--database <url>',
      'PostgreSQL database of the index: postgres://user:password@host/name (default: a SQLite file in --datadir)',
      databaseOption,
    )
    .option('--database-read <url>', 'replica of --database that serves the requests', databaseOption)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port of API and pages; 0 picks a free one', portOption, 8570)
    .addHelpText(
      'after',
      `
Examples:
  tandem explorer --node ws://127.0.0.1:8545/ws --datadir ./explorer
  tandem explorer --node wss://node.example/ws --datadir ./explorer --trust-proxy loopback --rpc-url https://node.example
  tandem explorer --node ws://127.0.0.1:8545/ws --datadir ./explorer --database postgres://tandem@db.example/tandem`,
    )
    .action(async (flags: ExplorerFlags) => (await import('./run.ts')).runExplorer(flags))
  for (const option of [...explorerFileOptions(), ...proxyOptions('proxies in front'), ...outputOptions()])
    command.addOption(option)
}
