import { resolve } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { InvalidArgumentError } from 'commander'
import { parseGenesis } from '../../config/genesis/genesis.ts'
import { type GenesisMember, type GenesisSettings, genesisText } from '../../config/genesis/genesis-text.ts'
import { NETWORKS, type NetworkName, type NetworkParams } from '../../config/networks.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { genesisHashFromFile } from '../../node/genesis/genesis-hash.ts'
import { toleratedFaults } from '../../rules/council/quorum.ts'
import { processTerminal, promptLine, type Terminal } from '../shared/keys/prompt.ts'
import { addressOfKeyFile } from '../shared/keys/read-key.ts'
import { addressOption, secondsOption } from '../shared/options/options.ts'
import { errorMessage, formatTokens } from '../shared/output.ts'
import { type Fund, fund, type ValidatorSpec, validatorSpec } from './specs.ts'

/** Parsed options of `tandem genesis new`. */
export interface GenesisFlags {
  readonly network?: NetworkName
  readonly chainId?: number
  readonly validator?: readonly ValidatorSpec[]
  readonly foundation?: Hex
  readonly fund?: readonly Fund[]
  readonly blockTime?: number
  readonly timestamp: number
  readonly out: string
  readonly json: boolean
}

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
      ? `\n${council.length} validators are more than a committee of ${params.committeeSize}: each cycle draws a sample. With more than ${toleratedFaults(council.length, params.committeeSize)} faulty or offline validators it has\nmore than f of them by chance. "params": { "committeeSize": ${Math.min(council.length, CONSENSUS_BOUNDS.committee)} } in the file makes it larger (docs/design/council.md#sampling).\n`
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

/** Inputs a genesis requires, and related settings. */
interface GenesisAnswers {
  readonly network: NetworkName
  readonly validators: readonly ValidatorSpec[]
  /** undefined: the first validator, on a devnet. */
  readonly foundation: Hex | undefined
  readonly funds: readonly Fund[]
  readonly blockTime: number | undefined
}

/** Completes options by questions, if a required one is missing; without a terminal that is an error, so scripts never block. */
const askForRest = async (flags: GenesisFlags, terminal: Terminal): Promise<GenesisAnswers> => {
  const given = {
    network: flags.network,
    validators: flags.validator ?? [],
    foundation: flags.foundation,
    funds: flags.fund ?? [],
    blockTime: flags.blockTime,
  }
  const missing = missingOf(given)
  if (missing.length === 0) return given as GenesisAnswers
  if (terminal.input.isTTY !== true)
    throw new Error(`Give ${missing.join(' and ')}, or run this on a terminal for a prompt.`)
  return interview(given, terminal)
}

type Given = Omit<GenesisAnswers, 'network'> & { readonly network: NetworkName | undefined }

const missingOf = ({ network, validators, foundation }: Given): readonly string[] => [
  ...(network === undefined ? ['--network NAME'] : []),
  ...(validators.length === 0 ? ['--validator ADDRESS-OR-KEY-FILE (once for each)'] : []),
  // The operator of a public network must choose the address that receives a fifth of its money.
  ...(foundation === undefined && network !== undefined && NETWORKS[network].needsGenesisFile
    ? ['--foundation ADDRESS']
    : []),
]

const interview = async (given: Given, terminal: Terminal): Promise<GenesisAnswers> => {
  const question = <T>(text: string, parse: (answer: string) => T) => askUntil(text, parse, terminal)
  const network = given.network ?? (await question(`Network (${Object.keys(NETWORKS).join(', ')}): `, networkName))
  const { blockTimeMs, needsGenesisFile } = NETWORKS[network]
  const blockTime =
    given.blockTime ?? (await question(`Seconds between blocks [${blockTimeMs / 1_000}]: `, orNothing(secondsOption)))
  const validators =
    given.validators.length > 0
      ? given.validators
      : await askList(
          'Validator, as ADDRESS-OR-KEY-FILE[,name=TEXT][,stake=TOKENS][,reward=ADDRESS][,owner=ADDRESS]',
          readableValidator,
          1,
          terminal,
        )
  const foundation =
    given.foundation ??
    (needsGenesisFile
      ? await question('Foundation, address: ', addressOption)
      : await question('Foundation, address [the first validator]: ', orNothing(addressOption)))
  const funds =
    given.funds.length > 0 ? given.funds : await askList('Account with tokens, as ADDRESS=TOKENS', fund, 0, terminal)
  return { network, validators, foundation, funds, blockTime }
}

/** An unreadable key file is reported before the next question. */
const readableValidator = (text: string): ValidatorSpec => {
  const spec = validatorSpec(text)
  return { ...spec, key: validatorAddress(spec.key) }
}

const networkName = (text: string): NetworkName => {
  if (Object.hasOwn(NETWORKS, text)) return text as NetworkName
  throw new InvalidArgumentError(`It is one of ${Object.keys(NETWORKS).join(', ')}.`)
}

const orNothing =
  <T>(parse: (text: string) => T) =>
  (text: string): T | undefined =>
    text === '' ? undefined : parse(text)

/** Asks until an empty answer, at least `least` times. */
const askList = async <T>(
  what: string,
  parse: (text: string) => T,
  least: number,
  terminal: Terminal,
): Promise<readonly T[]> => {
  const items: T[] = []
  for (;;) {
    const done = items.length >= least
    const text = `${what}${done ? ' (empty: no more)' : ''}: `
    const item = await askUntil(text, answer => (answer === '' && done ? undefined : parse(answer)), terminal)
    if (item === undefined) return items
    items.push(item)
  }
}

/** Asks again after an invalid answer. */
const askUntil = async <T>(text: string, parse: (answer: string) => T, terminal: Terminal): Promise<T> => {
  for (;;) {
    const answer = await promptLine(text, terminal)
    try {
      return parse(answer)
    } catch (error) {
      terminal.output.write(`${errorMessage(error)}\n`)
    }
  }
}

/** Returns the address of a validator given by address or by key file. */
const validatorAddress = (key: string): Hex => (isAddress(key) ? key : addressOfKeyFile(key, '--validator'))

const isAddress = (key: string): key is Hex => /^0x[0-9a-f]{40}$/.test(key)
