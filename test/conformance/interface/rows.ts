import { readFileSync } from 'node:fs'

/** One row of a table of docs/interface.md. */
export interface InterfaceRow {
  /** Heading above the table. */
  readonly section: string
  /** First cell, without backticks; cells of several names make a row each. */
  readonly key: string
  /** Cells by the name of their column. */
  readonly cells: Readonly<Record<string, string>>
}

/** Columns whose cells list several names. */
const SEVERAL = ['methods', 'members', 'paths and members']

const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, -1)
    .split('|')
    .map(cell => cell.trim())

const plain = (text: string): string => text.replaceAll('`', '')

/** Returns every row of every table of the page. */
export const interfaceRows = (): readonly InterfaceRow[] => {
  const lines = readFileSync(new URL('../../../docs/interface.md', import.meta.url), 'utf8').split('\n')
  const rows: InterfaceRow[] = []
  let section = ''
  let columns: readonly string[] = []
  for (const [index, line] of lines.entries()) {
    const heading = /^#{2,3} (.+)$/.exec(line)?.[1]
    if (heading !== undefined) section = heading
    if (!line.startsWith('|')) columns = []
    else if (columns.length === 0) columns = cellsOf(line)
    else if (!/^\|-/.test(line)) {
      const values = cellsOf(line)
      const cells = Object.fromEntries(columns.map((name, at) => [name, values[at] ?? '']))
      // Errors are told apart by code and text, transports by rule.
      const first = columns[0] === 'code' ? `${values[0]} ${values[1]}` : (values[0] ?? '')
      const keys = SEVERAL.includes(columns[0] ?? '') ? first.split(', ') : [first]
      if (values.length !== columns.length) throw new Error(`docs/interface.md:${index + 1}: a row of other cells`)
      for (const key of keys) rows.push({ section, key: plain(key), cells })
    }
  }
  return rows
}

/** Returns the rows of one table of members, as an object of that kind must have them. */
export const membersOf = (section: string): readonly InterfaceRow[] =>
  interfaceRows().filter(row => row.section === section)
