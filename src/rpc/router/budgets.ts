import { type BudgetLimits, ClientBudget } from '@tandem/base/client-budget.ts'
import { FairPlaces } from '@tandem/base/fair-places.ts'
import { openFileLimit } from '@tandem/base/fs/open-files.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { limitExceeded, type RpcError } from '../errors.ts'

/**
 * Limits of connections where the process may have `openFiles` open: the database and the peers need some of them, and a write that finds
 * none left ends the node. A client has a quarter, as without such a limit.
 */
export const connectionLimits = (openFiles: number | undefined): BudgetLimits => {
  const { budgets, ownFiles } = RPC_LIMITS
  const { connections } = budgets
  if (openFiles === undefined) return connections
  const total = Math.min(connections.total, openFiles - Math.min(ownFiles, Math.ceil(openFiles / 2)))
  return { total, client: Math.min(connections.client, Math.ceil(total / 4)) }
}

/** Limits of WebSockets: at most half of the connections, so that requests over HTTP find places where few files may be open. */
export const socketLimits = (connections: number, perClient?: number): BudgetLimits => {
  const { sockets } = RPC_LIMITS.budgets
  const total = Math.min(sockets.total, Math.ceil(connections / 2))
  return { total, client: Math.min(perClient ?? sockets.client, total) }
}

/** Budgets of the memory and connections that clients of one server may hold. */
export type Budgets = ReturnType<typeof createBudgets>

/** Creates the budgets of a server. */
export const createBudgets = (socketsPerClient?: number) => {
  const { budgets } = RPC_LIMITS
  /** Ledger of the memory of all kinds of work together. */
  const memory = new ClientBudget(budgets.memory)
  const connections = connectionLimits(openFileLimit())
  return {
    memory,
    /** Bytes of requests being received or handled. */
    bodies: new ClientBudget(budgets.bodies, memory),
    /** Bytes of responses and notifications that their reader has not taken yet. */
    answers: new ClientBudget(budgets.answers, memory),
    /** Bytes of the criteria of filters and subscriptions, and of the subscriptions themselves. */
    criteria: new ClientBudget(budgets.criteria, memory),
    filters: new ClientBudget(budgets.filters),
    /** Connections, WebSockets among them. */
    connections: new FairPlaces(connections),
    sockets: new FairPlaces(socketLimits(connections.total, socketsPerClient)),
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
