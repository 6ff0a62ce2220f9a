import { bytesToHex, copyBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store } from '../../storage/store.ts'

/** Database rows of evidence that no block holds yet, by accused validator. They survive a restart. */
export class EvidenceRows {
  readonly #store: Store
  readonly #logger: Logger
  #writing: Promise<void> = Promise.resolve()

  constructor(store: Store, logger: Logger) {
    this.#store = store
    this.#logger = logger
  }

  async load(): Promise<readonly { readonly offender: Hex; readonly encoded: Uint8Array }[]> {
    const rows: { readonly offender: Hex; readonly encoded: Uint8Array }[] = []
    for await (const [key, encoded] of this.#store.entries(BUCKETS.evidence))
      rows.push({ offender: bytesToHex(key), encoded: copyBytes(encoded) })
    return rows
  }

  put(offender: Hex, encoded: Uint8Array): void {
    this.#write(offender, encoded)
  }

  remove(offender: Hex): void {
    this.#write(offender, undefined)
  }

  /** Writes in order; a failure is only logged, since no caller waits and the store ends the node. */
  #write(offender: Hex, encoded: Uint8Array | undefined): void {
    this.#writing = this.#writing.then(async () => {
      try {
        const batch = this.#store.batch()
        if (encoded === undefined) batch.del(BUCKETS.evidence, hexToBytes(offender))
        else batch.put(BUCKETS.evidence, hexToBytes(offender), encoded)
        await batch.write()
      } catch (error) {
        this.#logger.error({ err: error, validator: offender }, 'evidence not written')
      }
    })
  }

  /** Resolves when everything so far is on disk. */
  written(): Promise<void> {
    return this.#writing
  }
}
