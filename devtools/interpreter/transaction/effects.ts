import type { Hex } from '@tandem/base/bytes.ts'
import { transferLogOf } from '../../../src/evm/engines/transfer-logs.ts'
import type { InternalTransfer } from '../../../src/primitives/receipt/internal-transfer.ts'
import type { Log } from '../../../src/primitives/receipt/log.ts'

/** Addresses in insertion order, with a revert to a mark. */
class UndoSet {
  readonly #members = new Set<Hex>()
  readonly #order: Hex[] = []

  get size(): number {
    return this.#order.length
  }

  has(member: Hex): boolean {
    return this.#members.has(member)
  }

  add(member: Hex): void {
    if (this.#members.has(member)) return
    this.#members.add(member)
    this.#order.push(member)
  }

  truncate(size: number): void {
    for (let i = this.#order.length - 1; i >= size; i--) this.#members.delete(this.#order[i] as Hex)
    this.#order.length = size
  }

  values(): readonly Hex[] {
    return this.#order
  }
}

interface EffectsMark {
  readonly logs: number
  readonly internal: number
  readonly destroyed: number
  readonly created: number
}

/**
 * Logs, internal transfers, self-destructs and created accounts of one message. All frames append to the same lists; a failing frame truncates them to
 * their length at its start, so that the cost is that of its own effects.
 */
export class MessageEffects {
  readonly logs: Log[] = []
  /** Logs of transfers of wei (ERC-7528). */
  readonly transfers = new Set<Log>()
  readonly internal: InternalTransfer[] = []
  readonly destroyed = new UndoSet()
  readonly created = new UndoSet()

  addTransfer(from: Hex, to: Hex, wei: bigint): void {
    const log = transferLogOf(from, to, wei)
    this.transfers.add(log)
    this.logs.push(log)
  }

  revert({ logs, internal, destroyed, created }: EffectsMark): void {
    this.logs.length = logs
    this.internal.length = internal
    this.destroyed.truncate(destroyed)
    this.created.truncate(created)
  }
}
