import { firstSeed, nextSeed } from '../../rules/randao.ts'
import { assert } from '../../util/assert.ts'
import { type Hex, ZERO_HASH } from '../../util/bytes.ts'
import { Lru } from '../../util/lru.ts'

/** Cycles between two permanently stored seeds; any other seed is at most this many hashes away. */
const STRIDE = 256
const RECENT = 64

/**
 * Seeds of the cycles (docs/design/council.md#seed). Each follows from the previous one and a proof tip; without a proof
 * chain the tip is zero and the list follows from genesis alone, so nothing is stored: a day of cycles takes about a
 * millisecond to compute.
 */
export class CycleSeeds {
  /** Seeds of cycles 0, STRIDE, 2 * STRIDE ... */
  readonly #milestones: Hex[]
  readonly #recent = new Lru<number, Hex>(RECENT)

  constructor(genesisHash: Hex) {
    this.#milestones = [firstSeed(genesisHash)]
  }

  of(cycle: number): Hex {
    assert(Number.isSafeInteger(cycle) && cycle >= 0, 'a cycle')
    const kept = this.#recent.get(cycle)
    if (kept !== undefined) return kept
    const seed = this.#walk(cycle)
    this.#recent.set(cycle, seed)
    return seed
  }

  #walk(cycle: number): Hex {
    let at = Math.min(Math.floor(cycle / STRIDE), this.#milestones.length - 1) * STRIDE
    let seed = this.#milestones[at / STRIDE] as Hex
    while (at < cycle) {
      at++
      seed = nextSeed(seed, ZERO_HASH, at)
      if (at % STRIDE === 0 && at / STRIDE === this.#milestones.length) this.#milestones.push(seed)
    }
    return seed
  }
}
