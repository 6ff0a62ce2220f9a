import type { Hex } from '../../util/bytes.ts'

/** A node's own word on where it can be reached, signed by its node key (identity/peer-record.ts). */
export interface PeerRecord {
  /** Grows with each change; of two records of a node the higher counts. */
  readonly sequence: number
  /** Node id, 64 hex digits. */
  readonly id: string
  /** An IP address, as text. */
  readonly host: string
  readonly port: number
  /** The validator it speaks for, as it says; who connects proves it anew. */
  readonly validator: Hex | null
  /** The record as signed. */
  readonly bytes: Uint8Array
}

/** The newest record of each node, of a bounded number of nodes: a new one takes the place of one at random. */
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

  /** Whether a record of this node and number would be news. */
  isNews(id: string, sequence: number): boolean {
    return (this.#records.get(id)?.sequence ?? -1) < sequence
  }

  /**
   * Keeps a record whose signature was checked; answers who had to go. Nodes in `pinned` stay: a flood of made-up nodes
   * must not push out those one talks to.
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

  /** Up to `count` records but that of `except`, by chance: `random` answers a number from 0 to 1 each time. */
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
