import { existsSync, renameSync } from 'node:fs'
import type { ContractStore } from './contract-store.ts'
import type { IndexDatabase } from './open-index.ts'
import { SqlContracts } from './sql/sql-contracts.ts'
import type { SqlDatabase, SqlRow } from './sql/sql-database.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'

/** Opens verified contracts in a file of their own. Throws CONTRACTS_TOO_NEW. */
export const openContractFile = (path: string): ContractStore => {
  const file = new SqliteDatabase({ path, isApart: true })
  return new SqlContracts(file, file)
}

/**
 * Opens the verified contracts of an index that its writer has opened before: in a file of their own, or in the PostgreSQL database of the
 * index, which takes over those of the file once. Throws CONTRACTS_TOO_NEW and DATABASE_UNREACHABLE.
 */
export const openContracts = async (database: IndexDatabase, path: string): Promise<ContractStore> => {
  if (database.kind === 'sqlite') return openContractFile(path)
  const { PostgresDatabase } = await import('./postgres/postgres-database.ts')
  const { url, readUrl = url } = database
  const [reads, writes] = await Promise.all([
    PostgresDatabase.open({ url: readUrl, readOnly: true }),
    PostgresDatabase.open({ url, isApart: true }),
  ])
  if (existsSync(path)) {
    await adopt(path, writes)
    // Kept for the operator, and not read again.
    renameSync(path, `${path}.moved`)
  }
  return new SqlContracts(reads, writes)
}

/** Adds the contracts of a file that are not there yet. */
const adopt = async (path: string, database: SqlDatabase): Promise<void> => {
  const file = new SqliteDatabase({ path, isApart: true })
  try {
    await database.transaction(async writes => {
      for (const { address } of await file.all('SELECT address FROM contract')) {
        const row = await file.get('SELECT name, record FROM contract WHERE address = ?', address ?? null)
        const { name = null, record = null } = row as SqlRow
        await writes.run(
          'INSERT INTO contract (address, name, record) VALUES (?, ?, ?) ON CONFLICT (address) DO NOTHING',
          ...[address ?? null, name, record],
        )
      }
    })
  } finally {
    await file.close()
  }
}
