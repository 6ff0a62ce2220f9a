import type { Hex } from '@tandem/base/bytes.ts'
import { BatchedLookUp } from '../batched-look-up.ts'
import type { ContractStore, VerifiedContract } from '../contract-store.ts'
import { blobOf, hexColumn, numberColumn } from '../sql/sql-database.ts'
import { STORED_NAME_CHARS, storedText } from '../stored-text.ts'
import { PostgresDatabase } from './postgres-database.ts'

interface PostgresContractsOptions {
  /** postgres:// of a database whose layout the writer of the index keeps up to date. */
  readonly url: string
  /** A replica that answers reads. */
  readonly readUrl?: string | undefined
}

/** Verified contracts in the database of the index, for every process that serves it. */
export class PostgresContracts implements ContractStore {
  readonly #reads: PostgresDatabase
  readonly #writes: PostgresDatabase
  readonly #names = new BatchedLookUp<Hex, string>(async addresses => {
    const keys = addresses.map(address => [blobOf(address)])
    const rows = await this.#reads.lookUp('SELECT address, name FROM contract WHERE address = ?', keys)
    return new Map(rows.map(row => [hexColumn(row, 'address'), row['name'] as string]))
  })

  private constructor(reads: PostgresDatabase, writes: PostgresDatabase) {
    this.#reads = reads
    this.#writes = writes
  }

  static async open({ url, readUrl = url }: PostgresContractsOptions): Promise<PostgresContracts> {
    const [reads, writes] = await Promise.all([
      PostgresDatabase.open({ url: readUrl, readOnly: true }),
      PostgresDatabase.open({ url, isApart: true }),
    ])
    return new PostgresContracts(reads, writes)
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

  async writeContract(contract: VerifiedContract): Promise<void> {
    const { address, name } = contract
    await this.#writes.transaction(writes =>
      writes.put('contract', [
        { address: blobOf(address), name: storedText(name, STORED_NAME_CHARS), record: JSON.stringify(contract) },
      ]),
    )
  }

  /** Adds contracts that are not there yet. */
  async adopt(contracts: Iterable<VerifiedContract>): Promise<void> {
    await this.#writes.transaction(async writes => {
      for (const contract of contracts)
        await writes.run(
          'INSERT INTO contract (address, name, record) VALUES (?, ?, ?) ON CONFLICT (address) DO NOTHING',
          blobOf(contract.address),
          storedText(contract.name, STORED_NAME_CHARS),
          JSON.stringify(contract),
        )
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#reads.close(), this.#writes.close()])
  }
}
