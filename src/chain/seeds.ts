import { firstSeed, nextSeed } from '../rules/randao.ts'
import { assert } from '../util/assert.ts'
import { type Hex, ZERO_HASH } from '../util/bytes.ts'

/**
 * Seeds of the cycles (DESIGN 4). Each follows from the one before and a proof tip; while there is no proof chain the tip is
 * zero and the list follows from genesis alone, so nothing is stored: a day of cycles costs about a millisecond to walk.
 */
export class Seeds {
  readonly #seeds: Hex[]

  constructor(genesisHash: Hex) {
    this.#seeds = [firstSeed(genesisHash)]
  }

  of(cycle: number): Hex {
    assert(Number.isSafeInteger(cycle) && cycle >= 0, 'a cycle')
    for (let next = this.#seeds.length; next <= cycle; next++) {
      this.#seeds.push(nextSeed(this.#seeds[next - 1] as Hex, ZERO_HASH, next))
    }
    return this.#seeds[cycle] as Hex
  }
}
