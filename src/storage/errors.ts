import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { CodedError, isCoded } from '@tandem/base/errors.ts'

/** Errors of Store and schema, thrown as CodedError. */
type StoreError =
  /** Another process has the data directory open; `pid` when known. */
  | { readonly code: 'STORE_LOCKED'; readonly path: string; readonly pid?: number }
  | { readonly code: 'STORE_CORRUPT'; readonly path: string; readonly reason: string }
  | { readonly code: 'STORE_OPEN_FAILED'; readonly path: string; readonly reason: string }
  | { readonly code: 'STORE_CLOSED'; readonly path: string }
  | { readonly code: 'STORE_READ_FAILED'; readonly path: string; readonly reason: string }
  /** The batch may be there at the next start. */
  | { readonly code: 'STORE_WRITE_FAILED'; readonly path: string; readonly reason: string }
  /** The machine lost unsynced rows of blocks that were being imported. */
  | { readonly code: 'STORE_INCOMPLETE'; readonly path: string; readonly since: number; readonly head: number }
  /** The directory holds a LevelDB of another program. */
  | { readonly code: 'STORE_FOREIGN'; readonly path: string }
  | { readonly code: 'SCHEMA_UNKNOWN'; readonly path: string; readonly found: number; readonly supported: number }
  | { readonly code: 'NETWORK_MISMATCH'; readonly path: string; readonly found: string; readonly expected: string }
  /** The chain has blocks under a fork that was at another height; null: not scheduled. */
  | {
      readonly code: 'FORKS_CHANGED'
      readonly path: string
      readonly fork: string
      readonly found: number | null
      readonly expected: number | null
      readonly head: number
    }
  | { readonly code: 'GENESIS_MISMATCH'; readonly path: string; readonly found: string; readonly expected: string }

export const storeError = (detail: StoreError, cause?: unknown): CodedError<StoreError> =>
  new CodedError(detail, cause === undefined ? undefined : { cause })

/** True for an error of the store: of this node's disk or data, not of a peer. */
export const isStoreError = (error: unknown): error is CodedError<StoreError> =>
  isCoded(error) && error.code.startsWith('STORE_')

const LEVEL_CODES = {
  LEVEL_LOCKED: 'STORE_LOCKED',
  LEVEL_CORRUPTION: 'STORE_CORRUPT',
  LEVEL_DATABASE_NOT_OPEN: 'STORE_CLOSED',
} as const

/** Returns the innermost code of an error: abstract-level wraps a failed open. */
const levelCode = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const own = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return levelCode(error.cause) ?? own
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}

/** Converts a LevelDB failure to a StoreError; `fallback` names the operation that failed. */
export const storeErrorFromLevel = (
  error: unknown,
  path: string,
  fallback: 'STORE_OPEN_FAILED' | 'STORE_READ_FAILED' | 'STORE_WRITE_FAILED',
): CodedError<StoreError> => {
  const known = LEVEL_CODES[(levelCode(error) ?? '') as keyof typeof LEVEL_CODES]
  if (known === 'STORE_LOCKED') return storeError({ code: known, path, ...holderOf(path) }, error)
  if (known === 'STORE_CLOSED' && fallback !== 'STORE_OPEN_FAILED') return storeError({ code: known, path }, error)
  if (known === 'STORE_CORRUPT') return storeError({ code: known, path, reason: reasonOf(error) }, error)
  return storeError({ code: fallback, path, reason: reasonOf(error) }, error)
}

/*
 * Process id of the store's holder, for error messages: LevelDB's lock excludes others and ends with its process, but does not
 * name it. The file beside the store may be of an earlier holder, so it is meaningful only while the lock is held.
 */

const pathOf = (store: string): string => `${store}.pid`

/** Called with the lock held. Threads share it with their process. */
export const writeLockHolder = (store: string): void => {
  if (isMainThread) writeFileSync(pathOf(store), `${process.pid}\n`, { mode: 0o600 })
}

const holderOf = (store: string): { readonly pid?: number } => {
  try {
    const pid = Number(readFileSync(pathOf(store), 'utf8'))
    return Number.isSafeInteger(pid) && pid > 0 ? { pid } : {}
  } catch {
    // No readable file: the error is reported without it.
    return {}
  }
}
