import { join } from 'node:path'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Site } from '@tandem/web/site.ts'
import type { FastifyInstance } from 'fastify'
import type { FaucetCaps } from '../../../config/limits/faucet.ts'
import type { NetworkParams } from '../../../config/networks.ts'
import { addFaucetRoutes } from '../../../faucet/faucet-http.ts'
import { createFaucetNode } from '../../../faucet/faucet-node.ts'
import type { FaucetService } from '../../../faucet/faucet-service.ts'
import { openFaucet } from '../../../faucet/open-faucet.ts'
import type { Metrics } from '../../../metrics/registry.ts'
import { clientIdOf } from '../../../rpc/transport/clients/clients.ts'
import type { RpcCall } from '../../../rpc/transport/server.ts'
import type { Teardown } from '../../teardown.ts'

interface FaucetPartsOptions {
  readonly params: NetworkParams
  readonly dataDir: string
  /** The chain ends with the process: so do the grants. */
  readonly ephemeral: boolean
  readonly privateKey: Uint8Array
  readonly caps?: FaucetCaps
  readonly site: Site
  readonly onFatal: (error: Error) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics?: Metrics | undefined
}

/** The faucet on the public port: returns what adds its routes. It calls the node as a client of that port does. */
export const createFaucet = (
  { dataDir, ephemeral, site, metrics, ...options }: FaucetPartsOptions,
  teardown: Teardown,
): ((app: FastifyInstance, call: RpcCall) => void) => {
  const { clock, logger } = options
  const storePath = ephemeral ? ':memory:' : join(dataDir, 'faucet', 'grants.sqlite')
  return (app, call) => {
    let opening: Promise<FaucetService> | undefined
    const open = (): Promise<FaucetService> => {
      opening ??= openFaucet({
        ...options,
        ...(metrics && { metrics }),
        node: createFaucetNode(call),
        storePath,
      }).catch(error => {
        opening = undefined
        logger.error({ err: error }, 'the faucet cannot be opened')
        throw error
      })
      return opening
    }
    teardown.add(async () => {
      await (await opening?.catch(() => undefined))?.stop()
    })
    addFaucetRoutes(app, { open, site, clientOf: ({ ip }) => clientIdOf(ip), clock })
    // Grants of an earlier process are paid without waiting for a request.
    if (!ephemeral) open().catch(() => undefined)
  }
}
