import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { createApiServer } from '@tandem/explorer/api/api-server.ts'
import type { ChainSource } from '@tandem/explorer/chain/rpc-chain.ts'
import { PriceService } from '@tandem/explorer/price/price-service.ts'
import { openContractFile } from '@tandem/explorer/store/open-contracts.ts'
import { type IndexDatabase, openIndex, openIndexReader } from '@tandem/explorer/store/open-index.ts'
import { PostgresDatabase } from '@tandem/explorer/store/postgres/postgres-database.ts'
import { SKIP_ROWS, skipList } from '@tandem/explorer/store/sql/skip-pointers.ts'
import type { SqlWrites } from '@tandem/explorer/store/sql/sql-database.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { createVerification } from '@tandem/explorer/verification/verification.ts'
import { testGenesis } from '../test/support/chain.ts'
import { startPostgres } from '../test/support/explorer/postgres-server.ts'
import { localRules } from '../test/support/explorer/source/local-rules.ts'

/*
 * Times of every list of the API over a large index: `node bench/explorer-lists.ts [sqlite|postgres] [transactions]`. The database makes the
 * rows itself: a transaction, a token transfer and an internal transfer each, and a holder of one token for each; its sums are those that the
 * lists show. No chain is behind it. A row passes when 95 of 100 requests take less than 20 ms; the last line names those that do not.
 * LISTS, a regular expression, selects rows by name.
 */

const [backEnd = 'sqlite', count = '1000000'] = process.argv.slice(2)
const ROWS = Number(count)
const PER_BLOCK = 500
const BLOCKS = Math.ceil(ROWS / PER_BLOCK)
const REQUESTS = 100
const LIMIT_MS = 20
const SELECTED = new RegExp(process.env['LISTS'] ?? '')
const random = createRandom(1)
const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`
const TOKEN_NUMBER = 2 ** 40
const TOKEN = addressOf(TOKEN_NUMBER)
const SENDERS = 100_000
const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** Bytes of an expression, as so many hex digits. */
const bytes = (expression: string, digits: number): string =>
  backEnd === 'postgres'
    ? `decode(lpad(to_hex((${expression})::bigint), ${digits}, '0'), 'hex')`
    : `unhex(printf('%0${digits}x', ${expression}))`
const address = (expression: string): string => bytes(expression, 40)
/** Key of a balance below 2^48. */
const balance = (expression: string): string =>
  backEnd === 'postgres'
    ? `decode('8' || lpad(to_hex((${expression})::bigint), 79, '0'), 'hex')`
    : `unhex('8' || printf('%079x', ${expression}))`
const series = (rows: number): string =>
  backEnd === 'postgres'
    ? `(SELECT n FROM generate_series(0::bigint, ${rows - 1}::bigint) AS s (n)) AS s`
    : `(WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < ${rows - 1}) SELECT n FROM s) AS s`
/** A sender for each row, without a pattern. */
const sender = address(`1 + (n * 7919) % ${SENDERS}`)
const holder = address('1000000 + n')

/** Pointers of the long lists, by the numbers that the database gives their rows. */
function skipPointers(): readonly string[] {
  const token = address(String(TOKEN_NUMBER))
  const nobody = backEnd === 'postgres' ? "''::bytea" : "x''"
  const kind = backEnd === 'postgres' ? "decode(lpad(to_hex(kind), 2, '0'), 'hex')" : "unhex(printf('%02x', kind))"
  const lists = [
    { ...skipList('transactions'), owner: nobody, rows: 'tx', second: 'idx', third: '0' },
    { ...skipList('kind'), owner: kind, rows: 'tx', second: 'idx', third: '0' },
    { ...skipList('recipient'), owner: token, rows: 'tx', second: 'idx', third: '0' },
    { ...skipList('party'), owner: token, rows: 'tx', second: 'idx', third: '0' },
    { ...skipList('transfers'), owner: nobody, rows: 'transfer', second: 'log', third: 'place' },
    { ...skipList('token'), owner: token, rows: 'transfer', second: 'log', third: 'place' },
    { ...skipList('internal'), owner: nobody, rows: 'internal', second: 'idx', third: 'place' },
    { ...skipList('internal party'), owner: token, rows: 'internal', second: 'idx', third: 'place' },
  ]
  return lists.map(
    ({ number, name, owner, rows, second, third }) =>
      `INSERT INTO skip_pointer (list, owner, ordinal, block, second, third)
       SELECT ${number}, owner, ordinal, block, second, third FROM (
         SELECT ${owner} AS owner, block, ${second} AS second, ${third} AS third,
           row_number() OVER (${name === 'kind' ? 'PARTITION BY kind ' : ''}ORDER BY block, ${second}, ${third}) - 1 AS ordinal FROM ${rows}) AS numbered
       WHERE ordinal > 0 AND ordinal % ${SKIP_ROWS} = 0`,
  )
}

const STATEMENTS: readonly string[] = [
  `INSERT INTO block (number, hash, parent, timestamp, proposer, miner, transactions, gas_used, gas_limit, base_fee, size, fees, burnt, minted, proposer_wei, miner_wei, cycle)
   SELECT n, ${bytes('n + 1099511627776', 64)}, ${bytes('n + 1099511627775', 64)}, 1735689600 + n, ${address('1 + n % 7')}, ${address('20 + n % 5')}, ${PER_BLOCK}, '1', '999999999999', '25000000000', 1000, '1', '1', '0', '1', '1', n / 60 FROM ${series(BLOCKS)}`,
  `INSERT INTO tx (block, idx, hash, sender, recipient, created, party, value, gas, gas_used, gas_price, nonce, type, status, kind, method)
   SELECT n / ${PER_BLOCK}, n % ${PER_BLOCK}, ${bytes('n + 2199023255552', 64)}, ${sender}, ${address(String(TOKEN_NUMBER))}, NULL, ${address(String(TOKEN_NUMBER))}, '0', '60000', '50000', '27500000000', n % 1000, 0, 1, CASE WHEN n % 10 = 0 THEN 1 ELSE 3 END, ${bytes('2835717307', 8)} FROM ${series(ROWS)}`,
  `INSERT INTO transfer (block, log, place, idx, standard, token, sender, recipient, amount, token_id)
   SELECT n / ${PER_BLOCK}, n % ${PER_BLOCK}, 0, n % ${PER_BLOCK}, 0, ${address(String(TOKEN_NUMBER))}, ${sender}, ${holder}, '5', NULL FROM ${series(ROWS)}`,
  `INSERT INTO internal (block, idx, place, kind, sender, recipient, value)
   SELECT n / ${PER_BLOCK}, n % ${PER_BLOCK}, 0, 0, ${address(String(TOKEN_NUMBER))}, ${sender}, '7' FROM ${series(ROWS)}`,
  `INSERT INTO holder (token, owner, balance) SELECT ${address(String(TOKEN_NUMBER))}, ${holder}, ${balance('1 + (n * 7919) % 1000003')} FROM ${series(ROWS)}`,
  `INSERT INTO account (address, transactions, sent, received, transfers, internal, is_contract, creator, creation, first_block, last_block)
   SELECT ${holder}, n % 1000, 0, 0, 1, 0, 0, NULL, NULL, 0, 1 FROM ${series(ROWS)}`,
  `INSERT INTO account (address, transactions, sent, received, transfers, internal, is_contract, creator, creation, first_block, last_block)
   SELECT ${address('1 + n')}, 10, 10, 0, 10, 10, 0, NULL, NULL, 0, 1 FROM ${series(SENDERS)}`,
  `INSERT INTO account (address, transactions, sent, received, transfers, internal, is_contract, creator, creation, first_block, last_block)
   SELECT ${address(String(TOKEN_NUMBER))}, ${ROWS}, 0, ${ROWS}, 0, ${ROWS}, 1, NULL, NULL, 0, 1 FROM ${series(1)}`,
  ...skipPointers(),
  `INSERT INTO token (address, standard, name, symbol, decimals, supply, transfers, holders, is_read, is_stale)
   SELECT ${address(`${TOKEN_NUMBER} + n`)}, 0, 'Coin', 'COIN', 6, '5000000', ${ROWS} - n, ${ROWS} - n, 1, 0 FROM ${series(10_000)}`,
  `INSERT INTO search (term, kind, address) SELECT 'coin', 0, ${address(`${TOKEN_NUMBER} + n`)} FROM ${series(10_000)}`,
  `INSERT INTO proof (height, block, hash, miner, timestamp, difficulty, nonce, algorithm)
   SELECT n + 1, n, ${bytes('n + 4398046511104', 64)}, ${address('20 + n % 5')}, 1735689600 + n, '1000000', ${bytes('n', 16)}, 'argon2id' FROM ${series(BLOCKS)}`,
  `INSERT INTO producer (address, mined, proposed, mined_wei, proposed_wei) SELECT ${address('1 + n')}, n, n, '1', '1' FROM ${series(30)}`,
  `INSERT INTO reward (address, cycle, role, blocks, wei) SELECT ${address('1 + n % 7')}, n / 14, (n / 7) % 2, 1, '5' FROM ${series(10_000)}`,
  `INSERT INTO counter (name, value) VALUES ('blocks', ${BLOCKS}), ('transactions', ${ROWS}), ('transfers', ${ROWS}), ('internal', ${ROWS}), ('addresses', ${ROWS + SENDERS}), ('tokens', 10000), ('proofs', ${BLOCKS}), ('transactions:token', ${ROWS - ROWS / 10}), ('transactions:call', ${ROWS / 10})`,
  `INSERT INTO position (id, number, hash) VALUES (1, ${BLOCKS - 1}, ${bytes(`${BLOCKS - 1} + 1099511627776`, 64)})`,
]

const fill = async (database: IndexDatabase): Promise<void> => {
  const index = await openIndex(database)
  await index.beginBackfill()
  const direct =
    database.kind === 'sqlite' ? new SqliteDatabase(database) : await PostgresDatabase.open({ url: database.url })
  const began = performance.now()
  const run = (sql: string): Promise<number> => direct.transaction((writes: SqlWrites) => writes.run(sql))
  for (const sql of STATEMENTS) await run(sql)
  await direct.close()
  const filled = performance.now()
  await index.endBackfill()
  await index.close()
  const seconds = (from: number, to: number): string => ((to - from) / 1_000).toFixed(0)
  print(`${ROWS} rows in ${seconds(began, filled)} s, their indexes in ${seconds(filled, performance.now())} s`)
}

/** The chain is asked for its head alone. */
const source = {
  headNumber: async () => BLOCKS - 1,
  state: { code: async () => new Uint8Array(0) },
  header: async () => undefined,
  numberOf: async () => undefined,
  locate: async () => undefined,
} as unknown as ChainSource

const DEEP = 'limit=100&offset=100000'
const anySender = (): Hex => addressOf(1 + random.below(SENDERS))
const URLS: Readonly<Record<string, () => string>> = {
  blocks: () => '/api/blocks',
  transactions: () => '/api/transactions?limit=100',
  'transactions, deep': () => `/api/transactions?${DEEP}`,
  'transactions by kind': () => '/api/transactions?txType=call&limit=100',
  'transactions by kind, deep': () => `/api/transactions?txType=token&${DEEP}`,
  'transactions from': () => `/api/transactions?from=${anySender()}&limit=100`,
  'transactions to the token, deep': () => `/api/transactions?to=${TOKEN}&${DEEP}`,
  'transactions by kind and to': () => `/api/transactions?txType=call&to=${TOKEN}&limit=100`,
  'transactions by from and to': () => `/api/transactions?from=${anySender()}&to=${TOKEN}&limit=100`,
  'transactions by kind and from, none': () => `/api/transactions?txType=create&from=${anySender()}`,
  'transactions by kind and to, none': () => `/api/transactions?txType=create&to=${TOKEN}`,
  'transactions of the token': () => `/api/addresses/${TOKEN}/transactions?limit=100`,
  'transactions of the token, deep': () => `/api/addresses/${TOKEN}/transactions?${DEEP}`,
  'transfers of an address': () => `/api/addresses/${anySender()}/transfers?limit=100`,
  'internal transfers': () => '/api/internal-transfers?limit=100',
  'internal transfers, deep': () => `/api/internal-transfers?${DEEP}`,
  'internal transfers of the token, deep': () => `/api/addresses/${TOKEN}/internal?${DEEP}`,
  tokens: () => '/api/tokens?limit=100',
  'transfers of the token': () => `/api/tokens/${TOKEN}/transfers?limit=100`,
  'transfers of the token, deep': () => `/api/tokens/${TOKEN}/transfers?${DEEP}`,
  holders: () => `/api/tokens/${TOKEN}?limit=100`,
  'holders, deep': () => `/api/tokens/${TOKEN}?${DEEP}`,
  'top accounts': () => '/api/top-accounts?limit=100',
  'top accounts, deep': () => `/api/top-accounts?${DEEP}`,
  rewards: () => '/api/rewards?cycle=5',
  'rewards of an address': () => `/api/addresses/${addressOf(1)}/rewards?limit=100`,
  stats: () => '/api/stats?days=365',
  'search for 10,000 tokens': () => '/api/search?q=coin',
  'module txlist': () => `/api?module=account&action=txlist&address=${TOKEN}&page=1&offset=100&sort=desc`,
  'module txlist, deep': () => `/api?module=account&action=txlist&address=${TOKEN}&page=1000&offset=100&sort=asc`,
  'module tokentx': () => `/api?module=account&action=tokentx&address=${anySender()}&page=1&offset=100&sort=desc`,
  'module tokentx, deep': () =>
    `/api?module=account&action=tokentx&contractaddress=${TOKEN}&page=1000&offset=100&sort=asc`,
  'module tokentx of a range, deep': () =>
    `/api?module=account&action=tokentx&contractaddress=${TOKEN}&startblock=100&endblock=900&page=1000&offset=100&sort=asc`,
  'module txlist of a range, deep': () =>
    `/api?module=account&action=txlist&address=${TOKEN}&startblock=100&endblock=900&page=1000&offset=100&sort=asc`,
}

const measure = async (database: IndexDatabase): Promise<void> => {
  const index = await openIndexReader(database)
  const nowMs = (): number => 1_735_689_600_000
  const refuse = (): Promise<never> => Promise.reject(new Error('not asked here'))
  const node = { gasPriceWei: async () => 1n, council: async () => [], committee: refuse, rpc: async () => '{}' }
  const contracts = openContractFile(':memory:')
  const context = {
    ...{ index, source, node, nowMs },
    verification: createVerification({ index, source, contracts, node, nowMs, logger: silentLogger }),
    price: new PriceService({ config: undefined, symbol: 'TDM', node, nowMs }),
    rules: { ...localRules(testGenesis()), isDevelopment: false },
  }
  const app = createApiServer({ context, version: 'bench', logger: silentLogger })
  const slow: string[] = []
  const selected = Object.entries(URLS).filter(([name]) => SELECTED.test(name))
  for (const [name, url] of selected) {
    const times: number[] = []
    for (let i = 0; i < REQUESTS; i++) {
      const at = performance.now()
      const { statusCode, body } = await app.inject({ url: url() })
      times.push(performance.now() - at)
      // A refusal of the module API has status 200.
      if (statusCode !== 200 || body.startsWith('{"status":"0"')) throw new Error(`${name}: ${statusCode} ${body}`)
    }
    times.sort((a, b) => a - b)
    const at = (part: number): number => times[Math.floor(part * REQUESTS)] as number
    const isSlow = at(0.95) >= LIMIT_MS
    if (isSlow) slow.push(name)
    print(
      `${isSlow ? 'SLOW' : 'pass'}  p50 ${at(0.5).toFixed(1).padStart(5)} ms  p95 ${at(0.95).toFixed(1).padStart(5)} ms  ${name}`,
    )
  }
  const load = loadavg()[0]?.toFixed(1)
  print(
    `${backEnd}, load ${load}: ${slow.length} of ${selected.length} lists at ${LIMIT_MS} ms or more at p95${slow.length > 0 ? `: ${slow.join('; ')}` : ''}`,
  )
  await app.close()
  await index.close()
}

const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-lists-'))
const server = backEnd === 'postgres' ? await startPostgres() : undefined
try {
  const database: IndexDatabase = server
    ? { kind: 'postgres', url: await server.database() }
    : { kind: 'sqlite', path: join(dir, 'index.sqlite'), ephemeral: true }
  await fill(database)
  await measure(database)
} finally {
  await server?.close()
  rmSync(dir, { recursive: true, force: true })
}
