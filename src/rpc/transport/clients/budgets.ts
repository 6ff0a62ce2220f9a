import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { limitExceeded, type RpcError } from '../../errors.ts'
import { ClientBudget } from './client-budget.ts'

/** Budgets of the memory and connections that clients of one server may hold. */
export interface Budgets {
  /** Ledger of the memory of all kinds of work together. */
  readonly memory: ClientBudget
  /** Bytes of requests being received or handled. */
  readonly bodies: ClientBudget
  /** Bytes of responses and notifications that their reader has not taken yet. */
  readonly answers: ClientBudget
  /** Bytes of the criteria of filters and subscriptions, and of the subscriptions themselves. */
  readonly criteria: ClientBudget
  readonly filters: ClientBudget
  readonly connections: ClientBudget
  readonly sockets: ClientBudget
}

export const createBudgets = (socketsPerClient?: number): Budgets => {
  const { memory, bodies, answers, criteria, filters, connections, sockets } = RPC_LIMITS.budgets
  const ledger = new ClientBudget(memory)
  return {
    memory: ledger,
    bodies: new ClientBudget(bodies, ledger),
    answers: new ClientBudget(answers, ledger),
    criteria: new ClientBudget(criteria, ledger),
    filters: new ClientBudget(filters),
    connections: new ClientBudget(connections),
    sockets: new ClientBudget({ ...sockets, client: socketsPerClient ?? sockets.client }),
  }
}

/** Sent to a client, also as the reason of a close, when the request budget is exhausted. */
export const BODIES_FULL = 'too many bytes of requests are under way, try again later'
/** Sent when the response budget is exhausted. */
export const ANSWERS_FULL = 'too many bytes of answers wait to be read: read them, or ask for less at once'

export const answersFull = (): RpcError => limitExceeded(ANSWERS_FULL)

export const criteriaFull = (client: string, more: number, budget: ClientBudget): RpcError =>
  limitExceeded(
    budget.isClientFull(client, more)
      ? `your filters and subscriptions hold more than ${budget.limits.client} bytes: end some, or name fewer addresses and topics`
      : 'the filters and subscriptions of all clients hold too much, try again later',
  )

export const filtersFull = (client: string, budget: ClientBudget): RpcError =>
  limitExceeded(
    budget.isClientFull(client, 1)
      ? `too many filters, at most ${budget.limits.client} of one client: uninstall some, or use eth_getLogs`
      : `too many filters, at most ${budget.limits.total} of all clients, try again later`,
  )
