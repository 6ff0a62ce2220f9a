import { join } from 'node:path'
import type { Site } from '@tandem/web/site.ts'
import type { FastifyInstance } from 'fastify'
import { addFaucetRoutes } from '../../faucet/faucet-http.ts'
import { createFaucetNode } from '../../faucet/faucet-node.ts'
import type { FaucetService } from '../../faucet/faucet-service.ts'
import { openFaucet } from '../../faucet/open-faucet.ts'
import { clientIdOf } from '../../rpc/transport/clients/clients.ts'
import type { RpcCall } from '../../rpc/transport/server.ts'
import type { NodeOptions } from '../options.ts'
import type { StorageStage } from './storage.ts'

/** Adds the faucet to the public port. It calls the node as a client of that port does. */
export const addFaucet = (
  { options, deps, teardown, part, observer }: StorageStage,
  { faucet, site }: { readonly faucet: NonNullable<NodeOptions['faucet']>; readonly site: Site },
  app: FastifyInstance,
  call: RpcCall,
): void => {
  const { genesis, dataDir, ephemeral = false } = options
  const { clock, onFatal } = deps
  const logger = part('faucet')
  let opening: Promise<FaucetService> | undefined
  const open = (): Promise<FaucetService> => {
    opening ??= openFaucet({
      ...faucet,
      ...{ onFatal, clock, logger },
      ...(observer && { metrics: observer.metrics }),
      params: genesis.params,
      node: createFaucetNode(call),
      // The grants of a chain that ends with its process do so too.
      storePath: ephemeral ? ':memory:' : join(dataDir, 'faucet', 'grants.sqlite'),
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
