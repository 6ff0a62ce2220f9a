import { connect, createServer } from 'node:net'
import type { ChainDomain } from '../../src/network/messages/control-messages.ts'
import { RawPeer } from '../../test/support/network/raw-peer.ts'
import { sleep } from '../../test/support/node-process.ts'

const RPC_MS = 100
const HANDSHAKE_MS = 2_000
/** One way: 120 ms of round trip. */
const DELAY_MS = 60

/** Delays and failures that honest users of a node see while it is attacked. */
export interface Probes {
  stop(): Promise<{
    readonly rpcP99Ms: number
    readonly healthyShare: number
    readonly handshakes: number
    readonly handshakeFailures: number
    readonly handshakeP99Ms: number
  }>
}

export const quantile = (values: readonly number[], q: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN)

/** Asks for the head and the health, and connects as a peer over a line with delay, again and again. */
export const probe = async (url: string, peerPort: number, domain: ChainDomain): Promise<Probes> => {
  const line = await delayedLine(peerPort)
  const stopping = new AbortController()
  const rpcMs: number[] = []
  const handshakeMs: number[] = []
  let [healthy, asked, failures] = [0, 0, 0]
  const loop = async (everyMs: number, act: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await act()
      await sleep(everyMs)
    }
  }
  const loops = [
    loop(RPC_MS, async () => {
      const beganMs = performance.now()
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
      const headers = { 'content-type': 'application/json' }
      await fetch(url, { method: 'POST', headers, body }).then(response => response.text())
      rpcMs.push(performance.now() - beganMs)
      asked++
      if ((await fetch(`${url}/health`)).ok) healthy++
    }),
    loop(HANDSHAKE_MS, async () => {
      const beganMs = performance.now()
      const peer = await RawPeer.meet(line.port, {}, null, { domain }).catch(() => undefined)
      if (peer === undefined) failures++
      else handshakeMs.push(performance.now() - beganMs)
      peer?.close()
    }),
  ]
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(loops)
      line.close()
      return {
        rpcP99Ms: quantile(rpcMs, 0.99),
        healthyShare: Math.round((1_000 * healthy) / Math.max(1, asked)) / 1_000,
        handshakes: handshakeMs.length,
        handshakeFailures: failures,
        handshakeP99Ms: quantile(handshakeMs, 0.99),
      }
    },
  }
}

/** A port behind which is that of a node, with a delay each way. */
const delayedLine = async (port: number) => {
  const server = createServer(near => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', bytes => setTimeout(() => to.writable && to.write(bytes), DELAY_MS))
      from.on('close', () => setTimeout(() => to.destroy(), DELAY_MS))
      from.on('error', () => {})
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, close: () => server.close() }
}
