import { getSystemErrorMessage } from 'node:util'
import { CodedError, isCoded } from '@tandem/base/errors.ts'

/** The file, or a test in it, is not a state test; `path` is the place. */
interface StateTestError {
  readonly code: 'STATE_TEST_INVALID'
  readonly path: string
  readonly problem: string
}

/** Throws STATE_TEST_INVALID where a value has another shape. */
export type FieldReader = (value: unknown, path: string) => void

export const invalidTest = (path: string, problem: string): CodedError<StateTestError> =>
  new CodedError({ code: 'STATE_TEST_INVALID', path, problem })

/**
 * Returns the text of a problem for a line of output: the place of a malformed test, or the error of the system or the
 * execution.
 */
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
  throw invalidTest(path, 'want an object')
}

const text =
  (pattern: RegExp, problem: string): FieldReader =>
  (value, path) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw invalidTest(path, problem)
  }

/** Whole bytes. */
export const bytesField = text(/^0x(?:[0-9a-f]{2})*$/i, 'want bytes: 0x and an even number of hex digits')
/** Number of at most 32 bytes, in the lengths that the suites use. */
export const numberField = text(/^0x[0-9a-f]{1,64}$/i, 'want a number: 0x and at most 64 hex digits')
/** The suites mark values that are too large for their field with this word. */
export const anyNumberField = text(/^(?:0x:bigint )?0x[0-9a-f]{1,130}$/i, 'want a number: 0x and hex digits')
export const addressField = text(/^0x[0-9a-f]{40}$/i, 'want an address: 0x and 40 hex digits')
export const optionalAddressField = text(/^(?:0x[0-9a-f]{40})?$/i, 'want an address, or "" for a creation')
export const hashField = text(/^0x[0-9a-f]{64}$/i, 'want a hash: 0x and 64 hex digits')

/** Index of a list. */
export const indexField: FieldReader = (value, path) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalidTest(path, 'want a place in a list, from 0')
}

export const nullableField =
  (fieldReader: FieldReader): FieldReader =>
  (value, path) => {
    if (value !== null) fieldReader(value, path)
  }

export const listField =
  (item: FieldReader): FieldReader =>
  (value, path) => {
    if (!Array.isArray(value)) throw invalidTest(path, 'want a list')
    for (const [i, each] of value.entries()) item(each, `${path}[${i}]`)
  }

/** Object with any keys, or with keys of a given shape. */
export const recordField =
  (value: FieldReader, key?: FieldReader): FieldReader =>
  (record, path) => {
    for (const [name, each] of Object.entries(membersOf(record, path))) {
      key?.(name, `${path}: key "${name}"`)
      value(each, `${path}.${name}`)
    }
  }

/** Object with these members; others are ignored, since the suites add some with every release. */
export const objectField =
  (
    required: Readonly<Record<string, FieldReader>>,
    optional: Readonly<Record<string, FieldReader>> = {},
  ): FieldReader =>
  (value, path) => {
    const members = membersOf(value, path)
    for (const [name, fieldReader] of Object.entries(required)) {
      if (members[name] === undefined) throw invalidTest(path, `"${name}" is missing`)
      fieldReader(members[name], `${path}.${name}`)
    }
    for (const [name, fieldReader] of Object.entries(optional)) {
      if (members[name] !== undefined) fieldReader(members[name], `${path}.${name}`)
    }
  }
