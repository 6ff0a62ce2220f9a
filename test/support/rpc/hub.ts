import type { Hex } from '@tandem/base/bytes.ts'
import type { ChainView } from '../../../src/chain/store/types.ts'
import type { LogFilterArgs } from '../../../src/rpc/codecs/filter.ts'
import { type Budgets, createBudgets } from '../../../src/rpc/router/budgets.ts'
import { FilterManager } from '../../../src/rpc/subscriptions/filters.ts'
import { SharedCriteria } from '../../../src/rpc/subscriptions/shared-criteria.ts'
import { SubscriptionHub } from '../../../src/rpc/subscriptions/subscription-hub.ts'
import type { ClientPoolPort } from '../../../src/txpool/pool-service.ts'

interface Parts {
  readonly view: ChainView
  readonly pool: ClientPoolPort
  readonly budgets?: Budgets
  readonly criteria?: SharedCriteria
  readonly nowMs?: () => number
}

const CLIENT = '192.0.2.1'

/** Filters of one client, unless another is named, that find logs in the chain's view. */
export const filtersOn = ({ budgets = createBudgets(), criteria = new SharedCriteria(), ...parts }: Parts) => {
  const filters = new FilterManager({ ...parts, budgets, criteria })
  return {
    newLogFilter: (wanted: LogFilterArgs, client = CLIENT) => filters.newLogFilter(wanted, client),
    newBlockFilter: (client = CLIENT) => filters.newBlockFilter(client),
    newPendingFilter: (client = CLIENT) => filters.newPendingFilter(client),
    changes: (id: Hex) => filters.changes(id, query => parts.view.logs(query)),
    uninstall: (id: Hex) => filters.uninstall(id),
    close: () => filters.close(),
    get size() {
      return filters.size
    },
    get heldHashes() {
      return filters.heldHashes
    },
  }
}

interface HubParts extends Omit<Parts, 'nowMs'> {
  readonly pauseIfDue?: (client: string) => Promise<void> | undefined
}

/** Subscriptions of one client, unless another is named; notifications go at once, however slow the machine, unless they are to pause. */
export const hubOn = (parts: HubParts) => {
  const { budgets = createBudgets(), criteria = new SharedCriteria(), pauseIfDue = () => undefined, view, pool } = parts
  const hub = new SubscriptionHub({ view, pool, budgets, criteria, pauseIfDue })
  return {
    open: (
      send: (frame: Buffer) => void,
      client = CLIENT,
      drop: (reason: string) => void = () => {},
      drained: () => Promise<void> | undefined = () => undefined,
    ) => hub.open({ send, drained, drop }, client),
    close: () => hub.close(),
    get size() {
      return hub.size
    },
  }
}
