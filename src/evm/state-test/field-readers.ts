import { getSystemErrorMessage } from 'node:util'
import { CodedError, isCoded } from '../../util/errors.ts'

/** A file, or a test in it, is not what this command runs; `path` is where. */
export interface StateTestError {
  readonly code: 'STATE_TEST_INVALID'
  readonly path: string
  readonly problem: string
}

/** Throws STATE_TEST_INVALID where a value has another shape. */
export type Shape = (value: unknown, path: string) => void

export const invalid = (path: string, problem: string): CodedError<StateTestError> =>
  new CodedError({ code: 'STATE_TEST_INVALID', path, problem })

/** In words, for a line of output: where a test is not as it should be, or what the system or the execution says. */
export const problemText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { errno } = error as NodeJS.ErrnoException
  if (errno !== undefined) return getSystemErrorMessage(errno)
  if (!isCoded(error) || error.code !== 'STATE_TEST_INVALID') return error.message
  const { path, problem } = error.detail as StateTestError
  return `${path}: ${problem}`
}

const membersOf = (value: unknown, path: string): Readonly<Record<string, unknown>> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid(path, 'want an object')
}

const text =
  (pattern: RegExp, problem: string): Shape =>
  (value, path) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw invalid(path, problem)
  }

/** Bytes; whole ones. */
export const bytes = text(/^0x(?:[0-9a-f]{2})*$/i, 'want bytes: 0x and an even number of hex digits')
/** A number of at most 32 bytes, in whatever length the suites write it. */
export const number = text(/^0x[0-9a-f]{1,64}$/i, 'want a number: 0x and at most 64 hex digits')
/** The suites mark what is too large for its field by this word. */
export const anyNumber = text(/^(?:0x:bigint )?0x[0-9a-f]{1,130}$/i, 'want a number: 0x and hex digits')
export const address = text(/^0x[0-9a-f]{40}$/i, 'want an address: 0x and 40 hex digits')
export const addressOrNone = text(/^(?:0x[0-9a-f]{40})?$/i, 'want an address, or "" for a creation')
export const hash = text(/^0x[0-9a-f]{64}$/i, 'want a hash: 0x and 64 hex digits')

/** A place in a list. */
export const index: Shape = (value, path) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid(path, 'want a place in a list, from 0')
}

export const orNull =
  (shape: Shape): Shape =>
  (value, path) => {
    if (value !== null) shape(value, path)
  }

export const listOf =
  (item: Shape): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) throw invalid(path, 'want a list')
    for (const [i, each] of value.entries()) item(each, `${path}[${i}]`)
  }

/** An object of any keys, or of keys of a shape. */
export const recordOf =
  (value: Shape, key?: Shape): Shape =>
  (record, path) => {
    for (const [name, each] of Object.entries(membersOf(record, path))) {
      key?.(name, `${path}: key "${name}"`)
      value(each, `${path}.${name}`)
    }
  }

/** An object with these members; others are passed over, as the suites add some with every release. */
export const object =
  (required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape =>
  (value, path) => {
    const members = membersOf(value, path)
    for (const [name, shape] of Object.entries(required)) {
      if (members[name] === undefined) throw invalid(path, `"${name}" is missing`)
      shape(members[name], `${path}.${name}`)
    }
    for (const [name, shape] of Object.entries(optional)) {
      if (members[name] !== undefined) shape(members[name], `${path}.${name}`)
    }
  }
