/**
 * Expected failure with a code and its own fields; only `rpc/errors.ts` turns it into client-visible text. `type
 * PoolError = { code: 'NONCE_TOO_LOW'; expected: number; got: number } | ...`
 */
export class CodedError<Detail extends { readonly code: string } = { readonly code: string }> extends Error {
  override readonly name = 'CodedError'
  readonly detail: Detail

  constructor(detail: Detail, options?: ErrorOptions) {
    super(describe(detail), options)
    this.detail = detail
  }

  get code(): Detail['code'] {
    return this.detail.code
  }
}

/** Bytes by their number: as a list of megabytes they would take seconds. */
const describe = (detail: { readonly code: string }): string => {
  const short = Object.entries(detail).map(([name, value]: readonly [string, unknown]) => [
    name,
    value instanceof Uint8Array ? `${value.byteLength} bytes` : value,
  ])
  return JSON.stringify(Object.fromEntries(short), (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** Detail of a value that is not the required one. */
export type Mismatch<Code extends string, Value> = Code extends string
  ? { readonly code: Code; readonly have: Value; readonly want: Value }
  : never

export const isCoded = (error: unknown): error is CodedError => error instanceof CodedError

/** Returns the result of `work`, or the CodedError it throws. Rethrows other errors. */
export const resultOrCoded = <T>(work: () => T): T | CodedError => {
  try {
    return work()
  } catch (error) {
    if (isCoded(error)) return error
    throw error
  }
}

/** Returns undefined for a CodedError, where its reason is not needed. */
export const undefinedIfCoded = <T>(work: () => T): T | undefined => {
  const answer = resultOrCoded(work)
  return isCoded(answer) ? undefined : answer
}

/** System errors of a disk that is full, fails, or is read-only. */
const DISK_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'])

/** Result codes of SQLite for the same: READONLY, IOERR, FULL, CANTOPEN; extended ones have them in their low byte. */
const SQLITE_DISK_ERRORS: ReadonlySet<number> = new Set([8, 10, 13, 14])

const isSqliteDiskError = (error: Error): boolean =>
  'errcode' in error && typeof error.errcode === 'number' && SQLITE_DISK_ERRORS.has(error.errcode & 0xff)

/** True for the error of SQLite when another process holds a database. */
export const isDatabaseLocked = (error: unknown): boolean =>
  error instanceof Error && /locked|busy/i.test(error.message)

/** True for a system error, or one with such a cause, that another attempt does not mend before somebody looks after the disk. */
export const isDiskError = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && DISK_ERRORS.has(error.code)) || isSqliteDiskError(error) || isDiskError(error.cause))

/** Runs work on a file; an error of the disk names the file, which SQLite leaves out. */
export const namingFile = <T>(path: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw isDiskError(error) ? Object.assign(error as Error, { path }) : error
  }
}

/** Returns the message of an error and of its cause. */
export const messageWithCause = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
