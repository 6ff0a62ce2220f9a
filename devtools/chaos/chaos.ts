import { setTimeout as sleep } from 'node:timers/promises'
import type { Localnet, LocalnetNode } from '../../src/cli/localnet/network.ts'
import type { LocalnetEvent } from '../../src/cli/localnet/report/events.ts'
import type { NodeStatus } from '../../src/cli/localnet/report/status.ts'
import { LOCALNET_LIMITS } from '../../src/config/limits/commands.ts'
import type { ChaosFault, ChaosWave } from './chaos-plan.ts'

interface ChaosPorts {
  readonly localnet: Localnet
  readonly waves: Iterable<ChaosWave>
  /** Blocks come at intervals, so that a new one shows that the committee decides again. */
  readonly isClocked: boolean
  readonly tell: (event: LocalnetEvent) => void
  /** Called when nodes did not recover in time. */
  readonly onTrouble: () => void
  /** Checked between two waves. */
  readonly isOver: () => boolean
  /** No new fault after it. */
  readonly signal: AbortSignal
}

/**
 * Runs faults wave by wave, and waits after each until all nodes are in sync again. Ends with `signal`, when it is over,
 * or when they do not recover.
 */
export const runChaos = async (ports: ChaosPorts): Promise<void> => {
  const { localnet, waves, isOver, signal } = ports
  const byName = new Map(localnet.nodes.map(node => [node.plan.name, node]))
  try {
    for (const { wave, quietMs, blows } of waves) {
      await sleep(quietMs, undefined, { signal })
      if (isOver()) return
      await Promise.all(
        blows.map(chaosFault => strike(byName.get(chaosFault.node) as LocalnetNode, chaosFault, wave, ports)),
      )
      if (!(await recover(wave, ports))) return
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

const strike = async (
  node: LocalnetNode,
  { action, afterMs, forMs }: ChaosFault,
  wave: number,
  { localnet, tell, signal }: ChaosPorts,
): Promise<void> => {
  await sleep(afterMs, undefined, { signal })
  const { process, plan } = node
  if (process.state !== 'running') return
  tell({ event: 'chaos', wave, action, node: plan.name, forMs })
  if (action === 'pause') {
    process.pause()
    await sleep(forMs, undefined, { signal })
    process.resume()
    tell({ event: 'resumed', node: plan.name })
    return
  }
  await process.stop(action === 'kill' ? 'SIGKILL' : 'SIGTERM')
  await sleep(forMs, undefined, { signal })
  if (!(await localnet.begin(node)) || signal.aborted) return
  tell({ event: 'started', node: plan.name, pid: process.pid as number })
}

/**
 * Waits until all nodes have the highest block and, with interval blocks, one made since; reports the nodes that do not.
 */
const recover = async (wave: number, ports: ChaosPorts): Promise<boolean> => {
  const { localnet, isClocked, tell, onTrouble, signal } = ports
  const { recoverMs, pollMs } = LOCALNET_LIMITS
  const began = performance.now()
  const least = headOf(await localnet.look()) + (isClocked ? 1 : 0)
  for (;;) {
    signal.throwIfAborted()
    const statuses = await localnet.look()
    const ms = Math.round(performance.now() - began)
    const late = statuses.filter(status => !isInStep(status, least))
    if (late.length === 0) {
      tell({ event: 'recovered', wave, number: headOf(statuses), ms })
      return true
    }
    if (ms > recoverMs) {
      tell({ event: 'unrecovered', wave, nodes: late.map(({ name }) => name), ms })
      onTrouble()
      return false
    }
    await sleep(pollMs, undefined, { signal })
  }
}

const headOf = (statuses: readonly NodeStatus[]): number => Math.max(0, ...statuses.map(({ number }) => number ?? 0))

const isInStep = ({ state, number, lag }: NodeStatus, least: number): boolean =>
  (state === 'voting' || state === 'following') && (number ?? 0) >= least && lag <= LOCALNET_LIMITS.inStepBlocks
