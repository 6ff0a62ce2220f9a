import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import { assertPortFree, holdPort, LOOPBACK, nameListenOption, succeeds } from '../shared/process/free-port.ts'
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
    if (await succeeds(assertFree(portsFrom(next, count), host))) return next
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

/** Ports that no system assigns by default: Linux begins at 32,768, others at 49,152. */
const FIRST = 10_000
const LAST = 32_767
const BLOCK_TRIES = 1_000
/** One size for all: blocks of several sizes could overlap. */
const SIZE = LOCALNET_LIMITS.portsPerNode

/**
 * Claims ten consecutive free ports for as long as this process runs, and returns the first. The process listens on the last one, so
 * that no other process claims the block; the others are for its servers, as of one node of a localnet. None of them is among those that
 * the system assigns: such a port can become that of any connection before its server listens, or while the server is restarted. Throws
 * the system's error where nothing can listen at `host`.
 */
export const claimPortBlock = async (host: string): Promise<number> => {
  const blocks = Math.floor((lastUnassigned() - FIRST + 1) / SIZE)
  for (let tries = 0; tries < BLOCK_TRIES; tries++) {
    const first = FIRST + SIZE * randomInt(blocks)
    const guard = await unlessTaken(holdPort(first + SIZE - 1, LOOPBACK))
    if (guard === undefined) continue
    if (await areFree(first, SIZE - 1, host)) return first
    guard.close()
  }
  throw new Error(`No ${SIZE} consecutive ports between ${FIRST} and ${LAST} were found free. Choose some with --port.`)
}

/** Last port below those that the system assigns; LAST where those begin too low to leave a choice. */
const lastUnassigned = (): number => {
  try {
    const [low] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)
    return Number(low) > FIRST + 1_000 ? Math.min(LAST, Number(low) - 1) : LAST
  } catch {
    return LAST
  }
}

/** Returns undefined for a port that is in use, or that needs more rights. */
const unlessTaken = async <T>(listening: Promise<T>): Promise<T | undefined> => {
  try {
    return await listening
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' || code === 'EACCES') return undefined
    throw error
  }
}

const areFree = async (first: number, count: number, host: string): Promise<boolean> => {
  for (let port = first; port < first + count; port++)
    for (const address of new Set([host, LOOPBACK]))
      if ((await unlessTaken(assertPortFree(port, address).then(() => true))) === undefined) return false
  return true
}
