import { bytesEqual } from '../../util/bytes.ts'
import { comparePositions, type LastSignature, type SignPosition } from './watermark.ts'

/**
 * What this validator signed, so that a vote with its key that it did not make is told from its own (docs/design/consensus.md#evidence). Of
 * positions up to `before`, the last one of its earlier lives, only those it still remembers can be told.
 */
export class OwnVotes {
  readonly #before: SignPosition | null
  readonly #digests = new Map<number, Map<string, Uint8Array>>()

  constructor(before: LastSignature | null) {
    this.#before = before
    if (before !== null) this.remember(before, before.digest)
  }

  /** Positions remembered, for the bound on memory. */
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

  /** Whether somebody else must have signed this. */
  isForeign(position: SignPosition, digest: Uint8Array): boolean {
    const known = this.#digests.get(position.number)?.get(placeOf(position))
    if (known !== undefined) return !bytesEqual(known, digest)
    return this.#before === null || comparePositions(position, this.#before) > 0
  }

  /** Forgets heights below `numberField`. */
  forgetBelow(number: number): void {
    for (const known of this.#digests.keys()) if (known < number) this.#digests.delete(known)
  }
}

const placeOf = ({ round, step }: SignPosition): string => `${round} ${step}`
