import type { ChainView, ClientPoolPort } from '../chain/types.ts'
import type { CallService } from '../evm/calls/types.ts'
import type { TracePort } from './methods/debug/trace-port.ts'
import type {
  DevPort,
  EconomyPort,
  LogQueryPort,
  MiningPort,
  NodeInfo,
  PeersPort,
  ProofChainPort,
  SimulationPort,
  Wallet,
} from './ports.ts'
import type { MethodTable, Requirement } from './router/method.ts'
import type { ResponseCache } from './router/response-cache.ts'
import type { FilterManager } from './subscriptions/filters.ts'
import type { SocketSubscriptions } from './subscriptions/subscription-hub.ts'
import type { Budgets } from './transport/budgets.ts'
import type { ClientSlots } from './transport/client-slots.ts'

/** The parts of the node behind the methods. */
export interface Services {
  readonly view: ChainView
  readonly pool: ClientPoolPort
  readonly calls: CallService
  readonly simulations: SimulationPort
  readonly wallet: Wallet
  readonly info: NodeInfo
  readonly economy?: EconomyPort
  readonly proofChain?: ProofChainPort
  readonly mining?: MiningPort
  readonly trace?: TracePort
  /** Given to the operator's port alone. */
  readonly peers?: PeersPort
  /** On a development chain. */
  readonly dev?: DevPort
  /** Log queries over ranges, off this thread. */
  readonly logQueryPort?: LogQueryPort
}

/** Work that clients take turns at. */
export interface Slots {
  readonly traces: ClientSlots
  readonly proofs: ClientSlots
}

/** What a handler sees: the node, and the endpoint the request came in by. */
export interface Context extends Services {
  readonly filters: FilterManager
  readonly responseCache: ResponseCache
  readonly budgets: Budgets
  readonly slots: Slots
  /** The methods of this endpoint. */
  readonly methods: MethodTable
  readonly namespaces: readonly string[]
  /** The connection's subscriptions; null over HTTP. */
  readonly socket: SocketSubscriptions | null
  /** Whom the request comes from (`transport/client-id.ts`). */
  readonly client: string
}

export const hasRequirement = (services: Services, requirement: Requirement | undefined): boolean =>
  requirement === undefined || services[requirement] !== undefined
