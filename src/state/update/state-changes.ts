import type { Hex } from '../../util/bytes.ts'
import type { Account } from '../account.ts'

/** What one block changed, old and new, as the journal leaves it. Only real changes stand here (old differs from new). */
export interface StateChanges {
  /** Account fields; storageRoot of `after` is filled in when the block is sealed. undefined: does not exist. */
  readonly accounts: ReadonlyMap<Hex, { readonly before: Account | undefined; readonly after: Account | undefined }>
  /** address -> slot -> words. */
  readonly storage: ReadonlyMap<Hex, ReadonlyMap<Hex, { readonly before: Hex; readonly after: Hex }>>
  /**
   * Accounts whose earlier storage is all gone (deleted, or created anew): slots not named in `storage` are zero now, and
   * `storage` names all that stand, also with an old word that was written anew.
   */
  readonly cleared?: ReadonlySet<Hex>
  /** Code stored for the first time, by hash. */
  readonly code: ReadonlyMap<Hex, Uint8Array>
}
