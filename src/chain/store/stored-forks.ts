import { asBuffer } from '@tandem/base/bytes.ts'
import { type Fork, isEvmFork } from '../../config/forks.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { storeError } from '../../storage/errors.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'

const KEY = metaKey('forks')

type Heights = Readonly<Record<string, number | null>>

/**
 * Keeps the forks that a store's chain is executed under, which its genesis hash does not name: later forks may still be scheduled anew, those
 * of blocks that are there may not. Throws FORKS_CHANGED. `head` is the number of the newest block.
 */
export const keepForks = async (store: Store, forks: readonly Fork[], head: number): Promise<void> => {
  const given: Heights = Object.fromEntries(
    forks.filter(({ name }) => isEvmFork(name)).map(({ name, height }) => [name, height]),
  )
  const row = await store.get(BUCKETS.meta, KEY)
  const text = JSON.stringify(given)
  const before = row === undefined ? text : asBuffer(row).toString()
  if (row !== undefined) checkForks(store.path, JSON.parse(before) as Heights, given, head)
  if (row === undefined || before !== text) await store.batch().put(BUCKETS.meta, KEY, Buffer.from(text)).write()
}

const checkForks = (path: string, stored: Heights, given: Heights, head: number): void => {
  for (const fork of new Set([...Object.keys(stored), ...Object.keys(given)])) {
    const [found, expected] = [stored[fork] ?? null, given[fork] ?? null]
    const first = Math.min(found ?? Number.POSITIVE_INFINITY, expected ?? Number.POSITIVE_INFINITY)
    if (found === expected || first > head) continue
    throw storeError({ code: 'FORKS_CHANGED', path, fork, found, expected, head })
  }
}
