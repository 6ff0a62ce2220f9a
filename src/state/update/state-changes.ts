import type { Hex } from '@tandem/base/bytes.ts'
import type { Account } from '../account.ts'

/**
 * Changes of one block, old and new values, as collected from the journal. Only real changes are included (old differs
 * from new).
 */
export interface StateChanges {
  /** Account fields; storageRoot of `after` is filled in with the root. undefined: does not exist. */
  readonly accounts: ReadonlyMap<Hex, { readonly before: Account | undefined; readonly after: Account | undefined }>
  /** address -> slot -> words. */
  readonly storage: ReadonlyMap<Hex, ReadonlyMap<Hex, { readonly before: Hex; readonly after: Hex }>>
  /**
   * Accounts whose earlier storage is gone (deleted, or created anew): slots not in `storage` are zero now, and `storage`
   * holds all that are set, also an old word that was written anew.
   */
  readonly cleared?: ReadonlySet<Hex>
  /** Code stored for the first time, by hash. */
  readonly code: ReadonlyMap<Hex, Uint8Array>
}
