import { type Command, InvalidArgumentError, Option } from 'commander'
import { LOG_LEVELS } from '../../node/logging.ts'
import { portOption, trustProxyOption } from '../shared/options/options.ts'

export interface ExplorerFlags {
  readonly node: string
  readonly datadir: string
  readonly database?: string
  readonly databaseRead?: string
  readonly host: string
  readonly port: number
  readonly explorerKeys?: string
  readonly explorerLabels?: string
  readonly explorerPrice?: string
  readonly solcDir?: string
  readonly trustProxy?: number | readonly string[]
  readonly proxyHeader: 'x-forwarded-for' | 'forwarded'
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly json: boolean
}

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
  program
    .command('explorer')
    .description('Index the chain of a node and serve the explorer, in a process of its own')
    .addOption(
      new Option('--node <url>', 'WebSocket of a node of the network').argParser(nodeOption).makeOptionMandatory(),
    )
    .addOption(new Option('--datadir <folder>', 'where index and verified contracts are kept').makeOptionMandatory())
    .addOption(
      new Option(
        '--database <url>',
        'PostgreSQL database of the index: postgres://user:password@host/name (default: a SQLite file in --datadir)',
      ).argParser(databaseOption),
    )
    .addOption(
      new Option('--database-read <url>', 'a replica of it that answers the requests').argParser(databaseOption),
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
    .addOption(
      new Option(
        '--trust-proxy <proxies>',
        'proxies in front: how many, or their comma-separated addresses and subnets (loopback, 10.0.0.0/8)',
      ).argParser(trustProxyOption),
    )
    .addOption(
      new Option('--proxy-header <name>', 'the header in which these proxies name the client')
        .choices(['x-forwarded-for', 'forwarded'])
        .default('x-forwarded-for'),
    )
    .addOption(new Option('--log-level <level>', 'log level').choices([...LOG_LEVELS]).default('info'))
    .addOption(new Option('--json', 'one JSON ready line, then JSON logs, for machines').default(false))
    .addHelpText(
      'after',
      `
Examples:
  tandem explorer --node ws://127.0.0.1:8545/ws --datadir ./explorer
  tandem explorer --node wss://node.example/ws --datadir ./explorer --trust-proxy loopback
  tandem explorer --node ws://127.0.0.1:8545/ws --datadir ./explorer --database postgres://tandem@db.example/tandem`,
    )
    .action(async (flags: ExplorerFlags) => {
      const { runExplorer } = await import('./run.ts')
      await runExplorer(flags)
    })
}
