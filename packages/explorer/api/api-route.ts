import type { Hex } from '@tandem/base/bytes.ts'
import type { NodeRpc } from '../chain/node-rpc.ts'
import type { ChainSource } from '../chain/rpc-chain.ts'
import type { ChainRules, TandemRules } from '../chain/rules.ts'
import type { PriceService } from '../price/price-service.ts'
import type { SqlReader } from '../store/sql/sql-reader.ts'
import type { Verification } from '../verification/verification.ts'
import { notFound } from './api-error.ts'
import type { ApiSchema } from './json-schema.ts'

/** Council member as reported by the node. */
export interface UnionMember {
  readonly name: string
  readonly validator: Hex
  readonly stakeWei: bigint
  readonly isActive: boolean
  /** undefined: not known. */
  readonly startBlock: number | undefined
}

/** Requests to the node besides its chain. */
export interface NodePort extends NodeRpc {
  /** Suggested price, wei. */
  gasPriceWei(): Promise<bigint>
  council(): Promise<readonly UnionMember[]>
  /** Committee of a block, by default of the next one; undefined: not known. */
  committee(number?: number): Promise<readonly Hex[] | undefined>
}

export interface ApiContext {
  readonly index: SqlReader
  readonly source: ChainSource
  readonly node: NodePort
  readonly verification: Verification
  readonly rules: ChainRules
  readonly price: PriceService
  readonly nowMs: () => number
}

/** Rules of council, rewards and proof chain. Throws NOT_FOUND on a chain without them. */
export const tandemOf = ({ rules }: Pick<ApiContext, 'rules'>): TandemRules => {
  if (rules.tandem === undefined)
    throw notFound('the node tells nothing of unions, mining, supply and internal transfers')
  return rules.tandem
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
  /** Schema of the body of a POST. */
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
