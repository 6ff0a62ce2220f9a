import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/*
 * Whose process has a store open, for people: LevelDB's lock keeps others out and ends with its process, but does not tell whose
 * it is. The file beside the store may be of an earlier holder, so it says something only while the lock is held.
 */

const pathOf = (store: string): string => `${store}.pid`

/** To be called with the lock held. Threads share it with their process. */
export const writeLockHolder = (store: string): void => {
  if (isMainThread) writeFileSync(pathOf(store), `${process.pid}\n`, { mode: 0o600 })
}

/** The process id, or undefined when nobody left one. */
export const readLockHolder = (store: string): number | undefined => {
  try {
    const pid = Number(readFileSync(pathOf(store), 'utf8'))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    // No file, or none this user may read: the refusal stands without it.
    return undefined
  }
}
