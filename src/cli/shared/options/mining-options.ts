import { isIP } from 'node:net'
import type { Hex } from '@tandem/base/bytes.ts'
import { InvalidArgumentError, Option } from 'commander'
import { MINING_LIMITS } from '../../../config/limits/chain.ts'
import type { MiningOptions, StratumOptions } from '../../../node/options.ts'
import { addressOption, integerOption } from './options.ts'

export interface MiningFlags {
  readonly mine: boolean
  readonly mineThreads: number
  readonly mineCoinbase?: Hex
  readonly mineDuty: number
  readonly stratum?: StratumOptions
}

export const dutyOption = (text: string): number => {
  const value = Number(text)
  if (!/^\d(\.\d+)?$/.test(text) || value <= 0 || value > 1)
    throw new InvalidArgumentError('It must be a share of the time, above 0 and at most 1: 0.5.')
  return value
}

const LOOPBACK = '127.0.0.1'

/** PORT or HOST:PORT, the loopback by default; an IPv6 address is in brackets. `least`: 0 where a free port may be taken. */
export const stratumAddress =
  (least: 0 | 1) =>
  (text: string): StratumOptions => {
    const [, bracketed, plain, digits] =
      /^(?:(?:\[([0-9a-fA-F:.]{2,45})\]|([\w.-]{1,253})):)?(\d{1,5})$/.exec(text) ?? []
    const port = Number(digits ?? -1)
    if (port < least || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6))
      throw new InvalidArgumentError('It must be PORT or HOST:PORT: 3333, 0.0.0.0:3333 or [::1]:3333.')
    return { host: bracketed ?? plain ?? LOOPBACK, port }
  }

/** Options of the built-in miner and of the server for other miners. */
export const miningOptions = (): readonly Option[] => [
  new Option('--mine', 'mine headers of the proof chain').default(false),
  new Option('--mine-threads <count>', 'threads of the miner')
    .argParser(integerOption(1, MINING_LIMITS.threads))
    .default(1),
  new Option('--mine-coinbase <address>', 'address that mined headers pay').argParser(addressOption),
  new Option('--mine-duty <share>', 'share of their time that the threads work').argParser(dutyOption).default(1),
  new Option(
    '--stratum <[host:]port>',
    'serve Stratum to miners at this address, on the loopback by default (off by default)',
  ).argParser(stratumAddress(0)),
]

/** `otherwise`: payee of a chain where it needs no choice. */
export const miningOf = (
  flags: MiningFlags,
  otherwise?: Hex,
): { readonly mining?: MiningOptions; readonly stratum?: StratumOptions } => {
  const stratum = flags.stratum && { stratum: flags.stratum }
  if (!flags.mine) return { ...stratum }
  const coinbase = flags.mineCoinbase ?? otherwise
  if (coinbase === undefined) throw new Error('--mine needs --mine-coinbase ADDRESS, which mined headers pay.')
  return { ...stratum, mining: { coinbase, threads: flags.mineThreads, duty: flags.mineDuty } }
}
