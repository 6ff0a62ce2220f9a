import type { Hex } from '@tandem/base/bytes.ts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Checkpoint } from '../../chain/snapshot/sync/snapshot-selector.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import { NETWORKS } from '../../config/networks.ts'
import { faucetCapOptions } from '../shared/options/faucet-options.ts'
import { methodOptions } from '../shared/options/method-options.ts'
import { miningOptions } from '../shared/options/mining-options.ts'
import {
  blocksOr,
  integerOption,
  listOption,
  nodeOptions,
  portOrOffOption,
  trustMissingLogOption,
} from '../shared/options/options.ts'
import { peerOptions } from './peer-options.ts'
import { publicOptions } from './public-options.ts'
import type { StartFlags } from './run.ts'

/** NUMBER:HASH. */
export const checkpoint = (text: string): Checkpoint => {
  const [, digits, hash] = /^(\d{1,15}):(0x[0-9a-fA-F]{64})$/.exec(text) ?? []
  if (digits === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be a block number and its hash: 1728000:0x and 64 hex digits.')
  return { number: Number(digits), hash: hash.toLowerCase() as Hex }
}

/** Options of sync and of the snapshots served to others. */
const syncOptions = (): readonly Option[] => [
  new Option(
    '--sync <mode>',
    'how a new node gets to the head: full fetches and executes every block; snapshot takes the state of a recent block, then the blocks before it',
  )
    .choices(['full', 'snapshot'])
    .default('full'),
  new Option(
    '--checkpoint <number:hash>',
    'a block that must be of the chain; needed with --sync snapshot on a chain older than two weeks',
  ).argParser(checkpoint),
  new Option(
    '--snapshot-interval <blocks>',
    'blocks between two snapshots kept for new nodes, rounded up to whole cycles; 0 makes none',
  )
    .argParser(integerOption(0, 1_000_000_000))
    .default(SNAPSHOT_LIMITS.intervalBlocks),
  new Option('--history <blocks>', 'number of blocks that are kept with their receipts and logs; "full" keeps all')
    .argParser(blocksOr('full'))
    .default('full'),
]

/** Options of the faucet inside the node (docs/faucet.md). */
const faucetOptions = (): readonly Option[] => [
  new Option(
    '--faucet',
    'serve the faucet under /faucet on the public port: test networks only; needs --faucet-key',
  ).default(false),
  new Option(
    '--faucet-key <file>',
    'key of the account the faucet pays from: an encrypted keystore (v3), or 64 hex digits; its password is the last one of --password-file',
  ),
  ...faucetCapOptions('faucet-'),
]

export const addStartCommand = (program: Command): void => {
  const command = program
    .command('start')
    .description('Start a node of a network')
    .addOption(
      new Option('--network <name>', 'network to take part in').choices(Object.keys(NETWORKS)).makeOptionMandatory(),
    )
    .option('--genesis <file>', 'genesis file that every node of the network has; "tandem genesis new" writes one')
    .requiredOption('--datadir <folder>', 'where the chain is kept')
    .option('--validator-key <file>', 'key that proposes and votes: an encrypted keystore (v3), or 64 hex digits')
    .option(
      '--unlock <files>',
      'comma-separated key files the node signs for (eth_sendTransaction and its like), on the operator port only',
      listOption,
    )
    .option(
      '--password-file <file>',
      'passwords of the key files, one a line, the validator first; one line serves all (or set TANDEM_PASSWORD, else a prompt)',
    )
    .addOption(trustMissingLogOption())
    .option(
      '--operator-port <number>',
      'loopback-only port with every namespace; 0 picks a free one, off opens none',
      portOrOffOption,
      8547,
    )
  command.option(
    '--explorer',
    'index the chain and serve the explorer on the public port: its API under /api, its pages under /explorer',
    false,
  )
  for (const option of faucetOptions()) command.addOption(option)
  for (const option of syncOptions()) command.addOption(option)
  for (const option of [...publicOptions(), ...peerOptions(), ...miningOptions(), ...methodOptions(), ...nodeOptions()])
    command.addOption(option)
  command.addHelpText(
    'after',
    `
Examples:
  tandem start --network testnet --genesis testnet.json --datadir ./data
  tandem start --network mainnet --genesis mainnet.json --datadir ./data --validator-key key.json --password-file pw
  tandem start --network mainnet --genesis mainnet.json --datadir ./data --sync snapshot --checkpoint 1728000:0xHASH
  tandem start --network testnet --genesis testnet.json --datadir ./data --bootnodes tandem://ID@HOST:30333`,
  )
  command.action(async (flags: StartFlags) => (await import('./run.ts')).runStart(flags))
}
