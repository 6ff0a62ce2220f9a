import type { Hex } from '../../util/bytes.ts'
import type { BlockEnv } from '../block-env.ts'
import type { SimulationLimits } from './simulation-limits.ts'
import type { HashBlocks, SimulatedBlock } from './types.ts'

/**
 * Hashes of blocks as simulated ones see them. Those of simulated blocks need state roots, which another thread makes: they are
 * asked for when code wants one, and for all blocks so far at once.
 */
export class SimulatedHashes {
  readonly #base: { readonly number: number; readonly hash: Hex; readonly env: BlockEnv }
  readonly #blocks: readonly SimulatedBlock[]
  readonly #hash: HashBlocks
  readonly #meter: SimulationLimits
  #known: readonly Hex[] = []

  /** `blocks` grows while the simulation goes on. */
  constructor(
    base: { readonly number: number; readonly hash: Hex; readonly env: BlockEnv },
    blocks: readonly SimulatedBlock[],
    hash: HashBlocks,
    meter: SimulationLimits,
  ) {
    this.#base = base
    this.#blocks = blocks
    this.#hash = hash
    this.#meter = meter
  }

  /** What is known at once; ZERO_HASH where nothing is. */
  at(number: number): Hex {
    const { number: base, hash, env } = this.#base
    if (number === base) return hash
    return this.#known[number - base - 1] ?? env.blockHash(number)
  }

  /** undefined: `at` knows it, or nobody does. */
  find(number: number): Promise<Hex> | undefined {
    const index = number - this.#base.number - 1
    if (index < this.#known.length || index >= this.#blocks.length) return undefined
    return this.#find(number)
  }

  async #find(number: number): Promise<Hex> {
    this.#meter.hashed()
    this.#known = await this.#hash(this.#blocks)
    return this.at(number)
  }
}
