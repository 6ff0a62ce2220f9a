import { type Command, Option } from 'commander'
import { DEVNET_FORKS } from '../../config/forks.ts'
import { DEVNET_DEFAULTS, DEVNET_LIMITS } from '../../config/limits/commands.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { methodOptions } from '../shared/options/method-options.ts'
import { miningOptions } from '../shared/options/mining-options.ts'
import {
  chainIdOption,
  integerOption,
  namespacesOption,
  nodeOptions,
  portOption,
  secondsOption,
  tokensOption,
} from '../shared/options/options.ts'
import type { DevnetFlags } from './run.ts'

export const addDevnetCommand = (program: Command): void => {
  const command = program
    .command('devnet')
    .description('Start a chain for development: funded accounts, blocks at once, one command')
    .option(
      '--block-time <seconds>',
      'seconds between blocks; 0 = a block at once per transaction',
      secondsOption,
      DEVNET_DEFAULTS.blockTime,
    )
    .option(
      '--accounts <count>',
      'how many accounts are funded',
      integerOption(1, DEVNET_LIMITS.accounts),
      DEVNET_DEFAULTS.accounts,
    )
    .addOption(
      new Option('--balance <tokens>', 'tokens each account starts with')
        .argParser(tokensOption)
        .default(DEVNET_DEFAULTS.balance, '10000'),
    )
    .option('--mnemonic <words>', 'BIP-39 mnemonic of the accounts (default: the well-known test mnemonic)')
    .addOption(chainIdOption('chain id (default: 1998999, with --ethereum 31337)'))
    .addOption(new Option('--hardfork <name>', "newest fork of the EVM's rules (default: osaka)").choices(DEVNET_FORKS))
    .option(
      '--ethereum',
      "Ethereum's gas: calldata 4 and 16 with EIP-7623, EIP-7825, precompiles, blocks of 60 M, base fee of EIP-1559 without bounds",
      false,
    )
    .option('--datadir <folder>', 'data folder of the chain (default: a temporary folder, removed at the end)')
    .option('--http-api <namespaces>', 'comma-separated namespaces to serve (default: all)', namespacesOption)
    .option('--unlock', 'let the node sign for its funded accounts (eth_accounts, eth_sendTransaction)', false)
  command
    .option(
      '--operator-port <number>',
      'loopback-only port with every namespace, where keys of your own mnemonic sign; 0 picks a free one (off by default)',
      portOption,
    )
    .addOption(
      new Option(
        '--client-name <name>',
        'start of web3_clientVersion, for tools that require it (hardhat-network-helpers)',
      ).choices(['anvil', 'hardhat']),
    )
    .option(
      '--same-timestamps',
      'with --block-time 0: blocks of one second share its timestamp (default: each is a second later at least)',
      false,
    )
    .option(
      '--code-size-limit <bytes>',
      'largest code of a contract (default: 24576); a transaction may have 131072 bytes in all',
      integerOption(1, BLOCK_BOUNDS.transactionBytes),
    )
    .option(
      '--throw-on-revert',
      "sending a transaction that fails in its block returns an error, as on hardhat's network",
      false,
    )
    .option('--no-explorer', 'do not serve the explorer and its pages')
    .option('--no-faucet', 'do not serve the faucet, which pays from the last funded account')
    .option('--abi <folder>', 'ABIs or compiler artifacts, whose errors the lines of failed transactions name')
    .option('--no-predeploys', 'a chain without CREATE2 deployer, Multicall3, Permit2 and ERC-4337 EntryPoints')
    .option('--state <file>', 'load the state (accounts, code, storage) at the start, and write it at the end')
  for (const option of [...miningOptions(), ...methodOptions(), ...nodeOptions()]) {
    // hardhat_reset can then return to genesis from any block.
    if (option.attributeName() === 'stateHistory') option.default('archive')
    command.addOption(option)
  }
  command.addHelpText(
    'after',
    `
Examples:
  tandem devnet                          a chain on http://127.0.0.1:8545 with 1 s blocks
  tandem devnet --block-time 0           a block at once for each transaction
  tandem devnet --datadir ./chain        the same chain again next time
  tandem devnet --mine                   mine the proof chain too, for the first account
  tandem devnet --port 0 --json          for scripts: one ready line with the URLs and keys`,
  )
  command.action(async (flags: DevnetFlags) => (await import('./run.ts')).runDevnet(flags))
}
