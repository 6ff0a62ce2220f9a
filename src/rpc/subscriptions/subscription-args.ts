import { EVERY_LOG, packCriteria } from '../../chain/logs/log-criteria.ts'
import { parseLogCriteria } from '../codecs/filter.ts'
import { address, parseBoolean } from '../codecs/scalars.ts'
import { InvalidArgument, invalidArgument, noSubscription } from '../errors.ts'
import type { Subscription } from './subscription-hub.ts'

/** Decodes the arguments of a subscription; the meaning of the option depends on the kind. */
export const subscriptionFrom = (namespace: string, kind: string, option: unknown): Subscription => {
  switch (kind) {
    case 'newHeads':
    case 'syncing':
      return { kind }
    case 'newProofHeaders':
      if (namespace === 'native') return { kind }
      break
    case 'newWork':
      if (namespace === 'native')
        return { kind, coinbase: option === undefined ? undefined : second(() => address.parse(option)) }
      break
    case 'newPendingTransactions':
      return { kind, full: option === undefined ? false : second(() => parseBoolean(option)) }
    case 'logs':
      return { kind, criteria: option === undefined ? EVERY_LOG : packCriteria(second(() => parseLogCriteria(option))) }
  }
  throw noSubscription(namespace, kind)
}

const second = <T>(parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw error instanceof InvalidArgument ? invalidArgument(2, error.message) : error
  }
}
