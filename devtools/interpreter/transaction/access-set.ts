import type { Hex } from '@tandem/base/bytes.ts'
import type { AccessRecorder } from '../../../src/evm/engine.ts'

interface Warmed {
  readonly address: Hex
  /** undefined: the address itself became warm. */
  readonly slot: Hex | undefined
}

/** Warm addresses and slots of the current message (EIP-2929); one undo list for all frames. */
export class AccessSet {
  readonly #addresses: Set<Hex>
  readonly #slots = new Map<Hex, Set<Hex>>()
  readonly #undo: Warmed[] = []
  #recorder: AccessRecorder | undefined = undefined

  constructor(precompiles: Iterable<Hex>) {
    this.#addresses = new Set(precompiles)
  }

  /** Reports the code's own accesses from here on. */
  record(recorder: AccessRecorder | undefined): void {
    this.#recorder = recorder
  }

  warm(address: Hex): void {
    if (this.#addresses.has(address)) return
    this.#addresses.add(address)
    this.#undo.push({ address, slot: undefined })
  }

  isCold(address: Hex): boolean {
    return !this.#addresses.has(address)
  }

  /** True when accesses are reported, also those that could not be paid. */
  get isRecorded(): boolean {
    return this.#recorder !== undefined
  }

  isColdSlot(address: Hex, slot: Hex): boolean {
    return this.#slots.get(address)?.has(slot) !== true
  }

  /** Records an access of the code; returns true when the address was cold. It is warm now. */
  touch(address: Hex): boolean {
    this.#recorder?.address(address)
    if (this.#addresses.has(address)) return false
    this.#addresses.add(address)
    this.#undo.push({ address, slot: undefined })
    return true
  }

  /** Returns true when the slot was cold; it is warm now. */
  touchSlot(address: Hex, slot: Hex): boolean {
    this.#recorder?.slot(address, slot)
    let slots = this.#slots.get(address)
    if (slots === undefined) {
      slots = new Set()
      this.#slots.set(address, slots)
    }
    if (slots.has(slot)) return false
    slots.add(slot)
    this.#undo.push({ address, slot })
    return true
  }

  mark(): number {
    return this.#undo.length
  }

  revert(mark: number): void {
    for (let i = this.#undo.length - 1; i >= mark; i--) {
      const { address, slot } = this.#undo[i] as Warmed
      if (slot === undefined) this.#addresses.delete(address)
      else this.#slots.get(address)?.delete(slot)
    }
    this.#undo.length = mark
  }
}
