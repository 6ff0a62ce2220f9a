import type { Hex } from '@tandem/base/bytes.ts'
import { criteriaKey, type LogCriteria } from '../../chain/store/log-criteria.ts'

/** Handle of one user of shared criteria. */
export interface Shared {
  readonly key: Hex
  readonly criteria: LogCriteria
  /** Called at most once. */
  release(): void
}

/** Criteria of filters and subscriptions: equal ones are kept once, until the last user releases them. */
export class SharedCriteria {
  readonly #known = new Map<Hex, { readonly criteria: LogCriteria; users: number }>()

  get size(): number {
    return this.#known.size
  }

  take(criteria: LogCriteria): Shared {
    const key = criteriaKey(criteria)
    const known = this.#known.get(key) ?? { criteria, users: 0 }
    known.users++
    this.#known.set(key, known)
    return {
      key,
      criteria: known.criteria,
      release: () => {
        if (--known.users === 0) this.#known.delete(key)
      },
    }
  }
}
