import { plainText } from '../../chain/plain-text.ts'

/** Cell of a table as a file has it. */
export type CsvValue = string | number | null

const CELL_CHARS = 256
/** Spreadsheets take what begins so as a formula. */
const FORMULA = /^[=+\-@\t\r]/

/** A cell: without invisible characters, never a formula, in quotes where it must be (RFC 4180). */
const cellText = (value: CsvValue): string => {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const shown = plainText(value, CELL_CHARS) ?? ''
  const text = FORMULA.test(shown) ? `'${shown}` : shown
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A table as comma-separated values. */
export const csvText = (columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string =>
  [columns, ...rows].map(row => `${row.map(cellText).join(',')}\r\n`).join('')
