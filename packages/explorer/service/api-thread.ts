import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '@tandem/base/assert.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import type { NodePort } from '../api/api-route.ts'
import { createApiServer } from '../api/api-server.ts'
import { Readiness } from '../api/readiness.ts'
import { createPageServer } from '../pages/page-server.ts'
import { PriceService } from '../price/price-service.ts'
import { openContracts } from '../store/open-contracts.ts'
import { openIndexReader } from '../store/open-index.ts'
import { createVerification } from '../verification/verification.ts'
import { openSource } from './open-source.ts'
import type { ApiCall, ExplorerThreadStart, FromExplorerThread, ToApiThread } from './protocol.ts'
import { threadLogger } from './thread-logger.ts'

/* Answers requests of the REST API in a thread of its own, from the index and from its own handle of the node's database. */

const port = parentPort
assert(port !== null, 'the API is served in a worker')
const {
  nodeUrl,
  database,
  contractsPath,
  solcDirectory,
  rules,
  version,
  site,
  price: priceConfig,
} = workerData as ExplorerThreadStart
const post = (message: FromExplorerThread): void => port.postMessage(message)

interface Asking {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}
const asking = new Map<number, Asking>()
let nextQuestion = 1

const ask = <Name extends keyof NodePort>(
  name: Name,
  ...args: Parameters<NodePort[Name]>
): ReturnType<NodePort[Name]> => {
  const id = nextQuestion++
  return new Promise((resolve, reject) => {
    asking.set(id, { resolve, reject })
    post({ type: 'ask', question: { id, name, args } })
  }) as ReturnType<NodePort[Name]>
}

const node: NodePort = {
  gasPriceWei: () => ask('gasPriceWei'),
  council: () => ask('council'),
  committee: number => ask('committee', number),
  rpc: (request, client) => ask('rpc', request, client),
}

const run = async (): Promise<void> => {
  const index = await openIndexReader(database)
  const logger = threadLogger(port)
  const { source } = openSource(nodeUrl, rules, logger)
  const nowMs = (): number => Date.now()
  const contracts = await openContracts(database, contractsPath)
  const verification = createVerification({ index, source, contracts, node, solcDirectory, nowMs, logger })
  const price = new PriceService({ config: priceConfig, symbol: rules.symbol, node, nowMs })
  const context = { index, source, node, verification, price, rules, site, nowMs }
  const readiness = new Readiness(context)
  const api = createApiServer({ context, readiness, version, logger })
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
    port.postMessage({ type: 'answer', answer: message } satisfies FromExplorerThread, [bytes.buffer])
  }

  const settle = (id: number, use: (waiting: Asking) => void): void => {
    const waiting = asking.get(id)
    asking.delete(id)
    if (waiting !== undefined) use(waiting)
  }

  const refusalOf = ({
    message,
    detail,
  }: {
    readonly message: string
    readonly detail: CodedError['detail'] | undefined
  }) => (detail === undefined ? new Error(message) : new CodedError(detail))

  const end = async (): Promise<void> => {
    await Promise.all([api.close(), pages.close()])
    await contracts.close()
    await index.close()
    await source.close()
    port.close()
  }

  port.on('message', (message: ToApiThread) => {
    if ('end' in message) void end()
    else if (message.type === 'call') void answer(message.call)
    else if (message.type === 'answered') settle(message.id, ({ resolve }) => resolve(message.value as never))
    else settle(message.id, ({ reject }) => reject(refusalOf(message)))
  })
}

void run()
