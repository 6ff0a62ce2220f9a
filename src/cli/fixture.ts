import { type Command, Option } from 'commander'
import type { Namespace } from '../config/networks.ts'
import { LOG_LEVELS } from '../node/logging.ts'
import { evmOption, list, namespaces, port } from './options.ts'

export interface FixtureFlags {
  readonly genesis: string
  readonly chain: string
  readonly host: string
  readonly port: number
  readonly execution: 'fast' | 'ethereumjs' | 'shadow'
  readonly evm?: 'wasm' | 'ethereumjs'
  readonly httpApi: readonly Namespace[]
  readonly cors?: readonly string[]
  readonly allowHosts?: readonly string[]
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly json: boolean
}

export const addFixtureCommand = (program: Command): void => {
  program
    .command('fixture')
    .description('Execute a recorded chain of an Ethereum client and serve it, for conformance tests')
    .addOption(new Option('--genesis <file>', "genesis file in geth's form").makeOptionMandatory())
    .addOption(new Option('--chain <file>', 'the blocks after it, RLP one after the other').makeOptionMandatory())
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'port of HTTP and WebSocket; 0 picks a free one').argParser(port).default(8545),
    )
    .addOption(
      new Option('--execution <mode>', 'how blocks are executed: our executor, the EthereumJS VM, or both compared')
        .choices(['fast', 'ethereumjs', 'shadow'])
        .default('fast'),
    )
    .addOption(evmOption())
    .addOption(
      new Option('--http-api <namespaces>', 'comma-separated namespaces to serve')
        .argParser(namespaces)
        .default(MAINNET_NAMESPACES, MAINNET_NAMESPACES.join(',')),
    )
    .addOption(
      new Option('--cors <origins>', 'comma-separated origins a browser page may call from; "*" is any').argParser(
        list,
      ),
    )
    .addOption(
      new Option(
        '--allow-hosts <names>',
        'comma-separated Host names answered besides IP addresses and localhost',
      ).argParser(list),
    )
    .addOption(new Option('--log-level <level>', 'what the log tells').choices([...LOG_LEVELS]).default('info'))
    .addOption(new Option('--json', 'one JSON ready line, then JSON logs, for machines').default(false))
    .addHelpText(
      'after',
      `
The chain follows the forks, rewards and fees of its own genesis. Seals are believed; every root, the gas, the bloom and the
fees of each block are compared, and the first difference ends the command. Nobody adds blocks: transactions wait in the pool.
Everything is kept in a temporary folder, which goes at the end.

Examples:
  tandem fixture --genesis genesis.json --chain chain.rlp
  tandem fixture --genesis genesis.json --chain chain.rlp --port 0 --json --http-api debug,eth,net,rpc,native`,
    )
    .action(async (flags: FixtureFlags) => {
      const { runFixture } = await import('./run-fixture.ts')
      await runFixture(flags)
    })
}

const MAINNET_NAMESPACES: readonly Namespace[] = ['eth', 'net', 'rpc', 'native']
