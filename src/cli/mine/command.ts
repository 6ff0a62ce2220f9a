import { type Command, InvalidArgumentError, Option } from 'commander'
import { MINING_LIMITS } from '../../config/limits/chain.ts'
import { dutyOption, stratumAddress } from '../shared/options/mining-options.ts'
import { addressOption, httpUrlOption, integerOption } from '../shared/options/options.ts'
import type { MineFlags } from './run.ts'

const workerOption = (text: string): string => {
  if (!/^[\w-]{1,32}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 32 letters, digits, _ or -.')
  return text
}

export const addMineCommand = (program: Command): void => {
  program
    .command('mine')
    .description('Mine headers of the proof chain for a node, in a process of its own')
    .option(
      '--rpc <url>',
      "the node's operator port, or the port of a devnet",
      httpUrlOption('http://127.0.0.1:8547'),
      'http://127.0.0.1:8547',
    )
    .addOption(
      new Option('--stratum <[host:]port>', 'mine for a Stratum server instead; needs --coinbase')
        .argParser(stratumAddress(1))
        .conflicts('rpc'),
    )
    .option(
      '--coinbase <address>',
      "address that mined headers pay (default: the node's --mine-coinbase)",
      addressOption,
    )
    .option('--worker <name>', 'name of this miner in the accounts of a Stratum server', workerOption, 'tandem')
    .option('--threads <count>', 'threads that search', integerOption(1, MINING_LIMITS.threads), 1)
    .option('--duty <share>', 'share of their time that the threads work', dutyOption, 1)
    .addHelpText(
      'after',
      `
Examples:
  tandem mine --coinbase 0xYOURS                              for the node on this machine
  tandem mine --rpc http://127.0.0.1:8545 --coinbase 0xYOURS  for a devnet
  tandem mine --stratum 10.0.0.7:3333 --coinbase 0xYOURS      for a node with --stratum`,
    )
    .action(async (flags: MineFlags) => (await import('./run.ts')).runMine(flags))
}
