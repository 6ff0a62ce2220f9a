import { randomBytes } from 'node:crypto'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Chain } from '../../chain/chain.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { Metrics } from '../../metrics/registry.ts'
import { Miner, type WorkSource } from '../../powchain/mining/miner.ts'
import { MiningService } from '../../powchain/mining/mining-service.ts'
import type { ProofPool } from '../../powchain/proof-pool.ts'
import type { MiningOptions } from '../options.ts'
import type { Teardown } from '../teardown.ts'

interface MiningParts {
  readonly params: ChainParams
  readonly proofPool: ProofPool
  readonly chain: Pick<Chain, 'onCommitted'>
  readonly options: MiningOptions | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics | undefined
}

/** Bytes that tell apart the work of two nodes with one coinbase. */
const EXTRA_NONCE_BYTES = 4

/** Work for outside miners, and the built-in miner where the operator wants one. */
export const createMining = (parts: MiningParts, teardown: Teardown): MiningService => {
  const { params, proofPool: pool, chain, options, clock, logger } = parts
  const extraNonce = new Uint8Array(randomBytes(EXTRA_NONCE_BYTES))
  const service = new MiningService({ params, pool, coinbase: options?.coinbase ?? null, extraNonce, clock, logger })
  parts.metrics?.gauge({
    name: 'mining_hash_rate_hashes',
    help: 'Hashes per second, own and submitted',
    read: () => Number(service.hashrate()),
  })
  parts.metrics?.gauge({
    name: 'mining_solution_count',
    help: 'Valid solutions of work of this node since the start',
    read: () => service.found,
  })
  const refresh = () => service.refresh()
  const stops = [chain.onCommitted(refresh), pool.onAdded(refresh), pool.onReset(refresh)]
  teardown.add(async () => {
    for (const stop of stops) stop()
  })
  if (options === undefined) return service
  const miner = new Miner({ source: sourceOf(service), threads: options.threads, duty: options.duty, clock, logger })
  const stop = service.onWork(() => miner.refresh())
  teardown.add(async () => {
    stop()
    service.setMiner(undefined)
    await miner.stop()
  })
  miner.start()
  service.setMiner(() => miner.hashrate())
  return service
}

const sourceOf = (service: MiningService): WorkSource => ({
  job() {
    const job = service.job()
    return job && { sealHash: job.sealHash, version: job.template.version, target: job.template.target }
  },
  submitWork: (nonce, sealHash, mixHash) => service.submitWork(nonce, sealHash, mixHash),
})
