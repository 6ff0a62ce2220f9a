import type { Hex } from '../../util/bytes.ts'

/** Record of a node's address, signed with its node key (identity/peer-record.ts). */
export interface PeerRecord {
  /** Grows with each change; of two records of a node the higher counts. */
  readonly sequence: number
  /** Node id, 64 hex digits. */
  readonly id: string
  /** An IP address, as text. */
  readonly host: string
  readonly port: number
  /** The validator it claims to represent; a handshake has to prove it. */
  readonly validator: Hex | null
  /** The record as signed. */
  readonly bytes: Uint8Array
}

/** Newest record of each node, for a bounded number of nodes: when full, a new record replaces a random one. */
export class AddressBook {
  readonly #limit: number
  readonly #records = new Map<string, PeerRecord>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#records.size
  }

  get(id: string): PeerRecord | undefined {
    return this.#records.get(id)
  }

  /** Returns true when a record of this node and sequence number is newer than the known one. */
  isNews(id: string, sequence: number): boolean {
    return (this.#records.get(id)?.sequence ?? -1) < sequence
  }

  /**
   * Stores a record with a verified signature; returns the id of the evicted node. Nodes in `pinned` are never evicted,
   * so that a flood of invented nodes cannot displace connected ones.
   */
  put(record: PeerRecord, pinned: (id: string) => boolean, random: number): string | undefined {
    let gone: string | undefined
    if (!this.#records.has(record.id) && this.#records.size >= this.#limit) {
      const loose = [...this.#records.keys()].filter(id => !pinned(id))
      gone = loose[Math.min(loose.length - 1, Math.floor(random * loose.length))]
      if (gone === undefined) return record.id
      this.#records.delete(gone)
    }
    this.#records.set(record.id, record)
    return gone
  }

  remove(id: string): void {
    this.#records.delete(id)
  }

  /** Returns up to `count` random records except that of `except`; `random` returns numbers from 0 to 1. */
  sample(count: number, except: string, random: () => number): readonly PeerRecord[] {
    const pool = [...this.#records.values()].filter(({ id }) => id !== except)
    for (let at = 0; at < Math.min(count, pool.length); at++) {
      const other = at + Math.floor(random() * (pool.length - at))
      const [here, there] = [pool[at] as PeerRecord, pool[other] as PeerRecord]
      pool[at] = there
      pool[other] = here
    }
    return pool.slice(0, count)
  }

  all(): readonly PeerRecord[] {
    return [...this.#records.values()]
  }
}
