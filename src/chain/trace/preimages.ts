import { keccak256Hex } from '../../crypto/hash.ts'
import { createAddress } from '../../primitives/address.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { type Hex, hexToBytes, toWord } from '../../util/bytes.ts'
import { BodyRow } from '../store/body-row.ts'

/*
 * The state is stored under hashes, and what was hashed is not kept. Known all the same are the slots of plain variables, and
 * addresses that stand in transactions.
 */

const hashOf = (hex: Hex): Hex => keccak256Hex(hexToBytes(hex))

/** Slots in which a compiler puts the variables of a contract. */
const PLAIN_SLOTS = 256
let plainSlots: ReadonlyMap<Hex, Hex> | undefined

/** Slot by its keccak, of slots with a small number. */
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

  /** Senders, recipients and contracts created by the newest transactions up to a block, at most so many. */
  async addFromBlocks(store: Store, number: number, limit: number, turn: () => Promise<void>): Promise<void> {
    let left = limit
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
      await turn()
    }
  }
}
