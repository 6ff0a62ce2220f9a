import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/*
 * Process id of the store's holder, for error messages: LevelDB's lock excludes others and ends with its process, but does not
 * name it. The file beside the store may be of an earlier holder, so it is meaningful only while the lock is held.
 */

const pathOf = (store: string): string => `${store}.pid`

/** Called with the lock held. Threads share it with their process. */
export const writeLockHolder = (store: string): void => {
  if (isMainThread) writeFileSync(pathOf(store), `${process.pid}\n`, { mode: 0o600 })
}

/** Returns the process id; undefined when there is none. */
export const readLockHolder = (store: string): number | undefined => {
  try {
    const pid = Number(readFileSync(pathOf(store), 'utf8'))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    // No readable file: the error is reported without it.
    return undefined
  }
}
