import { createServer, type Server } from 'node:net'
import type { NodePorts } from './plan.ts'
import { portsFrom } from './plan.ts'

/**
 * Reserves the ports of all nodes, checked to be free: they must be known before any node runs, and stay the same over restarts.
 * Base 0 takes any free ones. Throws an Error that names the first port in use.
 */
export const reservePorts = async (base: number, count: number, host: string): Promise<readonly NodePorts[]> => {
  const held: Server[] = []
  const hold = async (port: number, address: string): Promise<number> => {
    const server = createServer()
    held.push(server)
    return listen(server, port, address)
  }
  const wanted = base === 0 ? Array.from({ length: count }, () => ANY) : portsFrom(base, count)
  try {
    const ports: NodePorts[] = []
    for (const { http, operator, metrics, p2p, stratum } of wanted) {
      ports.push({
        http: await hold(http, host),
        operator: await hold(operator, LOOPBACK),
        metrics: await hold(metrics, host),
        p2p: await hold(p2p, LOOPBACK),
        stratum: await hold(stratum, LOOPBACK),
      })
    }
    return ports
  } finally {
    await Promise.all(held.map(close))
  }
}

const LOOPBACK = '127.0.0.1'
const ANY: NodePorts = { http: 0, operator: 0, metrics: 0, p2p: 0, stratum: 0 }

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })

const close = (server: Server): Promise<void> => new Promise(resolve => server.close(() => resolve()))
