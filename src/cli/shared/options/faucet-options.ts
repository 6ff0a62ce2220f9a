import { Option } from 'commander'
import { PUBLIC_FAUCET } from '../../../config/limits/faucet.ts'
import { integerOption } from './options.ts'

const NONE = 'no limit on development chains'

/** Options for the caps of a faucet; inside a node their names begin with `faucet-`. */
export const faucetCapOptions = (prefix: '' | 'faucet-'): readonly Option[] => [
  new Option(
    `--${prefix}daily-grants <count>`,
    `most grants of all clients in 24 hours, a twentieth of them in one /24 or /48, a quarter in one /16 or /32 (default: ${PUBLIC_FAUCET.dailyGrants}; ${NONE})`,
  ).argParser(integerOption(1, 1_000_000_000)),
  new Option(
    `--${prefix}client-grants <count>`,
    `most grants of one client (an IPv4 address or a /64) with a proof of work in 24 hours (default: ${PUBLIC_FAUCET.clientGrants}; ${NONE})`,
  ).argParser(integerOption(1, 1_000_000)),
]
