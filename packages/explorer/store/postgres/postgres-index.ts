import { MIGRATIONS } from '../sql/schema.ts'
import type { SqlWrites } from '../sql/sql-database.ts'
import { SqlIndex } from '../sql/sql-index.ts'

interface ListIndex {
  readonly name: string
  readonly table: string
  readonly sql: string
}

/** Tables whose indexes only lists, and removing blocks, use. */
const LISTED = ['tx', 'transfer', 'internal', 'account', 'holder']

const listIndexOf = (statement: string): readonly ListIndex[] => {
  const sql = statement.trim()
  const [create, index, name, , table] = sql.split(' ')
  if (create !== 'CREATE' || index !== 'INDEX' || name === undefined || table === undefined) return []
  return LISTED.includes(table) ? [{ name, table, sql }] : []
}

const LIST_INDEXES = MIGRATIONS.flatMap(migration => migration.split(';').flatMap(listIndexOf))
const NAMES = LIST_INDEXES.map(({ name }) => `'${name}'`).join(', ')

/**
 * Index in a PostgreSQL database. During a backfill the indexes of its lists are missing: entering each row in each of them takes more of the
 * database than everything else, and sorting all of them at the end little. The database's catalog tells which there are, so that the process
 * may end at any instant.
 */
export class PostgresIndex extends SqlIndex {
  #isComplete = false

  override async beginBackfill(): Promise<void> {
    this.#isComplete = false
    await this.database.transaction(async writes => {
      // Only while there is nothing to list: sorting an old index again would take longer than a backfill saves.
      if ((await writes.get('SELECT 1 AS found FROM position')) !== undefined) return
      for (const { name } of LIST_INDEXES) await writes.run(`DROP INDEX IF EXISTS ${name}`)
    })
  }

  override async endBackfill(): Promise<void> {
    if (this.#isComplete) return
    const missing = await this.#missing()
    for (const { sql } of missing) await this.database.transaction(writes => build(writes, sql))
    // Offsets then skip entries of an index alone. Not within a transaction; the server does it by itself, later, if this process ends first.
    for (const table of new Set(missing.map(index => index.table))) await this.database.all(`VACUUM (ANALYZE) ${table}`)
    this.#isComplete = true
  }

  override async rollback(number: number): Promise<void> {
    // Rows that remain are looked for by address.
    if (number >= 0) await this.endBackfill()
    await super.rollback(number)
  }

  async #missing(): Promise<readonly ListIndex[]> {
    const rows = await this.database.all(`SELECT relname::text AS name FROM pg_class WHERE relname IN (${NAMES})`)
    const found = new Set(rows.map(row => row['name']))
    return LIST_INDEXES.filter(({ name }) => !found.has(name))
  }
}

const build = async (writes: SqlWrites, sql: string): Promise<void> => {
  await writes.run("SET LOCAL maintenance_work_mem = '256MB'")
  // Another writer may have built it meanwhile.
  await writes.run(sql.replace('CREATE INDEX', 'CREATE INDEX IF NOT EXISTS'))
}
