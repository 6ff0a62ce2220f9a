import { existsSync, renameSync } from 'node:fs'
import type { ContractStore } from './contract-store.ts'
import type { IndexDatabase } from './open-index.ts'
import { SqliteContracts } from './sqlite/sqlite-contracts.ts'

/**
 * Opens the verified contracts of an index that its writer has opened before: in a file of their own, or in the PostgreSQL database of the
 * index, which takes over those of the file once. Throws CONTRACTS_TOO_NEW and DATABASE_UNREACHABLE.
 */
export const openContracts = async (database: IndexDatabase, path: string): Promise<ContractStore> => {
  if (database.kind === 'sqlite') return new SqliteContracts(path)
  const { PostgresContracts } = await import('./postgres/postgres-contracts.ts')
  const contracts = await PostgresContracts.open(database)
  if (!existsSync(path)) return contracts
  const file = new SqliteContracts(path)
  try {
    await contracts.adopt(file.all())
  } finally {
    await file.close()
  }
  // Kept for the operator, and not read again.
  renameSync(path, `${path}.moved`)
  return contracts
}
