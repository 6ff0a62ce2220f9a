import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalnetNode } from '../../src/cli/localnet/network.ts'
import type { LocalnetFlags } from '../../src/cli/localnet/plan.ts'
import type { NodeStatus } from '../../src/cli/localnet/report/status.ts'
import type { Chaos, ChaosPorts } from '../../src/cli/localnet/run.ts'
import { LOCALNET_LIMITS } from '../../src/config/limits/commands.ts'
import { CHAOS_LIMITS } from '../limits.ts'
import { type ChaosFault, type ChaosWave, chaosWaves, maxFaultyNodes } from './chaos-plan.ts'

/** Returns the faults of `--chaos`. Throws where they would stop the chain. */
export const createChaos = (
  { seed = randomInt(2 ** 32), chaosDown, full }: LocalnetFlags,
  validators: number,
): Chaos => {
  const down = chaosDown ?? maxFaultyNodes(validators)
  if (down === 0 && full === 0)
    throw new Error(
      `--chaos: ${validators} validators decide nothing without all of them. Take 4 or more, add --full 1, or allow it with --chaos-down 1.`,
    )
  const run = (ports: ChaosPorts): Promise<void> => {
    const names = (isValidator: boolean) =>
      ports.localnet.nodes.filter(({ plan }) => plan.isValidator === isValidator).map(({ plan }) => plan.name)
    return runChaos(ports, chaosWaves({ seed, down, validators: names(true), full: names(false) }))
  }
  return { seed, run }
}

/** Runs faults wave by wave, and waits after each until all nodes are in sync again. */
const runChaos = async (ports: ChaosPorts, waves: Iterable<ChaosWave>): Promise<void> => {
  const { localnet, isOver, signal } = ports
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
    if (ms > CHAOS_LIMITS.recoverMs) {
      tell({ event: 'unrecovered', wave, nodes: late.map(({ name }) => name), ms })
      onTrouble()
      return false
    }
    await sleep(LOCALNET_LIMITS.pollMs, undefined, { signal })
  }
}

const headOf = (statuses: readonly NodeStatus[]): number => Math.max(0, ...statuses.map(({ number }) => number ?? 0))

const isInStep = ({ state, number, lag }: NodeStatus, least: number): boolean =>
  (state === 'voting' || state === 'following') && (number ?? 0) >= least && lag <= CHAOS_LIMITS.inStepBlocks
