import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { ChainView } from '../../chain/store/types.ts'
import type { CallService } from '../../evm/calls/types.ts'
import type { ClientPoolPort } from '../../txpool/pool-service.ts'
import type {
  DevPort,
  EconomyPort,
  LogQueryPort,
  MiningPort,
  NodeInfo,
  PeersPort,
  ProofChainPort,
  SimulationPort,
  TracePort,
  Wallet,
} from '../ports.ts'
import type { FilterManager } from '../subscriptions/filters.ts'
import type { SocketSubscriptions } from '../subscriptions/subscription-hub.ts'
import type { Budgets } from './budgets.ts'
import type { Arrival, CallOrder } from './call-order.ts'
import type { MethodDescriptions, Requirement } from './method-description.ts'
import type { ResponseCache } from './response-cache.ts'

/** Parts of the node that the methods use. */
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
  /** Present on the operator port only. */
  readonly peers?: PeersPort
  /** Present on development chains only. */
  readonly dev?: DevPort
  /** Log queries over ranges, executed in another thread. */
  readonly logQueryPort?: LogQueryPort
}

/** Context of a handler: the parts of the node and the endpoint of the request. */
export interface Context extends Services {
  readonly filters: FilterManager
  readonly responseCache: ResponseCache
  readonly budgets: Budgets
  /** Methods served by this endpoint. */
  readonly methods: MethodDescriptions
  readonly namespaces: readonly string[]
  /** Subscriptions of the connection; null over HTTP. */
  readonly socket: SocketSubscriptions | null
  /** Client id of the requester (`transport/clients/clients.ts`). */
  readonly client: string
  /** Cancellation of the connection, or of the batch: work for it ends with it. */
  readonly cancellation?: Cancellation
  /** Order of the calls of a connection or a batch; omitted where the next call comes after the response to this one. */
  readonly order?: CallOrder | undefined
  /** Place in that order of a message that was not read at once; its calls take no place of their own. */
  readonly arrival?: Arrival
}

export const hasRequirement = (services: Services, requirement: Requirement | undefined): boolean =>
  requirement === undefined || services[requirement] !== undefined
