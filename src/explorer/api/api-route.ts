import type { Hex } from '@tandem/base/bytes.ts'
import type { NetworkParams } from '../../config/networks.ts'
import type { ChainSource } from '../chain/chain-source.ts'
import type { NodeRpc } from '../chain/node-rpc.ts'
import type { PriceService } from '../price/price-service.ts'
import type { IndexReader } from '../store/index-store.ts'
import type { Verification } from '../verification/verification.ts'
import type { ApiSchema } from './json-schema.ts'

/** Council member as reported by the node's main thread. */
export interface UnionMember {
  readonly name: string
  readonly validator: Hex
  readonly owner: Hex
  readonly reward: Hex
  readonly stakeWei: bigint
  readonly isActive: boolean
  /** undefined: not known. */
  readonly startBlock: number | undefined
}

/** Data that only the node's main thread has. */
export interface NodePort extends NodeRpc {
  /** Base fee of the head's child, wei. */
  gasPriceWei(): Promise<bigint>
  council(): Promise<readonly UnionMember[]>
  /** Of a block, in the order of its certificate's bitmap; undefined: not known. */
  committee(number: number): Promise<readonly Hex[] | undefined>
}

export interface ApiContext {
  readonly index: IndexReader
  readonly source: ChainSource
  readonly node: NodePort
  readonly verification: Verification
  readonly params: NetworkParams
  readonly foundation: Hex
  /** Sum of the genesis allocation, wei. */
  readonly genesisWei: bigint
  readonly price: PriceService
  readonly nowMs: () => number
}

interface ApiRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** Parsed JSON. */
  readonly body: unknown
  /** Client of the request, as limits count clients. */
  readonly client: string
}

/** Answer with another status than the route's own. */
export class StatusAnswer {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
  }
}

/** Caching of an answer: until the head moves, or for ever once its block is old enough. */
type CachePolicy = 'head' | 'block'

/** One endpoint, declared once: the server, its checks and the OpenAPI document follow from it. */
export interface ApiRoute {
  /** GET when left out. */
  readonly method?: 'GET' | 'POST'
  /** As fastify writes it: /api/blocks/:number. */
  readonly path: string
  readonly summary: string
  readonly params?: Readonly<Record<string, ApiSchema>>
  readonly query?: Readonly<Record<string, ApiSchema>>
  /** Of a POST. */
  readonly body?: ApiSchema
  readonly result: ApiSchema
  /** Status of a successful answer; 200 when left out. */
  readonly status?: number
  /** `head` when left out. */
  readonly caching?: CachePolicy
  /** Answers from the index, and so not before it has come near the head. */
  readonly needsIndex: boolean
  handler(context: ApiContext, request: ApiRequest): Promise<unknown>
}
