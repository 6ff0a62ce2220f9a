import type { Hex } from '@tandem/base/bytes.ts'
import type { Account } from '../account.ts'

export interface AccountChange {
  readonly before: Account | undefined
  readonly after: Account | undefined
}
interface SlotChange {
  readonly before: Hex
  readonly after: Hex
}
/** Slot deleted with its account; only its hashed key is known. */
export interface DroppedSlot {
  readonly key: Uint8Array
  readonly before: Uint8Array
}

/** State changes of a block with their root: written when the block commits. */
export interface StateUpdate {
  readonly parentRoot: Hex
  readonly root: Hex
  /** Every account whose row changes, with its storage root filled in. */
  readonly accounts: ReadonlyMap<Hex, AccountChange>
  readonly storage: ReadonlyMap<Hex, ReadonlyMap<Hex, SlotChange>>
  readonly code: ReadonlyMap<Hex, Uint8Array>
  /** Accounts whose earlier storage is gone. */
  readonly cleared: ReadonlySet<Hex>
  readonly dropped: readonly DroppedSlot[]
}
