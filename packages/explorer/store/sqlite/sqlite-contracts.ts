import { dirname } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isDiskError, namingFile } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import type { ContractStore, VerifiedContract } from '../contract-store.ts'
import { blobOf } from '../sql/sql-database.ts'
import { STORED_NAME_CHARS, storedText } from '../stored-text.ts'

/** Thrown as CodedError when the file is of a newer version. */
type ContractStoreError = { readonly code: 'CONTRACTS_TOO_NEW'; readonly path: string }

const VERSION = 1
const TABLE = `
  CREATE TABLE IF NOT EXISTS contract (
    address BLOB PRIMARY KEY, name TEXT NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = ${VERSION}`

/** Verified contracts in one SQLite file. */
export class SqliteContracts implements ContractStore {
  readonly #database: DatabaseSync
  readonly #path: string
  #failure: unknown

  /** Throws CONTRACTS_TOO_NEW. */
  constructor(path: string) {
    this.#path = path
    if (path !== ':memory:') makeFolder(dirname(path))
    this.#database = namingFile(path, () => new DatabaseSync(path, { timeout: 10_000 }))
    namingFile(path, () => this.#prepare(path))
  }

  #prepare(path: string): void {
    const row = this.#database.prepare('PRAGMA user_version').get() as { readonly user_version: number }
    if (row.user_version > VERSION) throw new CodedError<ContractStoreError>({ code: 'CONTRACTS_TOO_NEW', path })
    this.#database.exec(`PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${TABLE}`)
  }

  async contract(address: Hex): Promise<VerifiedContract | undefined> {
    const record = this.#get('SELECT record FROM contract WHERE address = ?', address)?.['record']
    return record === undefined ? undefined : (JSON.parse(record as string) as VerifiedContract)
  }

  /** Every contract, one after the other. */
  *all(): Generator<VerifiedContract> {
    for (const { record } of this.#database.prepare('SELECT record FROM contract').iterate())
      yield JSON.parse(record as string) as VerifiedContract
  }

  async contractName(address: Hex): Promise<string | undefined> {
    return this.#get('SELECT name FROM contract WHERE address = ?', address)?.['name'] as string | undefined
  }

  async contractCount(): Promise<number> {
    return (this.#database.prepare('SELECT count(*) AS count FROM contract').get() as { readonly count: number }).count
  }

  /** After an error of the disk it fails until the file is opened anew: a later sync may succeed without what an earlier one lost. */
  async writeContract(contract: VerifiedContract): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    try {
      namingFile(this.#path, () => this.#write(contract))
    } catch (error) {
      if (isDiskError(error)) this.#failure = error
      throw error
    }
  }

  #write(contract: VerifiedContract): void {
    this.#database
      .prepare('INSERT OR REPLACE INTO contract (address, name, record) VALUES (?, ?, ?)')
      .run(blobOf(contract.address), storedText(contract.name, STORED_NAME_CHARS), JSON.stringify(contract))
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  #get(sql: string, address: Hex): Readonly<Record<string, SQLOutputValue>> | undefined {
    return this.#database.prepare(sql).get(blobOf(address))
  }
}
