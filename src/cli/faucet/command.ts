import { type Command, Option } from 'commander'
import { faucetCapOptions } from '../shared/options/faucet-options.ts'
import { chainIdOption, httpUrlOption, outputOptions, portOption } from '../shared/options/options.ts'
import { proxyOptions } from '../shared/options/proxy-options.ts'
import type { FaucetFlags } from './run.ts'

export const addFaucetCommand = (program: Command): void => {
  const command = program
    .command('faucet')
    .description('Serve the faucet of a test network in a process of its own')
    .addOption(
      new Option('--rpc <url>', 'node of the test network')
        .argParser(httpUrlOption('http://127.0.0.1:8545'))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--key <file>',
        'key of the account it pays from: an encrypted keystore (v3), or 64 hex digits',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--password-file <file>', 'password of the keystore (or set TANDEM_PASSWORD, else a prompt)'))
    .addOption(new Option('--datadir <folder>', 'where the grants are kept').makeOptionMandatory())
    .addOption(chainIdOption('chain id of a development chain (default: that of testnet)'))
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'port of the page; 0 picks a free one').argParser(portOption).default(8560),
    )
    .addHelpText(
      'after',
      `
Examples:
  tandem faucet --rpc http://127.0.0.1:8545 --key faucet.json --datadir ./faucet
  tandem faucet --rpc http://127.0.0.1:8545 --key faucet.json --datadir ./faucet --trust-proxy loopback
  tandem faucet --rpc http://127.0.0.1:8545 --key dev.key --datadir ./faucet --chain-id 1998999   for a devnet`,
    )
    .action(async (flags: FaucetFlags) => {
      const { runFaucet } = await import('./run.ts')
      await runFaucet(flags)
    })
  for (const option of [...faucetCapOptions(''), ...proxyOptions('proxies in front'), ...outputOptions()])
    command.addOption(option)
}
