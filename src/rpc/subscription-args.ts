import { parseLogCriteria } from './codecs/filter.ts'
import { parseBoolean } from './codecs/scalars.ts'
import { CODES, InvalidArgument, invalidArgument, RpcError } from './errors.ts'
import type { Subscription } from './subscriptions.ts'

/** What is subscribed to; the option's meaning depends on the kind. */
export const subscriptionFrom = (namespace: string, kind: string, option: unknown): Subscription => {
  switch (kind) {
    case 'newHeads':
    case 'syncing':
      return { kind }
    case 'newPendingTransactions':
      return { kind, full: option === undefined ? false : second(() => parseBoolean(option)) }
    case 'logs': {
      const { addresses, topics } =
        option === undefined ? { addresses: [], topics: [] } : second(() => parseLogCriteria(option))
      return { kind, criteria: { addresses, topics } }
    }
    default:
      throw new RpcError(CODES.methodNotFound, `no "${kind}" subscription in ${namespace} namespace`)
  }
}

const second = <T>(parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw error instanceof InvalidArgument ? invalidArgument(2, error.message) : error
  }
}
