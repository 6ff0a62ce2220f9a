import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'

/** The node attacked, and what is on its chain that costs to ask for. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly wsPath: string
  /** Transactions that log much, and one that is long to trace. */
  readonly logged: readonly Hex[]
  readonly loggers: readonly Hex[]
  readonly lastBlock: number
}

/** State shared by hostile clients. */
export interface Scene {
  readonly target: Target
  readonly random: Random
  /** They end at it, whatever they wait for. */
  readonly signal: AbortSignal
  /** The address a connection comes from. */
  readonly from: () => string
  /** Most repetitions of each lane; none in a run that ends with time. */
  readonly rounds: number
  /** Number of events, by name. */
  readonly counts: Map<string, number>
}

export type Attack = (scene: Scene) => Promise<void>

export const count = ({ counts }: Scene, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

/** Resolves at once when the attack is over. */
export const idle = (scene: Scene, ms: number): Promise<void> =>
  sleep(ms, undefined, { signal: scene.signal }).catch(() => undefined)

const PAUSE_MS = 20

/** So many at once, each again and again until the end. What breaks is counted: an attacker comes back. */
export const lanes = async (
  scene: Scene,
  howMany: number,
  act: (lane: number, round: number) => Promise<unknown>,
): Promise<void> => {
  const run = async (lane: number): Promise<void> => {
    for (let round = 0; round < scene.rounds && !scene.signal.aborted; round++) {
      try {
        await act(lane, round)
      } catch (error) {
        count(scene, `failed: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message.slice(0, 60)}`)
        await idle(scene, PAUSE_MS)
      }
    }
  }
  await Promise.all(Array.from({ length: howMany }, (_, lane) => run(lane)))
}
