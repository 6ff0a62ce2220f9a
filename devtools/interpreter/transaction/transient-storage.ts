import type { Hex } from '@tandem/base/bytes.ts'

interface Overwritten {
  readonly words: Map<Hex, bigint>
  readonly slot: Hex
  readonly before: bigint
}

/** Words that last until the end of the transaction (EIP-1153). */
export class TransientStorage {
  readonly #accounts = new Map<Hex, Map<Hex, bigint>>()
  readonly #undo: Overwritten[] = []

  get(address: Hex, slot: Hex): bigint {
    return this.#accounts.get(address)?.get(slot) ?? 0n
  }

  set(address: Hex, slot: Hex, word: bigint): void {
    let words = this.#accounts.get(address)
    if (words === undefined) {
      words = new Map()
      this.#accounts.set(address, words)
    }
    this.#undo.push({ words, slot, before: words.get(slot) ?? 0n })
    words.set(slot, word)
  }

  mark(): number {
    return this.#undo.length
  }

  revert(mark: number): void {
    for (let i = this.#undo.length - 1; i >= mark; i--) {
      const { words, slot, before } = this.#undo[i] as Overwritten
      words.set(slot, before)
    }
    this.#undo.length = mark
  }
}
