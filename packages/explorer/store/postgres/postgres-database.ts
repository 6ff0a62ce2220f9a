import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import pg, { type Pool, type PoolClient, type QueryResult, type TypeParsers } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { SqlDatabase, SqlRow, SqlValue, SqlWrites } from '../sql/sql-database.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { databaseRefusal } from './database-refusal.ts'
import { migratePostgres, PARTITION_BLOCKS, partitionColumn, partitionsUpTo } from './postgres-layout.ts'
import { arrayText, bytesArrayText, copyText, lookUpText, numbered } from './postgres-text.ts'
import { StallWatch } from './stall-watch.ts'

interface PostgresOptions {
  /** postgres:// */
  readonly url: string
  readonly readOnly?: boolean
  /** Its tables are not those of the index: another connection keeps the layout up to date, and it need not wait for the index's writer. */
  readonly isApart?: boolean
  /** Silence of the writer that is asked about; that of the limits when left out. */
  readonly silenceMs?: number
}

const { connectMs, queryMs, connections, keepAlive } = EXPLORER_LIMITS.postgres
const SETTLE_MS = 500
const INT8 = 20
/** Lock of the writer of an index: any number that others do not use. */
const WRITER_LOCK = 7_216_031_911

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
} satisfies TypeParsers

/** SQL and the values of its places. */
type Query = readonly [sql: string, values: readonly SqlValue[]]

interface TableColumn {
  readonly type: string
  /** Part of the primary key. */
  readonly isKey: boolean
}

const COLUMNS = `SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
  CASE WHEN a.attnum = ANY (i.indkey) THEN 1::bigint ELSE 0 END AS is_key
  FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
  WHERE a.attrelid = ?::text::regclass AND a.attnum > 0 AND NOT a.attisdropped`

/** The server gives up a connection whose other side is gone, and with it the writer's lock. */
const KEEP_ALIVE = `-c tcp_keepalives_idle=${keepAlive.idleSeconds} -c tcp_keepalives_interval=${keepAlive.intervalSeconds} -c tcp_keepalives_count=${keepAlive.count} -c idle_in_transaction_session_timeout=${keepAlive.idleTransactionMs}`
const READS_ONLY = `-c default_transaction_read_only=on -c statement_timeout=${queryMs}`

/** Index in a PostgreSQL database. */
export class PostgresDatabase implements SqlDatabase {
  readonly #pool: Pool
  readonly #breaker: CircuitBreaker
  readonly #isApart: boolean
  readonly #watch: ConstructorParameters<typeof StallWatch>[1]
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>()
  readonly #lookUps = new Map<string, string>()
  readonly #columns = new Map<string, ReadonlyMap<string, TableColumn>>()
  #partitions = 0

  private constructor(
    pool: Pool,
    { url, readOnly = false, isApart = false, silenceMs = EXPLORER_LIMITS.postgres.silenceMs }: PostgresOptions,
  ) {
    this.#pool = pool
    this.#isApart = isApart
    this.#breaker = new CircuitBreaker(readOnly)
    // The server's own limit ends a slow read first; a write may take as long as it takes.
    this.#watch = readOnly
      ? { silenceMs: queryMs + SETTLE_MS }
      : { silenceMs, isWorking: client => isWorking(url, client) }
  }

  /** Throws INDEX_TOO_NEW, DATABASE_REFUSED and DATABASE_UNREACHABLE. */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const { url, readOnly = false, isApart = false } = options
    const pool = new pg.Pool({
      connectionString: url,
      max: readOnly ? connections : 2,
      connectionTimeoutMillis: connectMs,
      types,
      application_name: 'tandem explorer',
      // Blocks lost when the machine of the database stops are indexed again; other tables have nothing to be made from.
      options: `${isApart ? '' : '-c synchronous_commit=off'} -c jit=off ${KEEP_ALIVE} ${readOnly ? READS_ONLY : ''}`,
    })
    // A connection that breaks while it is idle is replaced by the next query.
    pool.on('error', () => undefined)
    const database = new PostgresDatabase(pool, options)
    try {
      if (!readOnly && !isApart) await database.#migrate(new URL(url).pathname.slice(1))
      return database
    } catch (error) {
      await pool.end()
      throw databaseRefusal(error, url) ?? error
    }
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.#breaker.try(() => this.#read(async client => (await this.#ask(client, sql, values)).rows))
  }

  async get(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return (await this.all(sql, ...values))[0]
  }

  async lookUp(sql: string, keys: readonly (readonly SqlValue[])[]): Promise<SqlRow[]> {
    const query = this.#lookUpQuery(sql, keys)
    return query === undefined ? [] : this.all(query[0], ...query[1])
  }

  async transaction<T>(work: (writes: SqlWrites) => Promise<T>): Promise<T> {
    return this.#breaker.try(() =>
      this.#onClient(async (client, watch) => {
        try {
          await watch.run(() => client.query('BEGIN'))
          if (!this.#isApart) await watch.run(() => client.query(`SELECT pg_advisory_xact_lock(${WRITER_LOCK})`))
          const result = await work(this.#writesOf(client, watch))
          await watch.run(() => client.query('COMMIT'))
          return result
        } catch (error) {
          // Partitions that it made are gone with it; so are those of commits that a lost machine had not on disk.
          this.#partitions = 0
          await watch.run(() => client.query('ROLLBACK')).catch(() => undefined)
          throw error
        }
      }),
    )
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  /** Lends a connection; one on which anything failed is closed instead of kept. */
  async #onClient<T>(work: (client: PoolClient, watch: StallWatch) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    // Errors of the connection also reach the query that waits for it.
    const onError = (): void => undefined
    client.on('error', onError)
    let isBroken = true
    try {
      const result = await work(client, new StallWatch(client, this.#watch))
      isBroken = false
      return result
    } finally {
      client.off('error', onError)
      client.release(isBroken)
    }
  }

  #read<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#onClient((client, watch) => watch.run(() => work(client)))
  }

  #writesOf(client: PoolClient, watch: StallWatch): SqlWrites {
    let last: Promise<unknown> = Promise.resolve()
    const inTurn = <T>(exchange: () => Promise<T>): Promise<T> => {
      const result = last.then(() => watch.run(exchange))
      last = result.catch(() => undefined)
      return result
    }
    const ask = (sql: string, values: readonly SqlValue[]) => inTurn(() => this.#ask(client, sql, values))
    const columnsOf = async (table: string): Promise<ReadonlyMap<string, TableColumn>> =>
      this.#columns.get(table) ?? (await inTurn(() => this.#columnsOf(client, table)))
    return {
      all: async (sql, ...values) => (await ask(sql, values)).rows,
      get: async (sql, ...values) => (await ask(sql, values)).rows[0],
      lookUp: async (sql, keys) => {
        const query = this.#lookUpQuery(sql, keys)
        return query === undefined ? [] : (await ask(...query)).rows
      },
      run: async (sql, ...values) => (await ask(sql, values)).rowCount ?? 0,
      insert: async (table, rows) => {
        if (rows.length > 0) await inTurn(() => this.#copy(client, table, rows))
      },
      put: async (table, rows) => {
        if (rows.length > 0) await ask(...putQuery(table, await columnsOf(table), rows))
      },
      increase: async (table, column, rows) => {
        if (rows.length === 0) return 0
        const { rows: found } = await ask(...increaseQuery(table, column, { known: await columnsOf(table), rows }))
        return found[0]?.['count'] as number
      },
      remove: async (table, keys) => {
        if (keys.length > 0) await ask(...removeQuery(table, await columnsOf(table), keys))
      },
    }
  }

  #ask(client: PoolClient, sql: string, values: readonly SqlValue[]): Promise<QueryResult<SqlRow>> {
    const statement = getOrMake(this.#statements, sql, () => ({
      name: `q${this.#statements.size}`,
      text: numbered(sql),
    }))
    return client.query<SqlRow>({ ...statement, values: [...values] })
  }

  /** Undefined: without keys there is nothing to ask. */
  #lookUpQuery(sql: string, keys: readonly (readonly SqlValue[])[]): Query | undefined {
    const [first] = keys
    if (first === undefined) return undefined
    const text = getOrMake(this.#lookUps, sql, () => lookUpText(sql, first))
    return [text, first.map((_, part) => arrayText(keys.map(key => key[part] as SqlValue)))]
  }

  async #copy(client: PoolClient, table: string, rows: readonly SqlRow[]): Promise<void> {
    const partitioned = partitionColumn(table)
    if (partitioned !== undefined) await this.#makePartitions(client, rows.at(-1)?.[partitioned] as number)
    const known = await this.#columnsOf(client, table)
    const names = Object.keys(rows[0] as SqlRow)
    const columns = names.map(name => ({ name, isBytes: known.get(name)?.type === 'bytea' }))
    const stream = client.query(copyFrom(`COPY ${table} (${names}) FROM STDIN`))
    await pipeline(Readable.from(copyText(columns, rows)), stream)
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
    await this.#breaker.try(() =>
      this.#onClient(async (client, watch) => {
        // Tables are made once: unlike blocks, those that a lost machine had not on disk would not come again.
        await watch.run(() => client.query('BEGIN; SET LOCAL synchronous_commit = on'))
        await watch.run(() => client.query(`SELECT pg_advisory_xact_lock(${WRITER_LOCK})`))
        // A new layout may take long.
        const query = async (sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> =>
          (await client.query<SqlRow>(sql, [...values])).rows
        await migratePostgres({ query }, name)
        await watch.run(() => client.query('COMMIT'))
      }),
    )
  }
}

type TableColumns = ReadonlyMap<string, TableColumn>

/** Rows as arrays, one for each column. */
const unnested = (columns: readonly string[], known: TableColumns, rows: readonly SqlRow[]): Query => {
  // Numbered when it is asked, from the left.
  const places = columns.map(name => `?::${known.get(name)?.type}[]`)
  const arrays = columns.map(name => {
    const textOf = known.get(name)?.type === 'bytea' ? bytesArrayText : arrayText
    return textOf(rows.map(row => row[name] ?? null))
  })
  return [`SELECT * FROM unnest(${places})`, arrays]
}

const putQuery = (table: string, known: TableColumns, rows: readonly SqlRow[]): Query => {
  const columns = Object.keys(rows[0] as SqlRow)
  const isKey = (name: string): boolean => known.get(name)?.isKey === true
  const others = columns.filter(name => !isKey(name))
  const update = others.length === 0 ? 'NOTHING' : `UPDATE SET ${others.map(name => `${name} = excluded.${name}`)}`
  const [sql, values] = unnested(columns, known, rows)
  return [`INSERT INTO ${table} (${columns}) ${sql} ON CONFLICT (${columns.filter(isKey)}) DO ${update}`, values]
}

const increaseQuery = (
  table: string,
  column: string,
  { known, rows }: { readonly known: TableColumns; readonly rows: readonly SqlRow[] },
): Query => {
  const columns = Object.keys(rows[0] as SqlRow)
  const key = columns.filter(name => known.get(name)?.isKey === true)
  const [sql, values] = unnested(columns, known, rows)
  // A row that was changed instead of added names the transaction that changed it.
  const changed = `INSERT INTO ${table} AS kept (${columns}) ${sql}
    ON CONFLICT (${key}) DO UPDATE SET ${column} = kept.${column} + excluded.${column} RETURNING xmax = 0 AS is_added`
  return [`WITH changed AS (${changed}) SELECT count(*) AS count FROM changed WHERE is_added`, values]
}

const removeQuery = (table: string, known: TableColumns, keys: readonly SqlRow[]): Query => {
  const columns = Object.keys(keys[0] as SqlRow)
  const [sql, values] = unnested(columns, known, keys)
  return [`DELETE FROM ${table} WHERE (${columns}) IN (${sql})`, values]
}

const ACTIVITY = 'SELECT state, wait_event FROM pg_stat_activity WHERE pid = $1'

/** Asks over another connection whether the server is at work on the query of this one. Rejects when it does not answer either. */
const isWorking = async (url: string, { processID }: PoolClient): Promise<boolean> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
    application_name: 'tandem explorer: watch',
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<SqlRow>(ACTIVITY, [processID])
    const [row] = rows
    // It may also wait for this side, whose bytes do not arrive.
    return row?.['state'] === 'active' && row['wait_event'] !== 'ClientRead'
  } finally {
    client.end().catch(() => undefined)
  }
}
