import { randomBytes } from 'node:crypto'
import { bytesToHex, type Hex, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import { nativeRules } from '../../chain/block/header-assembly.ts'
import { requireHistory } from '../../chain/store/earliest-block.ts'
import type { ChainParams } from '../../config/networks.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import { Miner, type WorkSource } from '../../powchain/mining/miner.ts'
import { MiningService } from '../../powchain/mining/mining-service.ts'
import { type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import type { ProofChainPort, ProofHeaderInfo } from '../../rpc/ports.ts'
import { createRpcService, type RpcServiceOptions } from '../../rpc/transport/service.ts'
import { proofAlgorithmAt } from '../../rules/proof/proof-target.ts'
import { createRefusalLog, logTransactions } from '../dev/terminal-log.ts'
import type { NodeOptions } from '../options.ts'
import { nodeInfo, operatorAddress } from '../parts/operator-address.ts'
import { createReads, type Reads } from '../parts/reads.ts'
import { createWallet } from '../parts/wallet.ts'
import type { CoreStage } from './core.ts'
import type { StorageStage } from './storage.ts'

/** JSON-RPC of the node, before any port is open. */
export type ApiStage = Awaited<ReturnType<typeof createApi>>

/** Builds the service; its methods answer when the engine has started. */
export const createApi = async (storage: StorageStage, core: CoreStage) => {
  const { options, deps, teardown, part } = storage
  const reads = readsOf(storage, core)
  const rpc = rpcOf(storage, core, reads, await operatorAddress(options))
  const mining = createMining(storage, core)
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

const readsOf = ({ options, deps, teardown, part, memory, opened, sources }: StorageStage, core: CoreStage): Reads => {
  const { executor, pool, chain, dev } = core
  return createReads(
    {
      ...opened,
      memory,
      execution: options.execution,
      history: options.history,
      segments: options.segments,
      params: options.genesis.params,
      foundation: options.genesis.foundation,
      rules: nativeRules(sources),
      chain,
      council: sources.council,
      executor,
      pool,
      // Proposer of the pending block: this node's validator, or none.
      coinbase: options.validatorKey ? addressFromPrivateKey(options.validatorKey) : ZERO_ADDRESS,
      clock: deps.clock,
      part,
      dev: dev?.reads,
      syncing: core.syncing,
    },
    teardown,
  )
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
  return {
    ...reads,
    pool: dev?.pool ?? pool.service,
    ...(dev && { dev: dev.helpers }),
    economy: opened.economy,
    proofChain: proofChainPort(opened, options.genesis.params),
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
    ...defined({ metrics: observer?.metrics, namespaces, disabledMethods, socketsPerClient }),
  }
}

/** Bytes that tell apart the work of two nodes with one coinbase. */
const EXTRA_NONCE_BYTES = 4

/** Work for outside miners, and the built-in miner where the operator wants one. */
const createMining = (
  { options: { genesis, mining }, deps, teardown, part, opened: { proofPool: pool }, observer }: StorageStage,
  { chain }: CoreStage,
): MiningService => {
  const { params } = genesis
  const { clock } = deps
  const logger = part('powchain')
  const extraNonce = new Uint8Array(randomBytes(EXTRA_NONCE_BYTES))
  const service = new MiningService({ params, pool, coinbase: mining?.coinbase ?? null, extraNonce, clock, logger })
  observer?.metrics.readGauge('mining_hash_rate_hashes', 'Hashes per second, own and submitted', () =>
    Number(service.hashrate()),
  )
  observer?.metrics.readGauge(
    'mining_solution_count',
    'Valid solutions of work of this node since the start',
    () => service.found,
  )
  const refresh = () => service.refresh()
  const stops = [chain.onCommitted(refresh), pool.onAdded(refresh), pool.onReset(refresh)]
  teardown.add(async () => {
    for (const stop of stops) stop()
  })
  if (mining === undefined) return service
  const miner = new Miner({ source: sourceOf(service), threads: mining.threads, duty: mining.duty, clock, logger })
  const stop = service.onWork(() => miner.refresh())
  teardown.add(async () => {
    stop()
    service.ownRate = undefined
    await miner.stop()
  })
  miner.start()
  service.ownRate = () => miner.hashrate()
  return service
}

const sourceOf = (service: MiningService): WorkSource => ({
  job() {
    const job = service.job()
    return job && { sealHash: job.sealHash, version: job.template.version, target: job.template.target }
  },
  submitWork: (nonce, sealHash, mixHash) => service.submitWork(nonce, sealHash, mixHash),
})

/** Reads of the proof chain for clients: final headers, and the preferred branch of pending ones. They throw HISTORY_MISSING. */
const proofChainPort = (
  { proofRows, proofPool, blocks }: StorageStage['opened'],
  params: ChainParams,
): ProofChainPort => {
  const describe = async (header: ProofHeader, includedIn: number | null): Promise<ProofHeaderInfo> => {
    const { height, parentId, coinbase, target, anchorNumber, anchorHash } = header
    // The time of a header is that of its anchor.
    requireHistory(blocks.earliest, anchorNumber)
    const anchor = await blocks.header(anchorNumber)
    return {
      number: height,
      id: proofHeaderId(header),
      parent: parentId,
      miner: coinbase,
      algorithm: proofAlgorithmAt(params, height),
      target: toWord(target),
      anchorNumber,
      anchorHash,
      extraNonce: bytesToHex(header.extraNonce),
      nonce: bytesToHex(header.nonce),
      mixHash: bytesToHex(header.mixHash),
      timestamp: anchor?.header.timestamp ?? 0,
      includedIn,
    }
  }
  const find = (ref: number | Hex) => {
    if (typeof ref === 'number' && !Number.isSafeInteger(ref)) return undefined
    const stored = typeof ref === 'number' ? proofRows.byHeight(ref) : proofRows.byId(ref)
    if (stored !== undefined) return stored
    const pending =
      typeof ref === 'number' ? proofPool.branch().find(({ header }) => header.height === ref) : proofPool.get(ref)
    return pending && { header: pending.header, includedIn: null }
  }
  return {
    height: () => proofPool.best()?.header.height ?? proofPool.head.proofState.tipHeight,
    async header(ref) {
      const found = find(ref)
      const isHigher = typeof ref === 'number' && ref > proofPool.head.proofState.tipHeight
      if (found === undefined && ref !== 0 && !isHigher) requireHistory(blocks.earliest, 1)
      return found && describe(found.header, found.includedIn)
    },
  }
}
