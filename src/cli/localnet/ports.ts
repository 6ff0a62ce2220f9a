import { assertPortFree, LOOPBACK } from '../shared/process/free-port.ts'
import { claimPortBlock } from '../shared/process/port-block.ts'
import { type NodePorts, portsFrom } from './plan.ts'

/**
 * Chooses the ports of all nodes: they must be known before any node runs, and stay the same over restarts. Base 0 claims free blocks
 * for as long as this process runs; those from any other base are checked to be free. Throws an Error that names the first port in use.
 */
export const reservePorts = async (base: number, count: number, host: string): Promise<readonly NodePorts[]> => {
  if (base === 0) {
    const blocks = await Promise.all(Array.from({ length: count }, () => claimPortBlock(host)))
    return blocks.flatMap(first => portsFrom(first, 1))
  }
  const wanted = portsFrom(base, count)
  for (const { http, operator, metrics, p2p, stratum } of wanted) {
    await assertPortFree(http, host)
    await assertPortFree(operator, LOOPBACK)
    await assertPortFree(metrics, host)
    await assertPortFree(p2p, LOOPBACK)
    await assertPortFree(stratum, LOOPBACK)
  }
  return wanted
}
