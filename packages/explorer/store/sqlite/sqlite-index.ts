import { SqlIndex } from '../sql/sql-index.ts'
import { SqlReader } from '../sql/sql-reader.ts'
import { SqliteDatabase, type SqliteOptions } from './sqlite-database.ts'

/** Index in one SQLite file, for its one writer. */
export class SqliteIndex extends SqlIndex {
  constructor(options: Omit<SqliteOptions, 'readOnly'>) {
    super(new SqliteDatabase(options))
  }
}

/** Reads of that file, over a connection of its own. */
export class SqliteReader extends SqlReader {
  constructor(options: SqliteOptions) {
    super(new SqliteDatabase(options))
  }
}
