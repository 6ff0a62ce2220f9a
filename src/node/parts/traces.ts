import type { Logger } from '@tandem/base/logger.ts'
import type { ChainRules } from '../../chain/store/rules-port.ts'
import { TraceService } from '../../chain/trace/trace-service.ts'
import type { TraceBlock } from '../../chain/trace/worker-protocol.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { EngineName } from '../../evm/engines/select-engine.ts'
import type { TracedBlock, TracePort } from '../../rpc/trace-port.ts'
import type { Store } from '../../storage/store.ts'

interface TracePartsOptions {
  readonly store: Pick<Store, 'share'>
  readonly params: ChainParams
  readonly engine: EngineName
  readonly rules: Pick<ChainRules, 'committedEnv'>
  readonly logger: Logger
}

/** Creates the trace service, which gets the environment of each block's transactions. */
export const createTraces = ({
  store,
  params,
  engine,
  rules,
  logger,
}: TracePartsOptions): TracePort & { close(): Promise<void> } => {
  const service = new TraceService({ store, params, engine, logger })
  const describe = (block: TracedBlock): TraceBlock => {
    // Functions cannot cross threads, and the worker has the params.
    const { params: _, blockHash, stateRoot, ...env } = rules.committedEnv(block)
    return { number: block.header.number, hash: block.hash, env }
  }
  return {
    transaction: (block, index, config) =>
      service.trace({ kind: 'transaction', block: describe(block), index, config }),
    block: (block, config) => service.trace({ kind: 'block', block: describe(block), config }),
    call: (block, call, after, config) => service.trace({ kind: 'call', block: describe(block), call, after, config }),
    storageRange: (block, range) => service.trace({ kind: 'storageRange', block: describe(block), ...range }),
    accountRange: ({ header, hash }, range) =>
      service.trace({
        kind: 'accountRange',
        block: { number: header.number, hash },
        stateRoot: header.stateRoot,
        ...range,
      }),
    modifiedAccounts: (blocks, credited) =>
      service.trace({ kind: 'modifiedAccounts', blocks: blocks.map(describe), credited }),
    close: () => service.close(),
  }
}
