import type { Hex } from '@tandem/base/bytes.ts'

type Slots = Map<Hex, Hex>

/** Slots as which an account counts besides its own: its map takes as much memory. */
const ACCOUNT_SLOTS = 2

/** Bounded cache of storage words in two generations of half of `limit`: a hit in the old one moves to the young one. */
export class SlotCache {
  #young = new Map<Hex, Slots>()
  #old = new Map<Hex, Slots>()
  #youngSize = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(address: Hex, slot: Hex): Hex | undefined {
    const found = this.#young.get(address)?.get(slot)
    if (found !== undefined) return found
    const kept = this.#old.get(address)?.get(slot)
    if (kept !== undefined) this.set(address, slot, kept)
    return kept
  }

  set(address: Hex, slot: Hex, word: Hex): void {
    let slots = this.#young.get(address)
    if (slots === undefined) {
      slots = new Map()
      this.#young.set(address, slots)
      this.#youngSize += ACCOUNT_SLOTS
    }
    const size = slots.size
    slots.set(slot, word)
    this.#youngSize += slots.size - size
    if (this.#youngSize < this.#limit / 2) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngSize = 0
  }

  /** Drops all words of an account. */
  drop(address: Hex): void {
    const slots = this.#young.get(address)
    if (slots !== undefined) this.#youngSize -= slots.size + ACCOUNT_SLOTS
    this.#young.delete(address)
    this.#old.delete(address)
  }
}
