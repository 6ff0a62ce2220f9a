import type { Hex } from '@tandem/base/bytes.ts'
import { LOG_LEVELS } from '@tandem/base/logger.ts'
import { InvalidArgumentError, Option } from 'commander'
import { DEVNET_LIMITS } from '../../../config/limits/commands.ts'
import { MEMORY_LIMITS } from '../../../config/limits/storage.ts'
import { NAMESPACES, type Namespace } from '../../../config/networks.ts'
import { GENESIS_BOUNDS } from '../../../config/protocol-bounds.ts'
import { checksumAddress } from '../../../crypto/checksum.ts'
import { EXECUTION_MODES, type ExecutionMode } from '../../../evm/executor-types.ts'
import { type ExplorerFiles, explorerFileOptions } from './explorer-files.ts'

/** Parsers whose errors name the expected value; commander adds the option's name. */
export const integerOption =
  (minimum: number, maximum: number) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`)
    }
    return value
  }

/** Parser of an option that is given several times: by its two parameters it is known as one (option-sources.ts). */
export const collectOption =
  <T>(parse: (text: string) => T) =>
  (text: string, before: readonly T[] | undefined): readonly T[] => [...(before ?? []), parse(text)]

export const chainIdOption = (description: string): Option =>
  new Option('--chain-id <number>', description).argParser(integerOption(1, GENESIS_BOUNDS.chainId))

export const trustMissingLogOption = (): Option =>
  new Option(
    '--trust-missing-log',
    'vote although the consensus log is missing or damaged: only when no other node saw a vote that was in it',
  ).default(false)

export const portOption = integerOption(0, 65_535)

/** A port, or `off`. */
export const portOrOffOption = (text: string): number | 'off' => (text === 'off' ? text : portOption(text))

export const secondsOption = (text: string): number => {
  const value = Number(text)
  const { least, most } = DEVNET_LIMITS.blockSeconds
  if (!/^\d+(\.\d+)?$/.test(text) || value > most) {
    throw new InvalidArgumentError(
      `It must be seconds from 0 to ${most}; fractions are allowed, 0 makes a block per transaction.`,
    )
  }
  if (value !== 0 && value < least)
    throw new InvalidArgumentError(`The shortest block time is ${least} s; 0 makes a block per transaction.`)
  return value
}

export const tokensOption = (text: string): bigint => {
  const match = /^(\d{1,18})(?:\.(\d{1,18}))?$/.exec(text)
  if (!match) throw new InvalidArgumentError('It must be a decimal number of tokens, for example 10000 or 0.5.')
  return BigInt(match[1] as string) * 10n ** 18n + BigInt((match[2] ?? '').padEnd(18, '0'))
}

/** Parses an address to lower case; one in mixed case must have the checksum of EIP-55. */
export const addressOption = (text: string): Hex => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError('An address is 0x and 40 hex digits.')
  const lower = text.toLowerCase() as Hex
  const mixed = text !== lower && text.slice(2) !== text.slice(2).toUpperCase()
  if (mixed && text !== checksumAddress(lower))
    throw new InvalidArgumentError('Its checksum (EIP-55) is wrong: a digit differs, or write it in lower case.')
  return lower
}

/** Parses "now", a number, or an ISO 8601 date (a time of day with its zone) to unix seconds. */
export const timestampOption = (text: string): number => {
  const seconds = text === 'now' ? Date.now() / 1_000 : /^\d{1,12}$/.test(text) ? Number(text) : secondsOfDate(text)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.floor(seconds)
  throw new InvalidArgumentError('It must be "now", unix seconds, or a date such as 2027-01-01T00:00:00Z.')
}

/** Returns NaN for any other text: Date.parse makes a date of "-1" and of February 30, and takes a time without a zone for local. */
const secondsOfDate = (text: string): number => {
  const day = DATE.exec(text)?.[1]
  if (day === undefined) return Number.NaN
  const midnight = new Date(`${day}T00:00:00Z`)
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  return isDay ? Date.parse(text) / 1_000 : Number.NaN
}
const DATE = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/

/** Parser of a number of blocks, or the word for all of them. */
export const blocksOr =
  <All extends string>(all: All) =>
  (text: string): number | All =>
    text === all ? all : integerOption(1, 1_000_000_000)(text)

export const listOption = (text: string): readonly string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item.length > 0)

/** As browsers name an origin: their extensions have schemes of their own, and a page without one is "null". */
const ORIGIN = /^(\*|null|localhost|[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+)$/i

export const originsOption = (text: string): readonly string[] => {
  const origins = listOption(text)
  const wrong = origins.find(origin => !ORIGIN.test(origin))
  if (wrong === undefined) return origins
  throw new InvalidArgumentError(
    `"${wrong}" is no origin: give SCHEME://HOST[:PORT], for example https://app.example, "localhost", or "*".`,
  )
}

export const namespacesOption = (text: string): readonly Namespace[] => {
  const names = listOption(text)
  const unknown = names.find(name => !(NAMESPACES as readonly string[]).includes(name))
  if (unknown === undefined && names.length > 0) return names as readonly Namespace[]
  const problem = unknown === undefined ? 'Name at least one.' : `"${unknown}" is no namespace.`
  throw new InvalidArgumentError(`${problem} There are ${NAMESPACES.join(', ')}.`)
}

export const httpUrlOption =
  (example: string) =>
  (text: string): string => {
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
    throw new InvalidArgumentError(`It must be an http or https URL: ${example}.`)
  }

export const executionOption = (): Option =>
  new Option(
    '--execution <engine>',
    'what runs code: our engine in WebAssembly, EthereumJS (slow), or both over every block with their results compared (shadow, a development tool)',
  )
    .choices([...EXECUTION_MODES])
    .default('wasm')

export interface OutputFlags {
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly json: boolean
}

/** Options of a command that serves until it is stopped. */
export const outputOptions = (): readonly Option[] => [
  new Option('--log-level <level>', 'log level').choices([...LOG_LEVELS]).default('info'),
  new Option('--json', 'one JSON ready line, then JSON logs, for machines').default(false),
]

/** Options of every command that runs a node. */
export const nodeOptions = (): readonly Option[] => [
  new Option('--host <address>', 'address to listen on').default('127.0.0.1'),
  new Option('--port <number>', 'port of HTTP and WebSocket; 0 picks a free one').argParser(portOption).default(8545),
  executionOption(),
  new Option('--state-history <blocks>', 'number of blocks whose old state can be queried; "archive" keeps all')
    .argParser(blocksOr('archive'))
    .default(128),
  new Option(
    '--memory <mib>',
    'memory in MiB that the node aims at, mapped files aside: caches take what the program leaves; days of full blocks take a fifth more',
  )
    .argParser(integerOption(MEMORY_LIMITS.leastMib, MEMORY_LIMITS.mostMib))
    .default(MEMORY_LIMITS.mib),
  new Option(
    '--metrics-port <number>',
    'serve Prometheus metrics on this port; 0 picks a free one (off by default)',
  ).argParser(portOption),
  new Option('--metrics-host <address>', 'address of the metrics').default('127.0.0.1'),
  new Option(
    '--cors <origins>',
    'comma-separated origins a browser page may call from; "localhost" is every page of this machine (the default of devnet and localnet), "*" any',
  ).argParser(originsOption),
  new Option('--allow-hosts <names>', 'comma-separated Host names served besides IP addresses and localhost').argParser(
    listOption,
  ),
  new Option('--rate-limit <per-second>', 'requests per second and client address (off by default)').argParser(
    integerOption(1, 1_000_000),
  ),
  ...explorerFileOptions(),
  new Option('--allow-unprotected-txs', 'accept legacy transactions without replay protection (pre EIP-155)').default(
    false,
  ),
  ...outputOptions(),
]

export interface NodeFlags extends ExplorerFiles, OutputFlags {
  readonly host: string
  readonly port: number
  readonly execution: ExecutionMode
  readonly stateHistory: number | 'archive'
  readonly memory: number
  readonly metricsPort?: number
  readonly metricsHost?: string
  readonly cors?: readonly string[]
  readonly allowHosts?: readonly string[]
  readonly rateLimit?: number
  readonly allowUnprotectedTxs: boolean
}
