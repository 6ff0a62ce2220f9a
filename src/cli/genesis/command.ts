import { type Command, Option } from 'commander'
import { NETWORKS } from '../../config/networks.ts'
import {
  addressOption,
  chainIdOption,
  collectOption,
  secondsOption,
  timestampOption,
} from '../shared/options/options.ts'
import type { GenesisFlags } from './run.ts'
import { fund, validatorSpec } from './specs.ts'

export const addGenesisCommand = (program: Command): void => {
  program
    .command('genesis')
    .description('Begin a chain')
    .command('new')
    .description(
      'Write a genesis file that "tandem start --genesis" takes, and print its hash; prompts for missing options',
    )
    .addOption(new Option('--network <name>', 'network whose parameters the chain uses').choices(Object.keys(NETWORKS)))
    .addOption(chainIdOption('chain id of a devnet (default: 1998999)'))
    .option(
      '--validator <member>',
      'a member of the first council, once for each: its address or key file, and ,name=TEXT ,stake=TOKENS ,reward=ADDRESS ,owner=ADDRESS if wanted',
      collectOption(validatorSpec),
    )
    .option(
      '--foundation <address>',
      'address that gets the share of the foundation; required for mainnet and testnet (devnet default: the first validator)',
      addressOption,
    )
    .option('--fund <address=tokens>', 'an account that has tokens from the start, once for each', collectOption(fund))
    .option('--block-time <seconds>', "seconds between blocks (default: the network's)", secondsOption)
    .addOption(
      new Option('--timestamp <time>', 'time of block 0: "now", unix seconds, or a date')
        .argParser(timestampOption)
        .default(timestampOption('now'), 'now'),
    )
    .option('--out <file>', 'the file to write, which must not be there yet', 'genesis.json')
    .option('--json', 'one JSON line as result', false)
    .addHelpText('after', DETAILS)
    .action(async (flags: GenesisFlags) => (await import('./run.ts')).newGenesis(flags))
}

const DETAILS = `
A validator without a name is called validator-1 and so on, without a stake it has the network's smallest, and without a reward address
it is paid to its own. Its owner, whose stake it is and who votes on newcomers, is its own address as well unless you name one: a key that
is not on the node is safer. A key file is only looked at for its address; no password is needed. Every node of the chain needs the same
file: the hash printed is how nodes know each other.

Examples:
  tandem genesis new --network devnet --chain-id 4242 --validator 0x2c7536e3605d9c16a7a3d7b1898e529396a65c23 --block-time 1
  tandem genesis new --network testnet --foundation 0x… --fund 0x…=1000000 \\
    --validator keys/a.json,name=alice,stake=40000000 --validator keys/b.json,name=bob,reward=0x…`
