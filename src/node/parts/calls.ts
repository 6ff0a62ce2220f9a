import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { CallBlocks } from '../../chain/call-blocks.ts'
import type { Chain } from '../../chain/chain.ts'
import type { ChainRules } from '../../chain/store/rules-port.ts'
import type { ChainBlock } from '../../chain/store/types.ts'
import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { BlockEnv, SerializedEnv } from '../../evm/block-env.ts'
import { createCallService } from '../../evm/calls/call-service.ts'
import { createLocalCalls, type LocalState } from '../../evm/calls/local-calls.ts'
import type { CallRequest, CallService } from '../../evm/calls/types.ts'
import { type EngineName, loadEngine } from '../../evm/engines/select-engine.ts'
import type { WorldState } from '../../state/world/world-state.ts'
import type { Store } from '../../storage/store.ts'

export interface CallPartsOptions {
  readonly store: Pick<Store, 'share'>
  readonly params: ChainParams
  readonly engine: EngineName
  readonly rules: Pick<ChainRules, 'committedEnv'>
  readonly bases: CallBlocks
  readonly chain: Pick<Chain, 'headBlock'>
  readonly world: Pick<WorldState, 'head' | 'number'>
  readonly logger: Logger
  /** On a development chain: grows when states that were readable before have changed. */
  readonly revision?: () => number
}

/** Creates the call service and connects it to the chain: a call runs on its block's state, or the pending one. */
export const createCalls = (options: CallPartsOptions): CallService => {
  const { revision, store, params, engine: name, bases, logger } = options
  const envOf = environments(options)
  const workers = createCallService({
    store,
    params,
    engine: name,
    logger,
    envFor: async request => envOf(await bases.blockOf(request)).serialized(),
    ...(revision && { revision }),
    overlayFor: async request => (await bases.pendingOf(request)).changes,
  })
  const isDevelopment = revision !== undefined
  let engine: ReturnType<typeof loadEngine> | undefined
  return createLocalCalls({
    stateFor: request => localState(options, { revision: revision ?? (() => 0), envOf }, request),
    bound: isDevelopment ? CALL_LIMITS.local.developmentBound : CALL_LIMITS.local.bound,
    workers,
    engine: () => {
      engine ??= loadEngine(name)
      return engine
    },
  })
}

/** Returns the state of the head, or of the pending block on it. */
const localState = async (
  { bases, chain, world }: CallPartsOptions,
  { revision, envOf }: { readonly revision: () => number; readonly envOf: EnvOf },
  request: CallRequest,
): Promise<LocalState | undefined> => {
  const pending = request.pending ? await bases.pendingOf(request) : undefined
  const head = chain.headBlock
  const begun = revision()
  const isHead =
    pending === undefined ? request.number === head.header.number : pending.block.header.parentHash === head.hash
  // The state of a new block is available before its block is the head, within one turn.
  if (!isHead || world.number !== head.header.number) return undefined
  return {
    reader: pending?.state ?? world.head,
    env: envOf(pending?.block ?? head).env,
    stands: () => chain.headBlock === head && revision() === begun,
  }
}

interface KeptEnv {
  readonly hash: Hex
  readonly env: BlockEnv
  /** Returns the environment for other threads. */
  serialized(): SerializedEnv
}

type EnvOf = (block: ChainBlock) => KeptEnv

/** Caches the last environment, since most calls use one block. */
const environments = ({ rules }: CallPartsOptions): EnvOf => {
  let kept: KeptEnv | undefined
  return block => {
    if (kept?.hash === block.hash) return kept
    const env = rules.committedEnv(block)
    let serialized: SerializedEnv | undefined
    kept = {
      hash: block.hash,
      env,
      serialized: () => {
        serialized ??= serialize(env)
        return serialized
      },
    }
    return kept
  }
}

const serialize = (env: BlockEnv): SerializedEnv => {
  // Functions and params are not sent to threads.
  const { params, blockHash, stateRoot, ...data } = env
  return { ...data, hash: env.blockHash(env.number), parentHash: env.blockHash(env.number - 1) }
}
