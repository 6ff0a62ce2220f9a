import { asBuffer } from '@tandem/base/bytes.ts'
import type { SqlRow, SqlValue } from '../sql/sql-database.ts'

/* Values as PostgreSQL reads them in texts: arrays of a query, and lines of COPY. */

const hexOf = (bytes: Uint8Array): string => asBuffer(bytes).hexSlice(0, bytes.byteLength)

/** Digits of bytes, which may be given as hex. */
const digitsOf = (value: string | Uint8Array): string => (typeof value === 'string' ? value.slice(2) : hexOf(value))

const arrayItem = (value: SqlValue): string => {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`
  return `"\\\\x${hexOf(value)}"`
}

/** Literal of an array. */
export const arrayText = (values: readonly SqlValue[]): string => `{${values.map(arrayItem).join(',')}}`

/** Literal of an array of bytes. */
export const bytesArrayText = (values: readonly SqlValue[]): string =>
  `{${values.map(value => (value === null ? 'NULL' : `"\\\\x${digitsOf(value as string | Uint8Array)}"`)).join(',')}}`

/** Type of the array of values like this one. */
const arrayType = (value: SqlValue): string => {
  if (typeof value === 'number') return 'bigint[]'
  return typeof value === 'string' ? 'text[]' : 'bytea[]'
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const copyField = (value: SqlValue, isBytes: boolean): string => {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  if (isBytes || typeof value !== 'string') return `\\\\x${digitsOf(value)}`
  return /[\\\n\r\t]/.test(value) ? value.replace(/[\\\n\r\t]/g, found => ESCAPED[found] as string) : value
}

const CHUNK_ROWS = 500

interface CopiedColumn {
  readonly name: string
  readonly isBytes: boolean
}

/** Lines of COPY, a few hundred at a time. */
export function* copyText(columns: readonly CopiedColumn[], rows: readonly SqlRow[]): Generator<string> {
  for (let at = 0; at < rows.length; at += CHUNK_ROWS) {
    let text = ''
    for (const row of rows.slice(at, at + CHUNK_ROWS)) {
      let separator = ''
      for (const { name, isBytes } of columns) {
        text += separator + copyField(row[name] ?? null, isBytes)
        separator = '\t'
      }
      text += '\n'
    }
    yield text
  }
}

/** A query with its places numbered; every ? is one. */
export const numbered = (sql: string): string => {
  let at = 0
  return sql.replace(/\?/g, () => `$${++at}`)
}

/**
 * A query that runs another one for each of a list of keys, in their order; the parts of the keys are arrays. Each kind of key has one text,
 * whatever the number of keys.
 */
export const lookUpText = (sql: string, key: readonly SqlValue[]): string => {
  let at = 0
  const names = key.map((_, part) => `k${part}`)
  const arrays = key.map((value, part) => `$${part + 1}::${arrayType(value)}`)
  const inner = sql.replace(/\?/g, () => `keys.k${at++}`)
  return `SELECT found.* FROM unnest(${arrays}) WITH ORDINALITY AS keys (${names}, place) CROSS JOIN LATERAL (${inner}) AS found ORDER BY keys.place`
}
