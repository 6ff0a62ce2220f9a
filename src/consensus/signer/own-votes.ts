import { bytesEqual } from '@tandem/base/bytes.ts'
import { comparePositions, type LastSignature, type SignPosition } from '../wal/watermark.ts'

/**
 * Record of this validator's own votes, to tell them from votes made elsewhere with its key (docs/design/consensus.md#evidence). Positions
 * up to `before`, the last one of earlier runs, can be checked only if they are still recorded.
 */
export class OwnVotes {
  readonly #before: SignPosition | null
  readonly #digests = new Map<number, Map<string, Uint8Array>>()

  constructor(before: LastSignature | null) {
    this.#before = before
    if (before !== null) this.remember(before, before.digest)
  }

  /** Number of recorded positions, for the bound on memory. */
  get size(): number {
    let size = 0
    for (const digests of this.#digests.values()) size += digests.size
    return size
  }

  remember(position: SignPosition, digest: Uint8Array): void {
    const digests = this.#digests.get(position.number) ?? new Map<string, Uint8Array>()
    this.#digests.set(position.number, digests)
    digests.set(placeOf(position), digest)
  }

  /** Returns true when this signature must have been made elsewhere. */
  isForeign(position: SignPosition, digest: Uint8Array): boolean {
    const known = this.#digests.get(position.number)?.get(placeOf(position))
    if (known !== undefined) return !bytesEqual(known, digest)
    return this.#before === null || comparePositions(position, this.#before) > 0
  }

  /** Drops heights below `number`. */
  forgetBelow(number: number): void {
    for (const known of this.#digests.keys()) if (known < number) this.#digests.delete(known)
  }
}

const placeOf = ({ round, step }: SignPosition): string => `${round} ${step}`
