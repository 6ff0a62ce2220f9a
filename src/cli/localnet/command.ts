import type { Command } from 'commander'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import {
  addressOption,
  chainIdOption,
  integerOption,
  nodeOptions,
  portOption,
  secondsOption,
  tokensOption,
  trustMissingLogOption,
} from '../shared/options/options.ts'
import type { LocalnetFlags } from './plan.ts'

/** Options passed to every node, as in `tandem start`. */
const PASSED_ON: ReadonlySet<string> = new Set(['execution', 'stateHistory', 'cors', 'allowHosts', 'logLevel'])

export const addLocalnetCommand = (program: Command): void => {
  const { validators, full, accounts } = LOCALNET_LIMITS
  const command = program
    .command('localnet')
    .description('Start a whole network on this machine: validators and full nodes, one process each')
    .option('--validators <count>', 'how many validators (default: 4)', integerOption(1, validators))
    .option('--full <count>', 'how many nodes that only follow', integerOption(0, full), 0)
    .option(
      '--block-time <seconds>',
      'seconds between blocks; 0 = a block at once per transaction (default: 1)',
      secondsOption,
    )
    .option('--accounts <count>', 'how many accounts are funded (default: 10)', integerOption(1, accounts))
    .option('--balance <tokens>', 'tokens each account starts with (default: 10000)', tokensOption)
    .option('--mnemonic <words>', 'BIP-39 mnemonic of the accounts (default: the well-known test mnemonic)')
    .addOption(chainIdOption('chain id (default: 1998999)'))
    .option('--datadir <folder>', 'folder of keys and chain (default: a temporary folder, removed at the end)')
    .option(
      '--host <address>',
      'address to serve HTTP and WebSocket at; everything else is on the loopback',
      '127.0.0.1',
    )
    .option('--port <number>', 'first port; each node takes ten from there on; 0 picks free ones', portOption, 8545)
    .option('--metrics', 'serve Prometheus metrics of each node, at its third port', false)
    .option('--mine <address>', 'the first validator mines the proof chain and pays this address', addressOption)
    .option('--stratum', 'serve Stratum to miners at the fifth port of each node', false)
    .addOption(trustMissingLogOption())
    .option('--chaos', 'pause, kill and restart nodes at random', false)
    .option(
      '--seed <number>',
      'seed of the chaos: the same seed repeats nodes, signals and order (default: random)',
      integerOption(0, 2 ** 32 - 1),
    )
    .option(
      '--chaos-down <count>',
      'most validators that are down at one time (default: as many as the rest decides blocks without)',
      integerOption(0, validators),
    )
    .option(
      '--until-block <number>',
      'end when all nodes have this block; status 0 only if it is the same everywhere',
      integerOption(1, Number.MAX_SAFE_INTEGER),
    )
  for (const option of nodeOptions()) if (PASSED_ON.has(option.attributeName())) command.addOption(option)
  command
    .option('--json', 'one JSON ready line, then JSON events, for machines', false)
    .addHelpText('after', DETAILS)
    .action(async (flags: LocalnetFlags) => (await import('./run.ts')).runLocalnet(flags))
}

const DETAILS = `
Node i, counted from 0, has the ports PORT + 10 i (HTTP and WebSocket), + 1 (operator, every namespace),
+ 2 (metrics), + 3 (peers) and + 4 (Stratum). What it logs is in node.log in its folder. A node that ends by
itself is told with the end of its log and not started again: the rest go on, and the exit status is 1. With
--datadir the same network goes on the next time; --full may change.

Examples:
  tandem localnet                              four validators on http://127.0.0.1:8545
  tandem localnet --validators 7 --full 2      and two nodes that follow
  tandem localnet --datadir ./net              the same network again next time
  tandem localnet --port 0 --json              for scripts: one ready line with URLs and keys
  tandem localnet --chaos --seed 7             and nodes that are paused, killed and restarted
  tandem localnet --chaos --until-block 200    the same as a test that ends by itself
`
