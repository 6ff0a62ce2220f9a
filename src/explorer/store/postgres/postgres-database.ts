import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg, { type Pool, type PoolClient, type QueryResult, type TypeParsers } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { EXPLORER_LIMITS } from '../../../config/limits/explorer.ts'
import { CodedError, isCoded } from '../../../util/errors.ts'
import type { SqlDatabase, SqlRow, SqlValue, SqlWrites } from '../sql/sql-database.ts'
import { migratePostgres, PARTITION_BLOCKS, partitionColumn, partitionsUpTo } from './postgres-layout.ts'
import { arrayText, copyText, lookUpText, numbered } from './postgres-text.ts'

interface PostgresOptions {
  /** postgres:// */
  readonly url: string
  readonly readOnly?: boolean
  /** Another connection keeps the layout up to date. */
  readonly hasLayout?: boolean
}

/** Thrown as CodedError while the database is away; the caller may retry. */
type DatabaseUnreachable = { readonly code: 'DATABASE_UNREACHABLE'; readonly reason: string }

const { connectMs, queryMs, connections } = EXPLORER_LIMITS.postgres
const INT8 = 20
/** Lock of the writer of an index: any number that others do not use. */
const WRITER_LOCK = 7_216_031_911

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
} satisfies TypeParsers

interface TableColumn {
  readonly type: string
  /** Part of the primary key. */
  readonly isKey: boolean
}

const COLUMNS = `SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
  CASE WHEN a.attnum = ANY (i.indkey) THEN 1::bigint ELSE 0 END AS is_key
  FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
  WHERE a.attrelid = ?::text::regclass AND a.attnum > 0 AND NOT a.attisdropped`

/** Classes of errors that pass: of the connection, of resources, of the operator, of the system. */
const PASSING = /^(08|53|57|58)|^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|ENOENT)/

/** Index in a PostgreSQL database. */
export class PostgresDatabase implements SqlDatabase {
  readonly #pool: Pool
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>()
  readonly #lookUps = new Map<string, string>()
  readonly #columns = new Map<string, ReadonlyMap<string, TableColumn>>()
  #partitions = 0

  private constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Throws INDEX_TOO_NEW and DATABASE_UNREACHABLE. */
  static async open({ url, readOnly = false, hasLayout = readOnly }: PostgresOptions): Promise<PostgresDatabase> {
    const pool = new pg.Pool({
      connectionString: url,
      max: readOnly ? connections : 2,
      connectionTimeoutMillis: connectMs,
      types,
      application_name: 'tandem explorer',
      // Blocks lost when the machine of the database stops are indexed again.
      options: `-c synchronous_commit=off -c jit=off${readOnly ? ` -c default_transaction_read_only=on -c statement_timeout=${queryMs}` : ''}`,
    })
    // A connection that breaks while it is idle is replaced by the next query.
    pool.on('error', () => undefined)
    const database = new PostgresDatabase(pool)
    try {
      if (!hasLayout) await database.#migrate(new URL(url).pathname.slice(1))
      return database
    } catch (error) {
      await pool.end()
      throw error
    }
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.#passing(async () => (await this.#ask(this.#pool, sql, values)).rows)
  }

  async get(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return (await this.all(sql, ...values))[0]
  }

  async lookUp(sql: string, keys: readonly (readonly SqlValue[])[]): Promise<SqlRow[]> {
    return this.#passing(() => this.#lookUp(this.#pool, sql, keys))
  }

  async transaction<T>(work: (writes: SqlWrites) => Promise<T>): Promise<T> {
    return this.#passing(async () => {
      const client = await this.#pool.connect()
      // Errors of the connection also reach the query that waits for it.
      const onError = (): void => undefined
      client.on('error', onError)
      try {
        await client.query('BEGIN')
        await client.query(`SELECT pg_advisory_xact_lock(${WRITER_LOCK})`)
        const result = await work(this.#writesOf(client))
        await client.query('COMMIT')
        client.off('error', onError)
        client.release()
        return result
      } catch (error) {
        const rolledBack = await client.query('ROLLBACK').then(
          () => true,
          () => false,
        )
        client.off('error', onError)
        client.release(!rolledBack)
        throw error
      }
    })
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  #writesOf(client: PoolClient): SqlWrites {
    return {
      all: async (sql, ...values) => (await this.#ask(client, sql, values)).rows,
      get: async (sql, ...values) => (await this.#ask(client, sql, values)).rows[0],
      lookUp: (sql, keys) => this.#lookUp(client, sql, keys),
      run: async (sql, ...values) => (await this.#ask(client, sql, values)).rowCount ?? 0,
      insert: (table, rows) => this.#copy(client, table, rows),
      put: (table, rows) => this.#put(client, table, rows),
    }
  }

  #ask(client: Pool | PoolClient, sql: string, values: readonly SqlValue[]): Promise<QueryResult<SqlRow>> {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = { name: `q${this.#statements.size}`, text: numbered(sql) }
      this.#statements.set(sql, statement)
    }
    return client.query<SqlRow>({ ...statement, values: [...values] })
  }

  async #lookUp(client: Pool | PoolClient, sql: string, keys: readonly (readonly SqlValue[])[]): Promise<SqlRow[]> {
    const [first] = keys
    if (first === undefined) return []
    const text = this.#lookUps.get(sql) ?? lookUpText(sql, first)
    this.#lookUps.set(sql, text)
    const arrays = first.map((_, part) => arrayText(keys.map(key => key[part] as SqlValue)))
    return (await this.#ask(client, text, arrays)).rows
  }

  async #copy(client: PoolClient, table: string, rows: readonly SqlRow[]): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const partitioned = partitionColumn(table)
    if (partitioned !== undefined) await this.#makePartitions(client, rows.at(-1)?.[partitioned] as number)
    const columns = Object.keys(first)
    const stream = client.query(copyFrom(`COPY ${table} (${columns}) FROM STDIN`))
    await pipeline(Readable.from(copyText(columns, rows)), stream)
  }

  async #put(client: PoolClient, table: string, rows: readonly SqlRow[]): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const known = await this.#columnsOf(client, table)
    const columns = Object.keys(first)
    const isKey = (name: string): boolean => known.get(name)?.isKey === true
    const others = columns.filter(name => !isKey(name))
    const update = others.length === 0 ? 'NOTHING' : `UPDATE SET ${others.map(name => `${name} = excluded.${name}`)}`
    // Numbered by `#ask`, from the left.
    const places = columns.map(name => `?::${known.get(name)?.type}[]`)
    const arrays = columns.map(name => arrayText(rows.map(row => row[name] ?? null)))
    await this.#ask(
      client,
      `INSERT INTO ${table} (${columns}) SELECT * FROM unnest(${places}) ON CONFLICT (${columns.filter(isKey)}) DO ${update}`,
      arrays,
    )
  }

  async #columnsOf(client: PoolClient, table: string): Promise<ReadonlyMap<string, TableColumn>> {
    let columns = this.#columns.get(table)
    if (columns === undefined) {
      const { rows } = await this.#ask(client, COLUMNS, [table])
      columns = new Map(
        rows.map(row => [row['name'] as string, { type: row['type'] as string, isKey: row['is_key'] === 1 }]),
      )
      this.#columns.set(table, columns)
    }
    return columns
  }

  async #makePartitions(client: PoolClient, number: number): Promise<void> {
    if (number < this.#partitions * PARTITION_BLOCKS) return
    for (const sql of partitionsUpTo(number)) await client.query(sql)
    this.#partitions = Math.floor(number / PARTITION_BLOCKS) + 1
  }

  async #migrate(name: string): Promise<void> {
    await this.#passing(async () => {
      const client = await this.#pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`SELECT pg_advisory_xact_lock(${WRITER_LOCK})`)
        const query = async (sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> =>
          (await client.query<SqlRow>(sql, [...values])).rows
        await migratePostgres({ query }, name)
        await client.query('COMMIT')
        client.release()
      } catch (error) {
        client.release(true)
        throw error
      }
    })
  }

  async #passing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (isCoded(error) || !isPassing(error)) throw error
      const { message } = error as Error
      throw new CodedError<DatabaseUnreachable>({ code: 'DATABASE_UNREACHABLE', reason: message }, { cause: error })
    }
  }
}

/** Returns true for what is over when the database is back. */
const isPassing = (error: unknown): boolean => {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string }
  return (
    (typeof code === 'string' && PASSING.test(code)) ||
    /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error/.test(
      message,
    )
  )
}
