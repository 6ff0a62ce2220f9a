import type { ChainView, PoolPort } from '../chain/types.ts'
import type { CallService } from '../evm/calls/types.ts'
import type { Budgets } from './budgets.ts'
import type { Filters } from './filters.ts'
import type { MethodTable, Requirement } from './method.ts'
import type {
  DevPort,
  EconomyPort,
  MiningPort,
  NodeInfo,
  PeersPort,
  ProofChainPort,
  SimulationPort,
  Wallet,
  WideLogs,
} from './ports.ts'
import type { Rendered } from './rendered.ts'
import type { ClientSlots } from './slots.ts'
import type { SocketSubscriptions } from './subscriptions.ts'
import type { TracePort } from './trace-port.ts'

/** The parts of the node behind the methods. */
export interface Services {
  readonly view: ChainView
  readonly pool: PoolPort
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
  readonly wideLogs?: WideLogs
}

/** Work that clients take turns at. */
export interface Slots {
  readonly traces: ClientSlots
  readonly proofs: ClientSlots
}

/** What a handler sees: the node, and the endpoint the request came in by. */
export interface Context extends Services {
  readonly filters: Filters
  readonly rendered: Rendered
  readonly budgets: Budgets
  readonly slots: Slots
  /** The methods of this endpoint. */
  readonly methods: MethodTable
  readonly namespaces: readonly string[]
  /** The connection's subscriptions; null over HTTP. */
  readonly socket: SocketSubscriptions | null
  /** Whom the request comes from (`clients.ts`). */
  readonly client: string
}

export const hasRequirement = (services: Services, requirement: Requirement | undefined): boolean =>
  requirement === undefined || services[requirement] !== undefined
