import type { Account, Address } from '@ethereumjs/util'
import { bytesToHex, type Hex } from '../../util/bytes.ts'
import type { AccessRecorder } from '../engine.ts'
import type { JournalAdapter } from './journal-adapter.ts'

interface Warmed {
  readonly address: Hex
  /** undefined: the address itself became warm. */
  readonly slot: Hex | undefined
}

/**
 * Warm addresses and slots of the running transaction (EIP-2929), in the place of EthereumJS' own journal class: the same calls,
 * one undo list instead of maps and sets per frame.
 */
export class WarmSet {
  readonly #state: JournalAdapter
  readonly #precompiles: ReadonlySet<Hex>
  readonly #addresses = new Set<Hex>()
  readonly #slots = new Map<Hex, Set<Hex>>()
  readonly #undo: Warmed[] = []
  readonly #marks: number[] = []
  #recorder: AccessRecorder | undefined = undefined

  constructor(state: JournalAdapter, precompiles: ReadonlySet<Hex>) {
    this.#state = state
    this.#precompiles = precompiles
  }

  /** Starts a transaction: everything is cold but the precompiles. */
  begin(): void {
    this.#addresses.clear()
    this.#slots.clear()
    this.#undo.length = 0
    this.#marks.length = 0
    this.#recorder = undefined
  }

  /** From here on the code's own accesses are reported. */
  record(recorder: AccessRecorder | undefined): void {
    this.#recorder = recorder
  }

  isWarm(address: Hex): boolean {
    return this.#addresses.has(address) || this.#precompiles.has(address)
  }

  warm(address: Hex): void {
    if (this.isWarm(address)) return
    this.#addresses.add(address)
    this.#undo.push({ address, slot: undefined })
  }

  isWarmSlot(address: Hex, slot: Hex): boolean {
    return this.#slots.get(address)?.has(slot) === true
  }

  /** Whether the slot was cold; it is warm now. */
  warmSlot(address: Hex, slot: Hex): boolean {
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

  // What EthereumJS calls, under its names.

  isWarmedAddress(address: Uint8Array): boolean {
    const key = bytesToHex(address)
    this.#recorder?.address(key)
    return this.isWarm(key)
  }

  addWarmedAddress(address: Uint8Array): void {
    this.warm(bytesToHex(address))
  }

  addAlwaysWarmAddress(address: string): void {
    this.warm(address.startsWith('0x') ? (address as Hex) : `0x${address}`)
  }

  isWarmedStorage(address: Uint8Array, slot: Uint8Array): boolean {
    return this.isWarmSlot(bytesToHex(address), bytesToHex(slot))
  }

  addWarmedStorage(address: Uint8Array, slot: Uint8Array): void {
    this.warmSlot(bytesToHex(address), bytesToHex(slot))
  }

  putAccount(address: Address, account: Account | undefined): Promise<void> {
    return this.#state.putAccount(address, account)
  }

  deleteAccount(address: Address): Promise<void> {
    return this.#state.deleteAccount(address)
  }

  checkpoint(): Promise<void> {
    this.#marks.push(this.#undo.length)
    return this.#state.checkpoint()
  }

  commit(): Promise<void> {
    this.#marks.pop()
    return this.#state.commit()
  }

  revert(): Promise<void> {
    const mark = this.#marks.pop() ?? 0
    for (let i = this.#undo.length - 1; i >= mark; i--) {
      const { address, slot } = this.#undo[i] as Warmed
      if (slot === undefined) this.#addresses.delete(address)
      else this.#slots.get(address)?.delete(slot)
    }
    this.#undo.length = mark
    return this.#state.revert()
  }
}
