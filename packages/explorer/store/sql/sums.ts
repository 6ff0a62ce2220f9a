import { bytesToHex } from '@tandem/base/bytes.ts'
import type { SqlRow, SqlValue, SqlWrites } from './sql-database.ts'

/** Numbers by column; bigints are wei, and stored as text. */
type Sums = Readonly<Record<string, number | bigint>>

/** Columns of a stored row (undefined: there is none) with these numbers added, or taken off (`sign` -1). */
export const sumsOf = (stored: SqlRow | undefined, sums: Sums, sign: 1 | -1 = 1): SqlRow =>
  Object.fromEntries(
    Object.entries(sums).map(([name, by]) => {
      const before = stored?.[name] ?? 0
      return [
        name,
        typeof by === 'number'
          ? Number(before) + sign * by
          : (BigInt(before as string | number) + BigInt(sign) * by).toString(),
      ]
    }),
  )

interface AddedSums {
  /** Primary key of the row. */
  readonly key: Readonly<Record<string, number | Uint8Array>>
  readonly sums: Sums
}

/** Adds numbers to the rows of a table, or takes them off (`sign` -1): where all are 0 then there is no row. */
export const addSums = async (
  writes: SqlWrites,
  table: string,
  added: readonly AddedSums[],
  sign: 1 | -1,
): Promise<void> => {
  const [first] = added
  if (first === undefined) return
  const names = Object.keys(first.key)
  const found = await writes.lookUp(
    `SELECT * FROM ${table} WHERE ${names.map(name => `${name} = ?`).join(' AND ')}`,
    added.map(({ key }) => Object.values(key)),
  )
  const stored = new Map(found.map(row => [keyText(names.map(name => row[name] as SqlValue)), row]))
  const [kept, emptied]: [SqlRow[], SqlRow[]] = [[], []]
  for (const { key, sums } of added) {
    const row = sumsOf(stored.get(keyText(Object.values(key))), sums, sign)
    if (Object.values(row).every(value => Number(value) === 0)) emptied.push(key)
    else kept.push({ ...key, ...row })
  }
  await writes.put(table, kept)
  await writes.remove(table, emptied)
}

const keyText = (key: readonly SqlValue[]): string =>
  key.map(part => (part instanceof Uint8Array ? bytesToHex(part) : part)).join(' ')
