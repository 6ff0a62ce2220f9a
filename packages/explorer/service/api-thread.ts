import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '@tandem/base/assert.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import { createApiServer } from '../api/api-server.ts'
import { Readiness } from '../api/readiness.ts'
import { NodeClient } from '../chain/node-client.ts'
import { nodePort } from '../chain/node-port.ts'
import { RpcChain } from '../chain/rpc-chain.ts'
import { createPageServer } from '../pages/page-server.ts'
import { PriceService } from '../price/price-service.ts'
import { openContracts } from '../store/open-contracts.ts'
import { openIndexReader } from '../store/open-index.ts'
import { createVerification } from '../verification/verification.ts'
import type { ApiCall, ExplorerThreadStart, FromExplorerThread, ToApiThread } from './protocol.ts'
import { publicCalls } from './public-calls.ts'
import { threadLogger } from './thread-logger.ts'

/* Answers requests of the REST API in a thread of its own, from the index and over its own connections to the node. */

const port = parentPort
assert(port !== null, 'the API is served in a worker')
const { nodeUrl, database, rules, solcDirectory, ...start } = workerData as ExplorerThreadStart
const post = (message: FromExplorerThread, memory: ArrayBuffer[] = []): void => port.postMessage(message, memory)

const run = async (): Promise<void> => {
  const index = await openIndexReader(database)
  const logger = threadLogger(port)
  const client = new NodeClient({ url: nodeUrl, logger })
  const clientsNode = new NodeClient({ url: nodeUrl, logger: silentLogger })
  const source = new RpcChain(client, rules)
  const node = publicCalls(nodePort(client), {
    pass: request => clientsNode.pass(request),
    disabledMethods: start.disabledMethods,
    namespaces: start.publicNamespaces,
  })
  const nowMs = (): number => Date.now()
  const contracts = await openContracts(database, start.contractsPath)
  const verification = createVerification({ index, source, contracts, node, solcDirectory, nowMs, logger })
  const price = new PriceService({ config: start.price, symbol: rules.symbol, node, nowMs })
  const context = { index, source, node, verification, price, rules, site: start.site, nowMs }
  const readiness = new Readiness(context)
  const api = createApiServer({ context, readiness, version: start.version, logger })
  const pages = createPageServer({ context, readiness, logger })
  await Promise.all([api.ready(), pages.ready()])
  post({ type: 'opened' })

  const answer = async ({ id, untilMs, method, url, headers, body }: ApiCall): Promise<void> => {
    // It came while the thread was at work.
    if (nowMs() >= untilMs) return
    const server = url.startsWith(EXPLORER_PATH) ? pages : api
    const response = await server.inject({
      method: method as 'GET',
      url,
      headers: { ...headers },
      ...(body && { payload: Buffer.from(body) }),
    })
    const bytes = new Uint8Array(response.rawPayload)
    const kept = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
    const message = { id, status: response.statusCode, headers: Object.fromEntries(kept), body: bytes }
    post({ type: 'answer', answer: message }, [bytes.buffer])
  }

  const end = async (): Promise<void> => {
    await Promise.all([api.close(), pages.close()])
    await contracts.close()
    await index.close()
    await Promise.all([client.close(), clientsNode.close()])
    port.close()
  }

  port.on('message', (message: ToApiThread) => void ('end' in message ? end() : answer(message)))
}

void run()
