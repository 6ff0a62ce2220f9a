import { resolve } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { parseGenesis } from '../../config/genesis/genesis.ts'
import { type GenesisMember, type GenesisSettings, genesisText } from '../../config/genesis/genesis-text.ts'
import { NETWORKS, type NetworkParams } from '../../config/networks.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { genesisHashFromFile } from '../../node/genesis/genesis-hash.ts'
import { formatTokens } from '../shared/format.ts'
import { processTerminal, type Terminal } from '../shared/keys/prompt.ts'
import { errorMessage } from '../shared/output.ts'
import type { GenesisFlags } from './flags.ts'
import { askForRest, type GenesisAnswers } from './interview.ts'
import type { Fund, ValidatorSpec } from './specs.ts'
import { validatorAddress } from './validator-address.ts'

/** Runs `tandem genesis new`. */
export const newGenesis = async (flags: GenesisFlags, terminal: Terminal = processTerminal): Promise<void> => {
  const answers = await askForRest(flags, terminal)
  const choices = choicesOf(answers, flags)
  const text = genesisText(choices)
  // Validated by the parser that every node uses.
  const genesis = parseGenesis(text)
  const genesisHash = await genesisHashFromFile(genesis)
  const file = resolve(flags.out)
  await writeNewFile(file, text, 0o644).catch(error => {
    throw new Error(`--out: ${errorMessage(error)}`, { cause: error })
  })
  const { chainId } = genesis.params
  if (flags.json) process.stdout.write(`${JSON.stringify({ file, genesisHash, chainId })}\n`)
  else process.stdout.write(summary(file, genesisHash, choices, genesis.params))
}

const choicesOf = (
  { network, validators, foundation, funds, blockTime }: GenesisAnswers,
  flags: GenesisFlags,
): GenesisSettings => {
  const council = validators.map((spec, index) => memberOf(spec, index, NETWORKS[network]))
  return {
    network,
    ...(flags.chainId !== undefined && { chainId: flags.chainId }),
    timestamp: flags.timestamp,
    council,
    foundation: foundation ?? (council[0] as GenesisMember).validator,
    balances: balancesOf(funds),
    ...(blockTime !== undefined && { blockTimeMs: Math.round(blockTime * 1_000) }),
  }
}

const memberOf = (
  { key, name, stakeWei, reward, owner }: ValidatorSpec,
  index: number,
  params: NetworkParams,
): GenesisMember => {
  const validator = validatorAddress(key)
  return {
    name: name ?? `validator-${index + 1}`,
    validator,
    owner: owner ?? validator,
    reward: reward ?? validator,
    stakeWei: stakeWei ?? params.minStakeWei,
  }
}

const balancesOf = (funds: readonly Fund[]): ReadonlyMap<Hex, bigint> => {
  const balances = new Map<Hex, bigint>()
  for (const { address, wei } of funds) {
    if (balances.has(address)) throw new Error(`--fund names ${address} twice: give it one amount.`)
    balances.set(address, wei)
  }
  return balances
}

const summary = (
  file: string,
  genesisHash: Hex,
  { council, network, balances }: GenesisSettings,
  params: NetworkParams,
): string => {
  const members = council.map(({ name, validator }) => `  ${checksumAddress(validator)}  ${name}`)
  const funded = [...balances].map(([address, wei]) => `  ${checksumAddress(address)}  ${formatTokens(wei)} tokens`)
  if (funded.length === 0)
    funded.push('  none: only validators earn tokens; --fund ADDRESS=TOKENS gives an account some')
  const helpers = params.devHelpers
    ? '\nThis chain has one validator: every client of its RPC may edit accounts and take blocks back (docs/dev-helpers.md).\n"params": { "devHelpers": false } in the file switches that off (docs/genesis.md).\n'
    : ''
  const sampled =
    council.length > params.committeeSize
      ? `\n${council.length} validators are more than a committee of ${params.committeeSize}: each cycle draws a sample, which can have more than f faulty\nmembers by chance. "params": { "committeeSize": ${Math.min(council.length, CONSENSUS_BOUNDS.committee)} } in the file makes it larger (docs/design/council.md#sampling).\n`
      : ''
  return `Genesis     ${genesisHash}
File        ${file}
Network     ${network}, chain id ${params.chainId}, ${params.blockTimeMs / 1_000} s blocks
Validators
${members.join('\n')}
Funded accounts
${funded.join('\n')}
${helpers}${sampled}
Start a node with
  tandem start --network ${network} --genesis ${file} --datadir DIR --validator-key FILE
`
}
