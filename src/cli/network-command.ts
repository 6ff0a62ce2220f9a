import { type Command, Option } from 'commander'
import { parseGenesis } from '../config/genesis/genesis.ts'
import { NETWORKS, type NetworkName, type NetworkParams } from '../config/networks.ts'
import { readText } from './shared/files.ts'
import { collectOption, httpUrlOption } from './shared/options/options.ts'

interface InfoFlags {
  readonly network: NetworkName
  readonly genesis?: string
  readonly format: 'eip3085' | 'chainlist'
  readonly rpc?: readonly string[]
  readonly explorer?: string
}

export const addNetworkCommand = (program: Command): void => {
  program
    .command('network')
    .description('Describe a network for wallets')
    .command('info')
    .description('Print a network as wallets and lists of chains take it')
    .addOption(new Option('--network <name>', 'the network').choices(Object.keys(NETWORKS)).default('mainnet'))
    .option('--genesis <file>', 'genesis file of a network of your own')
    .addOption(
      new Option('--format <form>', 'for wallet_addEthereumChain (EIP-3085), or for the list of chains (EIP-155)')
        .choices(['eip3085', 'chainlist'])
        .default('eip3085'),
    )
    .option(
      '--rpc <url>',
      'address of the RPC, once for each (default: http://127.0.0.1:8545)',
      collectOption(httpUrlOption('https://node.example')),
    )
    .option('--explorer <url>', 'address of the explorer', httpUrlOption('https://node.example/explorer'))
    .action((flags: InfoFlags) => void process.stdout.write(`${JSON.stringify(describe(flags), null, 2)}\n`))
}

const describe = ({ network, genesis, format, rpc = ['http://127.0.0.1:8545'], explorer }: InfoFlags): object => {
  const params: NetworkParams =
    genesis === undefined ? NETWORKS[network] : parseGenesis(readText(genesis, '--genesis')).params
  const { name, symbol, chainId } = params
  const title = `Tandem ${name}`
  const nativeCurrency = { name: symbol, symbol, decimals: 18 }
  if (format === 'eip3085')
    return {
      chainId: `0x${chainId.toString(16)}`,
      chainName: title,
      nativeCurrency,
      rpcUrls: rpc,
      ...(explorer !== undefined && { blockExplorerUrls: [explorer] }),
    }
  return {
    name: title,
    chain: symbol,
    rpc,
    faucets: [],
    nativeCurrency,
    infoURL: explorer ?? rpc[0],
    shortName: `tandem-${name}`,
    chainId,
    networkId: chainId,
    ...(name !== 'mainnet' && { status: 'incubating' }),
    ...(explorer !== undefined && { explorers: [{ name: `${title} explorer`, url: explorer, standard: 'EIP3091' }] }),
  }
}
