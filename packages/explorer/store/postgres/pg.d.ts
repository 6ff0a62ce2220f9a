/* The parts of these packages that the index uses. */

declare module 'pg' {
  import type { EventEmitter } from 'node:events'
  import type { Writable } from 'node:stream'

  export interface QueryResult<Row> {
    readonly rows: Row[]
    readonly rowCount: number | null
  }

  interface QueryConfig {
    readonly name?: string
    readonly text: string
    readonly values?: unknown[]
  }

  export interface TypeParsers {
    getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown
  }

  interface Queries extends EventEmitter {
    query<Row>(query: string | QueryConfig, values?: unknown[]): Promise<QueryResult<Row>>
  }

  export interface PoolClient extends Queries {
    query<Row>(query: string | QueryConfig, values?: unknown[]): Promise<QueryResult<Row>>
    query<Stream extends Writable>(stream: Stream): Stream
    /** true: the connection is closed instead of kept. */
    release(isBroken?: boolean): void
    /** Closes the connection at once when a query waits on it, which then fails. */
    end(): Promise<void>
    /** Number of the server's process. */
    readonly processID: number
  }

  interface ClientOptions {
    readonly connectionString: string
    readonly connectionTimeoutMillis?: number
    readonly query_timeout?: number
    readonly application_name?: string
  }

  interface PoolOptions {
    readonly connectionString: string
    readonly max: number
    readonly connectionTimeoutMillis: number
    readonly types: TypeParsers
    readonly application_name: string
    readonly options: string
  }

  export interface Pool extends Queries {
    connect(): Promise<PoolClient>
    end(): Promise<void>
  }

  export interface Client extends Queries {
    connect(): Promise<void>
    end(): Promise<void>
  }

  const pg: {
    readonly Pool: new (options: PoolOptions) => Pool
    readonly Client: new (options: ClientOptions) => Client
    readonly types: TypeParsers
  }
  export default pg
}

declare module 'pg-copy-streams' {
  import type { Writable } from 'node:stream'

  const from: (copy: string) => Writable
}
