import type { Hex } from '@tandem/base/bytes.ts'
import { isDiskError } from '@tandem/base/errors.ts'
import { BatchedLookUp } from '../batched-look-up.ts'
import type { ContractStore, VerifiedContract } from '../contract-store.ts'
import { STORED_NAME_CHARS, storedText } from '../stored-text.ts'
import { blobOf, hexColumn, numberColumn, type SqlDatabase } from './sql-database.ts'

/** Verified contracts in a file of their own, or in the database of the index, for every process that serves it. */
export class SqlContracts implements ContractStore {
  readonly #reads: SqlDatabase
  readonly #writes: SqlDatabase
  readonly #names = new BatchedLookUp<Hex, string>(async addresses => {
    const keys = addresses.map(address => [blobOf(address)])
    const rows = await this.#reads.lookUp('SELECT address, name FROM contract WHERE address = ?', keys)
    return new Map(rows.map(row => [hexColumn(row, 'address'), row['name'] as string]))
  })
  #failure: unknown

  constructor(reads: SqlDatabase, writes: SqlDatabase) {
    this.#reads = reads
    this.#writes = writes
  }

  async contract(address: Hex): Promise<VerifiedContract | undefined> {
    const row = await this.#reads.get('SELECT record FROM contract WHERE address = ?', blobOf(address))
    return row && (JSON.parse(row['record'] as string) as VerifiedContract)
  }

  async contractName(address: Hex): Promise<string | undefined> {
    return this.#names.get(address)
  }

  async contractCount(): Promise<number> {
    const row = await this.#reads.get('SELECT count(*) AS count FROM contract')
    return row === undefined ? 0 : numberColumn(row, 'count')
  }

  /** After an error of the disk it fails until the file is opened anew: a later sync may succeed without what an earlier one lost. */
  async writeContract(contract: VerifiedContract): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const name = storedText(contract.name, STORED_NAME_CHARS)
    const row = { address: contract.address, name, record: JSON.stringify(contract) }
    try {
      await this.#writes.transaction(writes => writes.put('contract', [row]))
    } catch (error) {
      if (isDiskError(error)) this.#failure = error
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([...new Set([this.#reads, this.#writes])].map(database => database.close()))
  }
}
