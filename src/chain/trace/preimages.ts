import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { createAddress } from '../../primitives/receipt/address.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { BodyRow } from '../store/body-row.ts'
import type { RequestTimer } from './request-timer.ts'

/* Preimages of hashed keys, which are not stored: slots of plain variables and addresses in transactions are known all the same. */

const hashOf = (hex: Hex): Hex => keccak256Hex(hexToBytes(hex))

/** Number of slots in which a compiler puts a contract's variables. */
const PLAIN_SLOTS = 256
let plainSlots: ReadonlyMap<Hex, Hex> | undefined

/** Returns the slot of a keccak, for small slot numbers. */
export const slotPreimage = (hash: Hex): Hex | undefined => {
  plainSlots ??= new Map(
    Array.from({ length: PLAIN_SLOTS }, (_, i) => toWord(BigInt(i))).map(slot => [hashOf(slot), slot]),
  )
  return plainSlots.get(hash)
}

/** Addresses by their keccak. */
export class AddressPreimages {
  readonly #byHash = new Map<Hex, Hex>()

  add(address: Hex): void {
    this.#byHash.set(hashOf(address), address)
  }

  get(hash: Hex): Hex | undefined {
    return this.#byHash.get(hash)
  }

  /** Adds senders, recipients and created contracts of the newest transactions up to a block. */
  async addFromBlocks(store: Store, number: number, timer: RequestTimer): Promise<void> {
    let left: number = TRACE_LIMITS.addressTransactions
    for (let at = number; at > 0 && left > 0; at--) {
      const row = await store.get(BUCKETS.body, numberKey(at))
      const body = row && new BodyRow(row)
      // An empty block counts too: there may be millions.
      left -= 1 + (body?.count ?? 0)
      for (let index = 0; index < (body?.count ?? 0); index++) {
        const { from, to, nonce } = (body as BodyRow).transaction(index)
        this.add(from)
        this.add(to ?? createAddress(from, nonce))
      }
      await timer.turn()
    }
  }
}
