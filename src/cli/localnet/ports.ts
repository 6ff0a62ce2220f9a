import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import { assertPortFree, LOOPBACK, nameListenOption } from '../shared/process/free-port.ts'
import { claimPortBlock } from '../shared/process/port-block.ts'
import { type NodePorts, portsFrom } from './plan.ts'

/**
 * Chooses the ports of all nodes: they must be known before any node runs, and stay the same over restarts. Base 0 claims free blocks
 * for as long as this process runs; those from any other base are checked to be free. Throws the system's error of the first port in use, with a base that would do.
 */
export const reservePorts = async (base: number, count: number, host: string): Promise<readonly NodePorts[]> => {
  if (base === 0) {
    const blocks = await Promise.all(Array.from({ length: count }, () => claimPortBlock(host)))
    return blocks.flatMap(first => portsFrom(first, 1))
  }
  const wanted = portsFrom(base, count)
  await assertFree(wanted, host).catch(async error => {
    await nameListenOption(error, { '--host': host })
    throw error.code === 'EADDRINUSE'
      ? Object.assign(error, { freePort: await nextFreeBase(base, count, host) })
      : error
  })
  return wanted
}

/** Bases that are tried after one in use. */
const TRIES = 10

const nextFreeBase = async (base: number, count: number, host: string): Promise<number | undefined> => {
  const { portsPerNode } = LOCALNET_LIMITS
  const last = Math.min(base + TRIES * portsPerNode, 65_536 - portsPerNode * count)
  for (let next = base + portsPerNode; next <= last; next += portsPerNode) {
    const isFree = await assertFree(portsFrom(next, count), host).then(
      () => true,
      () => false,
    )
    if (isFree) return next
  }
  return undefined
}

const assertFree = async (nodes: readonly NodePorts[], host: string): Promise<void> => {
  for (const { http, operator, metrics, p2p, stratum } of nodes) {
    await assertPortFree(http, host)
    await assertPortFree(operator, LOOPBACK)
    await assertPortFree(metrics, host)
    await assertPortFree(p2p, LOOPBACK)
    await assertPortFree(stratum, LOOPBACK)
  }
}
