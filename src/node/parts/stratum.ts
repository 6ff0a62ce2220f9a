import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { MiningService } from '../../powchain/mining/mining-service.ts'
import type { ProofPool } from '../../powchain/proof-pool.ts'
import { addStratumGauges, createStratumMetrics } from '../../powchain/stratum/stratum-metrics.ts'
import { StratumServer } from '../../powchain/stratum/stratum-server.ts'
import type { WorkVerifier } from '../../powchain/work-verifier.ts'
import type { StratumOptions } from '../options.ts'
import type { Teardown } from '../teardown.ts'
import { urlHost } from '../version.ts'

interface StratumParts {
  readonly options: StratumOptions
  readonly params: ChainParams
  readonly service: MiningService
  readonly proofPool: ProofPool
  readonly proofVerifier: WorkVerifier
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics | undefined
}

/** Starts the Stratum server and returns its URL. Rejects with the error of a port in use. */
export const createStratum = async (parts: StratumParts, teardown: Teardown): Promise<string> => {
  const { options, params, service, proofPool: pool, proofVerifier: verifier, clock, logger, metrics } = parts
  const server = new StratumServer({
    ...options,
    params,
    service,
    pool,
    verifier,
    extraNonce: service.extraNonce,
    clock,
    logger,
    metrics: metrics && createStratumMetrics(metrics),
  })
  const port = await server.listen()
  const stop = service.onWork(() => server.refresh())
  service.setWorkers(server)
  if (metrics !== undefined) addStratumGauges(metrics, server)
  teardown.add(async () => {
    stop()
    service.setWorkers(undefined)
    await server.close()
  })
  return `stratum+tcp://${urlHost(options.host)}:${port}`
}
