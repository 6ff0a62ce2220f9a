import { CodedError } from '@tandem/base/errors.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import type { NextBlockFields } from '../block/block-env.ts'
import type { SavedTime } from './dev-time.ts'
import type { RewindTarget } from './rewind.ts'

export type DevSnapshotError = { readonly code: 'TOO_MANY_SNAPSHOTS'; readonly limit: number }

/** State restored by a snapshot. */
interface DevSnapshotState {
  readonly target: RewindTarget
  readonly time: SavedTime
  readonly choices: NextBlockFields
  /** Raw transactions that were in the pool. */
  readonly waiting: readonly Uint8Array[]
}

/** Snapshots by id; ids start at 1 and are never reused. They live as long as the process. */
export class DevSnapshots {
  readonly #states = new Map<number, DevSnapshotState>()
  #lastId = 0

  /** Throws TOO_MANY_SNAPSHOTS. */
  add(state: DevSnapshotState): number {
    const limit = DEV_LIMITS.snapshots
    if (this.#states.size >= limit) throw new CodedError<DevSnapshotError>({ code: 'TOO_MANY_SNAPSHOTS', limit })
    this.#states.set(++this.#lastId, state)
    return this.#lastId
  }

  get(id: number): DevSnapshotState | undefined {
    return this.#states.get(id)
  }

  /** Reverting to a snapshot deletes it and all later ones. */
  dropFrom(id: number): void {
    for (const taken of this.#states.keys()) if (taken >= id) this.#states.delete(taken)
  }

  clear(): void {
    this.#states.clear()
  }

  /** Returns the number of the oldest snapshot's block; undefined without snapshots. */
  oldest(): number | undefined {
    // A later snapshot never has an earlier block.
    return this.#states.values().next().value?.target.number
  }

  hasAt(number: number): boolean {
    return [...this.#states.values()].some(({ target }) => target.number === number)
  }
}
