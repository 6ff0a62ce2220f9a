import { closeSync, fdatasync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { promisify } from 'node:util'
import { wideGroupsOf } from '@tandem/base/address.ts'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError, isDatabaseLocked, namingFile } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { type GrantCount, type GrantHistory, periodBeginMs } from './grant-rule.ts'

type GrantStoreError =
  | { readonly code: 'FAUCET_STORE_LOCKED'; readonly path: string }
  | { readonly code: 'FAUCET_STORE_FOREIGN'; readonly path: string; readonly what: 'chain' | 'key' }

/** `reserved`: no transfer is signed yet; `signed`: its transfer is fixed; `settled`: a block includes it. */
type GrantState = 'reserved' | 'signed' | 'settled'

/** Last grant of an address. */
export interface Grant {
  readonly address: Hex
  readonly reservedAtMs: number
  readonly state: GrantState
  readonly hash: Hex | undefined
  readonly block: number | undefined
}

/** Transfer as it was signed. A block includes these bytes, or those that they replaced, since all have one nonce. */
export interface SignedGrant {
  readonly address: Hex
  readonly nonce: number
  readonly raw: Hex
  readonly hash: Hex
  /** Hashes of the transfers that this one replaced, at a lower price. */
  readonly former: readonly Hex[]
}

interface GrantStoreOptions {
  /** `:memory:` for a chain that ends with its process. */
  readonly path: string
  readonly genesisHash: Hex
  /** The faucet's address. */
  readonly sender: Hex
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS grants (
  address BLOB PRIMARY KEY,
  reserved_at INTEGER NOT NULL,
  client TEXT NOT NULL,
  state TEXT NOT NULL,
  nonce INTEGER, raw BLOB, hash BLOB, block INTEGER, former BLOB
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS grants_time ON grants (reserved_at);
CREATE INDEX IF NOT EXISTS grants_client ON grants (client, reserved_at);
CREATE INDEX IF NOT EXISTS grants_open ON grants (state, nonce) WHERE state <> 'settled';
`

/** Runs in a thread of Node's pool. */
const syncData = promisify(fdatasync)

type Row = Record<string, SQLOutputValue>

/**
 * Grants in an SQLite file that one process holds. A step is in the file when its method returns, whatever becomes of the process, and on disk
 * after the next `flush`: a write that waited for the disk would hold up the thread, which may be that of a node.
 */
export class GrantStore {
  readonly #database: DatabaseSync
  readonly #path: string
  /** File of the write-ahead log; undefined before the first flush. */
  #log: number | undefined
  readonly #logPath: string | undefined
  #isDirty = false
  /** Error of the first failed flush: the system may take what was to be written for written from then on. */
  #failure: unknown
  #flushing: Promise<void> = Promise.resolve()

  /** Throws CodedError<GrantStoreError>. */
  constructor(options: GrantStoreOptions) {
    const { path } = options
    this.#path = path
    if (path !== ':memory:') makeFolder(dirname(path))
    this.#logPath = path === ':memory:' ? undefined : `${path}-wal`
    this.#database = namingFile(path, () => new DatabaseSync(path, { timeout: 0 }))
    namingFile(path, () => this.#prepare(options))
  }

  #prepare({ path, genesisHash, sender }: GrantStoreOptions): void {
    try {
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
      this.#database.exec(`BEGIN EXCLUSIVE; ${SCHEMA} COMMIT`)
      // Stores of earlier versions have no such column.
      if (!this.#all('PRAGMA table_info(grants)').some(({ name }) => name === 'former'))
        this.#database.exec('ALTER TABLE grants ADD COLUMN former BLOB')
      this.#bind(path, genesisHash, sender)
      this.#database.exec('PRAGMA synchronous = NORMAL')
    } catch (error) {
      this.#database.close()
      if (isDatabaseLocked(error))
        throw new CodedError<GrantStoreError>({ code: 'FAUCET_STORE_LOCKED', path }, { cause: error })
      throw error
    }
  }

  /** Time of the newest grant: the clock may have been set back since. */
  latestMs(): number {
    return (this.#get('SELECT max(reserved_at) AS at FROM grants')?.['at'] as number | null) ?? 0
  }

  history(address: Hex, client: string, nowMs: number): GrantHistory {
    const since = periodBeginMs(nowMs)
    const last = this.find(address)
    const times = this.#all(
      'SELECT reserved_at FROM grants WHERE client = ? AND reserved_at > ? ORDER BY reserved_at',
      client,
      since,
    )
    const groups = wideGroupsOf(client)
    return {
      last: last && { reservedAtMs: last.reservedAtMs, isSettled: last.state === 'settled' },
      clientTimes: times.map(row => row['reserved_at'] as number),
      all: this.#countSince(since),
      groups: groups && {
        narrow: this.#countSince(since, groups.narrow),
        wide: this.#countSince(since, groups.wide),
      },
    }
  }

  /** Number of grants in the last 24 hours. */
  granted(nowMs: number): number {
    return this.#countSince(periodBeginMs(nowMs)).granted
  }

  /** Grants after a time, of clients whose name begins in a certain way. */
  #countSince(sinceMs: number, begins = ''): GrantCount {
    const range = begins === '' ? [] : [begins.length, begins]
    const where = begins === '' ? '' : 'AND substr(client, 1, ?) = ?'
    const sql = `SELECT count(*) AS n, min(reserved_at) AS at FROM grants WHERE reserved_at > ? ${where}`
    const row = this.#get(sql, sinceMs, ...range)
    return { granted: row?.['n'] as number, oldestMs: (row?.['at'] as number | null) ?? undefined }
  }

  /** Number of grants that no block includes yet. */
  unsettled(): number {
    return this.#get("SELECT count(*) AS n FROM grants WHERE state <> 'settled'")?.['n'] as number
  }

  find(address: Hex): Grant | undefined {
    const row = this.#get('SELECT * FROM grants WHERE address = ?', hexToBytes(address))
    return row && grantOf(row)
  }

  /** Reserves a grant in one step; false: the address has had one in the last 24 hours, or still waits for it. */
  reserve(address: Hex, client: string, nowMs: number): boolean {
    const changes = this.#run(
      `INSERT INTO grants (address, reserved_at, client, state) VALUES (?, ?, ?, 'reserved')
       ON CONFLICT (address) DO UPDATE
       SET reserved_at = excluded.reserved_at, client = excluded.client, state = 'reserved',
           nonce = NULL, raw = NULL, hash = NULL, block = NULL, former = NULL
       WHERE grants.reserved_at <= ? AND grants.state = 'settled'`,
      hexToBytes(address),
      nowMs,
      client,
      periodBeginMs(nowMs),
    )
    return changes === 1
  }

  /** Reserved grants without a transfer, oldest first. */
  reserved(limit: number): readonly Hex[] {
    const sql = "SELECT address FROM grants WHERE state = 'reserved' ORDER BY reserved_at, address LIMIT ?"
    return this.#all(sql, limit).map(row => hexOf(row, 'address'))
  }

  /** Transfers that no block includes yet, in the order of their nonces. */
  signed(): readonly SignedGrant[] {
    return this.#all("SELECT * FROM grants WHERE state = 'signed' ORDER BY nonce").map(row => ({
      address: hexOf(row, 'address'),
      nonce: row['nonce'] as number,
      raw: hexOf(row, 'raw'),
      hash: hexOf(row, 'hash'),
      former: row['former'] === null ? [] : hashesOf(row['former'] as Uint8Array),
    }))
  }

  /** Stores the transfer of a reserved grant, before it is sent. */
  sign({ address, nonce, raw, hash }: Omit<SignedGrant, 'former'>): void {
    this.#run(
      "UPDATE grants SET state = 'signed', nonce = ?, raw = ?, hash = ? WHERE address = ? AND state = 'reserved'",
      nonce,
      hexToBytes(raw),
      hexToBytes(hash),
      hexToBytes(address),
    )
  }

  /** Stores a transfer of the same nonce at a higher price, before it is sent; the hash of the old one is kept with it. */
  replace({ address, hash, former }: SignedGrant, by: Pick<SignedGrant, 'raw' | 'hash'>): void {
    this.#run(
      "UPDATE grants SET raw = ?, hash = ?, former = ? WHERE address = ? AND hash = ? AND state = 'signed'",
      hexToBytes(by.raw),
      hexToBytes(by.hash),
      concatBytes(...[...former, hash].map(hexToBytes)),
      hexToBytes(address),
      hexToBytes(hash),
    )
  }

  /** A block includes the transfer with the hash `included`. */
  settle({ address, hash }: Pick<SignedGrant, 'address' | 'hash'>, block: number, included: Hex = hash): void {
    const sql =
      "UPDATE grants SET state = 'settled', block = ?, hash = ?, raw = NULL, former = NULL WHERE address = ? AND hash = ?"
    this.#run(sql, block, hexToBytes(included), hexToBytes(address), hexToBytes(hash))
  }

  /** Another transaction took the nonce, so this transfer can never be included: the grant needs another one. */
  release({ address, hash }: Pick<SignedGrant, 'address' | 'hash'>): void {
    this.#run(
      "UPDATE grants SET state = 'reserved', nonce = NULL, raw = NULL, hash = NULL, former = NULL WHERE address = ? AND hash = ? AND state = 'signed'",
      hexToBytes(address),
      hexToBytes(hash),
    )
  }

  /** The block with the transfer was taken back (development chains): the address has had no grant. */
  forget(address: Hex, hash: Hex): void {
    const sql = "DELETE FROM grants WHERE address = ? AND hash = ? AND state = 'settled'"
    this.#run(sql, hexToBytes(address), hexToBytes(hash))
  }

  /** Waits until every step so far is on disk; after a failure it fails for good, since the next sync would succeed without them. */
  flush(): Promise<void> {
    // One after the other: the next one also takes what was written while one runs.
    const flushed = this.#flushing.then(() => this.#flushLog())
    this.#flushing = flushed.catch(() => undefined)
    return flushed
  }

  close(): void {
    this.#database.close()
    const log = this.#log
    this.#log = undefined
    if (log !== undefined) void this.#flushing.then(() => closeSync(log))
  }

  /** A store belongs to one chain; the key may change once nothing of the old one is under way. */
  #bind(path: string, genesisHash: Hex, sender: Hex): void {
    const known = (name: string): string | undefined =>
      this.#get('SELECT value FROM meta WHERE name = ?', name)?.['value'] as string | undefined
    const foreign = (what: 'chain' | 'key') =>
      new CodedError<GrantStoreError>({ code: 'FAUCET_STORE_FOREIGN', path, what })
    if ((known('genesis') ?? genesisHash) !== genesisHash) throw foreign('chain')
    if ((known('sender') ?? sender) !== sender && this.signed().length > 0) throw foreign('key')
    for (const [name, value] of [
      ['genesis', genesisHash],
      ['sender', sender],
    ] as const)
      this.#run('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value', name, value)
  }

  async #flushLog(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (!this.#isDirty || this.#logPath === undefined) return
    this.#isDirty = false
    try {
      this.#log ??= openSync(this.#logPath, 'r+')
      await syncData(this.#log)
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  #run(sql: string, ...values: readonly SQLInputValue[]): number {
    this.#isDirty = true
    return namingFile(this.#path, () => Number(this.#database.prepare(sql).run(...values).changes))
  }

  #get(sql: string, ...values: readonly SQLInputValue[]): Row | undefined {
    return this.#database.prepare(sql).get(...values)
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    return this.#database.prepare(sql).all(...values)
  }
}

const hexOf = (row: Row, column: string): Hex => bytesToHex(row[column] as Uint8Array)

const HASH_BYTES = 32

const hashesOf = (bytes: Uint8Array): readonly Hex[] =>
  Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, at) =>
    bytesToHex(bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)),
  )

const grantOf = (row: Row): Grant => ({
  address: hexOf(row, 'address'),
  reservedAtMs: row['reserved_at'] as number,
  state: row['state'] as GrantState,
  hash: row['hash'] === null ? undefined : hexOf(row, 'hash'),
  block: (row['block'] as number | null) ?? undefined,
})
