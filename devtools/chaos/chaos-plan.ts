import { assert } from '@tandem/base/assert.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import type { ChaosKind } from '../../src/cli/localnet/report/events.ts'

/** One fault of a node: stopped or paused, then restored. Milliseconds. */
export interface ChaosFault {
  readonly node: string
  readonly action: ChaosKind
  /** Time from the beginning of the wave. */
  readonly afterMs: number
  /** Duration of the fault; 0: the node is restored at once. */
  readonly forMs: number
}

/** Overlapping faults; the next wave begins when all nodes are in sync again, after a pause. */
export interface ChaosWave {
  readonly wave: number
  readonly quietMs: number
  readonly blows: readonly ChaosFault[]
}

export interface ChaosOptions {
  readonly seed: number
  readonly validators: readonly string[]
  readonly full: readonly string[]
  /** Limit of validators down at one time. */
  readonly down: number
}

const KINDS: readonly ChaosKind[] = ['pause', 'kill', 'restart']
const QUIET_MS = [500, 3_000] as const
const AFTER_MS = [0, 1_500] as const
const AWAY_MS = [200, 6_000] as const
const FULL_CHANCE = 0.3

/** Number of validators that may be down while the rest still decides: f of n = 3f + 1 (docs/design/consensus.md#quorums). */
export const maxFaultyNodes = (validators: number): number => Math.floor((validators - 1) / 3)

/**
 * Generates an endless sequence of waves from the seed and the names alone, whatever the nodes do meanwhile: the same seed gives the same
 * faults in the same order. Where no validator may be down there must be full nodes.
 */
export function* chaosWaves({ seed, validators, full, down }: ChaosOptions): Generator<ChaosWave, never> {
  assert(down > 0 || full.length > 0, 'chaos needs a node that may be down')
  const random = createRandom(seed)
  for (let wave = 1; ; wave++) {
    const quietMs = between(random, QUIET_MS)
    const struck = pickSome(random, validators, Math.min(down, validators.length))
    const others = full.filter(() => random.chance(FULL_CHANCE))
    // A wave has at least one fault.
    const nodes = struck.length + others.length === 0 ? [random.pick(full)] : [...struck, ...others]
    yield { wave, quietMs, blows: nodes.map(node => blow(random, node)) }
  }
}

const blow = (random: Random, node: string): ChaosFault => ({
  node,
  action: random.pick(KINDS),
  afterMs: between(random, AFTER_MS),
  forMs: between(random, AWAY_MS),
})

/** Picks one to `most` of them; none when `most` is 0. */
const pickSome = (random: Random, names: readonly string[], most: number): readonly string[] => {
  if (most === 0) return []
  const left = [...names]
  return Array.from({ length: 1 + random.below(most) }, () => left.splice(random.below(left.length), 1)[0] as string)
}

const between = (random: Random, [from, to]: readonly [number, number]): number => from + random.below(to - from + 1)
