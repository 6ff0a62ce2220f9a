import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { nativeRules } from '../../chain/block/header-assembly.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import type { MiningService } from '../../powchain/mining/mining-service.ts'
import { createRpcService, type RpcService, type RpcServiceOptions } from '../../rpc/transport/service.ts'
import { createRefusalLog, logTransactions } from '../dev/terminal-log.ts'
import type { NodeOptions } from '../options.ts'
import { createMining } from '../parts/mining.ts'
import { nodeInfo, operatorAddress } from '../parts/operator-address.ts'
import { proofChainPort } from '../parts/proof-chain-port.ts'
import { createReads, type Reads } from '../parts/reads.ts'
import { createWallet } from '../parts/wallet.ts'
import type { CoreStage } from './core.ts'
import type { StorageStage } from './storage.ts'

/** JSON-RPC of the node, before any port is open. */
export interface ApiStage {
  readonly reads: Reads
  readonly mining: MiningService
  /** Options that all endpoints share. */
  readonly rpc: RpcServiceOptions
  /** Options of the public service. */
  readonly served: RpcServiceOptions
  /** Public service: of the public port, and of the own process. */
  readonly service: RpcService
}

/** Builds the service; its methods answer when the engine has started. */
export const createApi = async (storage: StorageStage, core: CoreStage): Promise<ApiStage> => {
  const { options, deps, teardown, part } = storage
  const reads = readsOf(storage, core)
  const rpc = rpcOf(storage, core, reads, await operatorAddress(options))
  const mining = miningOf(storage, core)
  if (core.dev && options.devnet?.isQuiet !== true)
    teardown.add(
      logTransactions({ chain: core.chain, reads, logger: part('devnet'), abiFolder: options.devnet?.abiFolder }),
    )
  const served = {
    ...rpc,
    // Public ports serve no mining jobs, whatever address they listen on; a development chain has only a public port.
    ...(options.genesis.params.devHelpers && { mining }),
    ...publicServiceOptions(storage, core),
    ...(core.dev && { onRefused: createRefusalLog(part('devnet'), deps.clock) }),
  }
  const service = createRpcService(served)
  teardown.add(() => service.close())
  return { reads, mining, rpc, served, service }
}

/** Proposer of the pending block: this node's validator, or none. */
const pendingProposer = ({ validatorKey }: NodeOptions) =>
  validatorKey ? addressFromPrivateKey(validatorKey) : ZERO_ADDRESS

const readsOf = ({ options, deps, teardown, part, memory, opened, sources }: StorageStage, core: CoreStage): Reads => {
  const { executor, pool, chain, dev } = core
  return createReads(
    {
      memory,
      execution: options.execution,
      params: options.genesis.params,
      genesisHash: opened.genesisHash,
      foundation: options.genesis.foundation,
      store: opened.store,
      blocks: opened.blocks,
      world: opened.world,
      rules: nativeRules(sources),
      chain,
      council: sources.council,
      executor,
      pool,
      coinbase: pendingProposer(options),
      clock: deps.clock,
      part,
      dev: dev?.reads,
      syncing: core.syncing,
    },
    teardown,
  )
}

const miningOf = ({ options, deps, teardown, part, opened, observer }: StorageStage, { chain }: CoreStage) => {
  const { proofPool } = opened
  const { params } = options.genesis
  const parts = { params, proofPool, chain, options: options.mining, clock: deps.clock }
  return createMining({ ...parts, logger: part('powchain'), metrics: observer?.metrics }, teardown)
}

/** Wallet of unlocked keys, and of the accounts that a development chain impersonates. */
export const walletOf = ({ dev }: CoreStage, unlocked: NodeOptions['unlocked']) =>
  createWallet(unlocked, dev && (account => dev.helpers.impersonation.includes(account)))

/** Options shared by all endpoints. */
const rpcOf = (
  { options, part, opened }: StorageStage,
  core: CoreStage,
  reads: Reads,
  coinbase: Hex,
): RpcServiceOptions => {
  const { pool, peers, dev } = core
  const { params } = options.genesis
  return {
    ...reads,
    pool: dev?.pool ?? pool.service,
    ...(dev && { dev: dev.helpers }),
    economy: opened.economy,
    proofChain: proofChainPort({ ...opened, params }),
    wallet: walletOf(core, options.unlocked),
    info: nodeInfo(coinbase, options.clientName, peers?.network),
    log: part('rpc'),
  }
}

const publicServiceOptions = ({ options, observer }: StorageStage, core: CoreStage) => {
  const { namespaces, disabledMethods, publicPort: { socketsPerClient } = {}, publicSigning = false } = options
  return {
    // On the loopback too: a proxy on this machine forwards calls of any client.
    ...(!publicSigning && { wallet: walletOf(core, []) }),
    ...(observer && { metrics: observer.metrics }),
    ...(namespaces && { namespaces }),
    ...(disabledMethods && { disabledMethods }),
    ...(socketsPerClient !== undefined && { socketsPerClient }),
  }
}
