import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../../crypto/checksum.ts'

/** Payee and name of a worker. */
export interface StratumLogin {
  readonly coinbase: Hex
  /** Payee and worker, as they stand in accounts and logs. */
  readonly worker: string
}

const LOGIN = /^((?:0x)?[0-9a-fA-F]{40})(?:[./]([\w-]{1,32}))?$/

/** Parses `address[.worker]`; answers the reason of a refusal. */
export const parseLogin = (user: unknown, name?: string): StratumLogin | string => {
  const [, digits, suffix] = (typeof user === 'string' && LOGIN.exec(user)) || []
  if (digits === undefined)
    return 'the user is ADDRESS or ADDRESS.WORKER: 0x and 40 hex digits, then letters and digits'
  const given: Hex = `0x${digits.replace(/^0x/, '')}`
  const coinbase = given.toLowerCase() as Hex
  if (coinbase === ZERO_ADDRESS) return 'the zero address can be paid by nobody: name your own'
  const isMixed = given !== coinbase && given.slice(2) !== given.slice(2).toUpperCase()
  if (isMixed && checksumAddress(coinbase) !== given)
    return 'the checksum of the address (EIP-55) is wrong: a digit differs, or write it in lower case'
  const worker = suffix ?? (name !== undefined && /^[\w-]{1,32}$/.test(name) ? name : 'default')
  return { coinbase, worker: `${coinbase}.${worker}` }
}
