import type { MiningService } from '../../powchain/mining/mining-service.ts'
import { addStratumGauges, createStratumMetrics } from '../../powchain/stratum/stratum-metrics.ts'
import { StratumServer } from '../../powchain/stratum/stratum-server.ts'
import type { StratumOptions } from '../options.ts'
import { urlHost } from '../version.ts'
import type { StorageStage } from './storage.ts'

/** Starts the Stratum server and returns its URL. Rejects with the error of a port in use. */
export const openStratum = async (
  { options: { genesis }, deps, teardown, part, opened, observer }: StorageStage,
  options: StratumOptions,
  service: MiningService,
): Promise<string> => {
  const server = new StratumServer({
    ...options,
    params: genesis.params,
    service,
    pool: opened.proofPool,
    verifier: opened.proofVerifier,
    extraNonce: service.extraNonce,
    clock: deps.clock,
    logger: part('stratum'),
    metrics: observer && createStratumMetrics(observer.metrics),
  })
  const port = await server.listen()
  const stop = service.onWork(() => server.refresh())
  service.workers = server
  if (observer !== undefined) addStratumGauges(observer.metrics, server)
  teardown.add(async () => {
    stop()
    service.workers = undefined
    await server.close()
  })
  return `stratum+tcp://${urlHost(options.host)}:${port}`
}
