import type { Hex } from '@tandem/base/bytes.ts'
import { InvalidArgumentError } from 'commander'
import { NETWORKS, type NetworkName } from '../../config/networks.ts'
import { promptLine, type Terminal } from '../shared/keys/prompt.ts'
import { addressOption, secondsOption } from '../shared/options/options.ts'
import { errorMessage } from '../shared/output.ts'
import type { GenesisFlags } from './flags.ts'
import { type Fund, fund, type ValidatorSpec, validatorSpec } from './specs.ts'
import { validatorAddress } from './validator-address.ts'

/** Inputs a genesis requires, and related settings. */
export interface GenesisAnswers {
  readonly network: NetworkName
  readonly validators: readonly ValidatorSpec[]
  /** undefined: the first validator, on a devnet. */
  readonly foundation: Hex | undefined
  readonly funds: readonly Fund[]
  readonly blockTime: number | undefined
}

/**
 * Completes the given options by questions. Nothing is asked when all required options are given, so that scripts never block;
 * without a terminal a missing option is an error that names it.
 */
export const askForRest = async (flags: GenesisFlags, terminal: Terminal): Promise<GenesisAnswers> => {
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
