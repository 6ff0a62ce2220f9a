import type { CallBases } from '../chain/call-bases.ts'
import type { ChainRules } from '../chain/chain-rules.ts'
import type { ChainParams } from '../config/networks.ts'
import { type CallBase, createCallService, type SerializedEnv } from '../evm/calls/service.ts'
import type { CallService } from '../evm/calls/types.ts'
import type { EngineName } from '../evm/engines/select.ts'
import type { BlockEnv } from '../evm/env.ts'
import { type Hex, ZERO_HASH } from '../util/bytes.ts'
import type { Logger } from '../util/logger.ts'

export interface CallPartsOptions {
  readonly storePath: string
  readonly params: ChainParams
  readonly evm?: EngineName
  readonly rules: Pick<ChainRules, 'committedEnv'>
  readonly bases: CallBases
  readonly logger: Logger
  /** Moves when states that were readable before are others now (development chains). */
  readonly revision?: () => number
}

/** The call workers, told about blocks by the chain: a call sees the block it is made on, or the pending one. */
export const createCalls = ({
  revision,
  storePath,
  params,
  evm,
  rules,
  bases,
  logger,
}: CallPartsOptions): CallService => {
  let kept: { readonly hash: Hex; readonly env: SerializedEnv } | undefined

  const envFor = async (request: CallBase): Promise<SerializedEnv> => {
    const block = await bases.blockOf(request)
    // Most calls are made on the head: its environment is made once a block.
    if (kept?.hash !== block.hash) kept = { hash: block.hash, env: serialize(rules.committedEnv(block)) }
    return kept.env
  }
  return createCallService({
    storePath,
    params,
    ...(evm && { evm }),
    logger,
    envFor,
    ...(revision && { revision }),
    overlayFor: async request => (await bases.pendingOf(request)).changes,
  })
}

const serialize = (env: BlockEnv): SerializedEnv => {
  const recentHashes: Hex[] = []
  for (let number = env.number - 1; number >= Math.max(0, env.number - 256); number--)
    recentHashes.push(env.blockHash(number))
  // Functions and the params stay here.
  const { params, blockHash, stateRoot, ...data } = env
  return { ...data, recentHashes: recentHashes.filter(hash => hash !== ZERO_HASH) }
}
