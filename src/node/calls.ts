import type { BlockStore } from '../chain/block-store.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainRules } from '../chain/chain-rules.ts'
import type { Pending, PendingState } from '../chain/pending.ts'
import type { ChainParams } from '../config/networks.ts'
import { createCallService, type SerializedEnv } from '../evm/call-service.ts'
import type { CallRequest, CallService } from '../evm/call-types.ts'
import type { BlockEnv } from '../evm/env.ts'
import { assert } from '../util/assert.ts'
import { type Hex, ZERO_HASH } from '../util/bytes.ts'
import type { Logger } from '../util/logger.ts'

export interface CallPartsOptions {
  readonly storePath: string
  readonly params: ChainParams
  readonly rules: Pick<ChainRules, 'committedEnv'>
  readonly blocks: BlockStore
  readonly chain: Pick<Chain, 'headBlock'>
  readonly pending: Pick<Pending, 'state'>
  readonly logger: Logger
}

/** The call workers, told about blocks by the chain: a call sees the block it is made on, or the pending one. */
export const createCalls = (options: CallPartsOptions): CallService => {
  const { storePath, params, rules, blocks, chain, pending, logger } = options
  /** One call takes environment and changes from one pending block, though the next may exist before it has both. */
  const pendingOf = new WeakMap<CallRequest, Promise<PendingState>>()
  const pendingFor = (request: CallRequest): Promise<PendingState> => {
    const found = pendingOf.get(request) ?? pending.state()
    pendingOf.set(request, found)
    return found
  }
  let kept: { readonly hash: Hex; readonly env: SerializedEnv } | undefined

  const envFor = async (request: CallRequest): Promise<SerializedEnv> => {
    const { number } = request
    const head = chain.headBlock
    const block = request.pending
      ? (await pendingFor(request)).block
      : number === head.header.number
        ? head
        : await blocks.block(number)
    assert(block, 'a call is made on a block that exists')
    // Most calls are made on the head: its environment is made once a block.
    if (kept?.hash !== block.hash) kept = { hash: block.hash, env: serialize(rules.committedEnv(block)) }
    return kept.env
  }
  return createCallService({
    storePath,
    params,
    logger,
    envFor,
    overlayFor: async request => (await pendingFor(request)).changes,
  })
}

const serialize = (env: BlockEnv): SerializedEnv => {
  const recentHashes: Hex[] = []
  for (let number = env.number - 1; number >= Math.max(0, env.number - 256); number--)
    recentHashes.push(env.blockHash(number))
  const { number, timestamp, gasLimit, baseFeePerGas, miner, proposerReward, foundation, prevRandao } = env
  return {
    number,
    timestamp,
    gasLimit,
    baseFeePerGas,
    miner,
    proposerReward,
    foundation,
    prevRandao,
    recentHashes: recentHashes.filter(hash => hash !== ZERO_HASH),
  }
}
