import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { Lru } from '@tandem/base/lru.ts'
import { councilBlockOf, firstSeed } from '../../rules/council/cycle.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { readCycleRow } from './council-rows.ts'

const RECENT = 64

/** Seeds of the cycles (docs/design/council.md#seed), stored with the council record, so known as soon as their cycle's council. */
export class CycleSeeds {
  readonly #genesisHash: Hex
  readonly #store: Pick<Store, 'getSync'>
  readonly #cycleBlocks: number
  readonly #recent = new Lru<number, Hex>(RECENT)

  constructor(genesisHash: Hex, store: Pick<Store, 'getSync'>, cycleBlocks: number) {
    this.#genesisHash = genesisHash
    this.#store = store
    this.#cycleBlocks = cycleBlocks
  }

  /** The cycle must have its council record. */
  of(cycle: number): Hex {
    assert(Number.isSafeInteger(cycle) && cycle >= 0, 'a cycle')
    const kept = this.#recent.get(cycle)
    if (kept !== undefined) return kept
    const seed = cycle === 0 ? firstSeed(this.#genesisHash) : this.#read(cycle)
    this.#recent.set(cycle, seed)
    return seed
  }

  /** Seed of a cycle, or of the last cycle before it whose council is known: for simulated blocks, which may lie beyond. */
  ofLatestUpTo(cycle: number): Hex {
    let known = cycle
    while (known > 0 && !this.#recent.has(known) && this.#row(known) === undefined) known--
    return this.of(known)
  }

  /** Drops what blocks above the new head said, after a revert. */
  forget(head: number): void {
    for (const [cycle] of this.#recent.entries())
      if (councilBlockOf(cycle, this.#cycleBlocks) > head) this.#recent.delete(cycle)
  }

  #read(cycle: number): Hex {
    const row = this.#row(cycle)
    assert(row !== undefined, 'a requested cycle has its council record')
    return readCycleRow(row).seed
  }

  #row(cycle: number): Uint8Array | undefined {
    return this.#store.getSync(BUCKETS.cycle, numberKey(councilBlockOf(cycle, this.#cycleBlocks)))
  }
}
