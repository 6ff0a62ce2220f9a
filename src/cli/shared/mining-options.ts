import { InvalidArgumentError, Option } from 'commander'
import { MINING_LIMITS } from '../../config/limits/chain.ts'
import type { MiningOptions } from '../../node/options.ts'
import type { Hex } from '../../util/bytes.ts'
import { addressOption, integerOption } from './options.ts'

export interface MiningFlags {
  readonly mine: boolean
  readonly mineThreads: number
  readonly mineCoinbase?: Hex
  readonly mineDuty: number
}

export const dutyOption = (text: string): number => {
  const value = Number(text)
  if (!/^\d(\.\d+)?$/.test(text) || value <= 0 || value > 1)
    throw new InvalidArgumentError('It must be a share of the time, above 0 and at most 1: 0.5.')
  return value
}

/** Options of the built-in miner. */
export const miningOptions = (): readonly Option[] => [
  new Option('--mine', 'mine headers of the proof chain').default(false),
  new Option('--mine-threads <count>', 'threads of the miner')
    .argParser(integerOption(1, MINING_LIMITS.threads))
    .default(1),
  new Option('--mine-coinbase <address>', 'address that mined headers pay').argParser(addressOption),
  new Option('--mine-duty <share>', 'share of their time that the threads work').argParser(dutyOption).default(1),
]

/** `otherwise`: payee of a chain where it needs no choice. */
export const miningOf = (flags: MiningFlags, otherwise?: Hex): { readonly mining?: MiningOptions } => {
  if (!flags.mine) return {}
  const coinbase = flags.mineCoinbase ?? otherwise
  if (coinbase === undefined) throw new Error('--mine needs --mine-coinbase ADDRESS: the payee of mined headers.')
  return { mining: { coinbase, threads: flags.mineThreads, duty: flags.mineDuty } }
}
