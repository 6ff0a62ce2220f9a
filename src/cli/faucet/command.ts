import type { Command } from 'commander'
import { faucetCapOptions } from '../shared/options/faucet-options.ts'
import { chainIdOption, httpUrlOption, outputOptions, portOption } from '../shared/options/options.ts'
import { proxyOptions } from '../shared/options/proxy-options.ts'
import type { FaucetFlags } from './run.ts'

export const addFaucetCommand = (program: Command): void => {
  const command = program
    .command('faucet')
    .description('Serve the faucet of a test network in a process of its own')
    .requiredOption('--rpc <url>', 'node of the test network', httpUrlOption('http://127.0.0.1:8545'))
    .requiredOption('--key <file>', 'key of the account it pays from: an encrypted keystore (v3), or 64 hex digits')
    .option('--password-file <file>', 'password of the keystore (or set TANDEM_PASSWORD, else a prompt)')
    .requiredOption('--datadir <folder>', 'where the grants are kept')
    .addOption(chainIdOption('chain id of a development chain (default: that of testnet)'))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port of the page; 0 picks a free one', portOption, 8560)
    .addHelpText(
      'after',
      `
Examples:
  tandem faucet --rpc http://127.0.0.1:8545 --key faucet.json --datadir ./faucet
  tandem faucet --rpc http://127.0.0.1:8545 --key faucet.json --datadir ./faucet --trust-proxy loopback
  tandem faucet --rpc http://127.0.0.1:8545 --key dev.key --datadir ./faucet --chain-id 1998999   for a devnet`,
    )
    .action(async (flags: FaucetFlags) => (await import('./run.ts')).runFaucet(flags))
  for (const option of [...faucetCapOptions(''), ...proxyOptions('proxies in front'), ...outputOptions()])
    command.addOption(option)
}
