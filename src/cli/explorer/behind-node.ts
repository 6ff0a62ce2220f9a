import { timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { setHeapGrowth, useNurseryLimits } from '@tandem/base/worker/nursery.ts'
import { RPC_PATH } from '@tandem/web/site.ts'
import { createLogger } from '../../node/logging.ts'
import type { ExplorerSettings } from '../../node/parts/pages/explorer-child.ts'
import { FORWARD_KEY_HEADER } from '../../node/parts/pages/forward.ts'
import { clientIdOf } from '../../rpc/transport/clients/clients.ts'
import { type ExplorerOptions, serveExplorer } from './run.ts'

/* Program of the explorer that a node starts for its public port. Its settings come over the channel to the node. */

/** Client of a request: as the node tells it, which alone has the key. */
const clientOf =
  (forwardKey: string): ExplorerOptions['clientOf'] =>
  ({ raw: { headers, socket } }) => {
    const { [FORWARD_KEY_HEADER]: key = '', 'x-forwarded-for': address } = headers
    const [given, wanted] = [Buffer.from(String(key)), Buffer.from(forwardKey)]
    const isNode = given.byteLength === wanted.byteLength && timingSafeEqual(given, wanted)
    return clientIdOf(isNode && typeof address === 'string' ? address : socket.remoteAddress)
  }

const serve = ({ forwardKey, logLevel, ephemeral, ...settings }: ExplorerSettings): Promise<void> =>
  serveExplorer({
    ...settings,
    rpcUrl: RPC_PATH,
    database: { kind: 'sqlite', path: join(settings.dataDir, 'index.sqlite'), ephemeral },
    host: '127.0.0.1',
    port: 0,
    clientOf: clientOf(forwardKey),
    logger: createLogger({ level: logLevel, format: 'json' }),
    announce: ({ port }) =>
      process.stdout.write(`${JSON.stringify({ ready: true, explorer: `http://127.0.0.1:${port}/api` })}\n`),
  })

useNurseryLimits()
setHeapGrowth()
process.once('message', settings => void serve(settings as ExplorerSettings))
