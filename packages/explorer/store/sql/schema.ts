/** Thrown as CodedError when an index, or a file of verified contracts, cannot be opened. */
export type IndexStoreError = {
  readonly code: 'INDEX_TOO_NEW' | 'CONTRACTS_TOO_NEW'
  readonly path: string
  readonly found: number
  readonly known: number
}

/**
 * Migrations from one layout to the next, each executed once and never changed. Addresses and hashes are BLOBs, wei is decimal TEXT; a
 * balance used for sorting is a BLOB of ordered bytes (balance-key.ts). The SQL is SQLite's; postgres/postgres-layout.ts translates it.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE identity (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE position (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL, hash BLOB NOT NULL);
  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE block (
    number INTEGER PRIMARY KEY, hash BLOB NOT NULL, parent BLOB NOT NULL, timestamp INTEGER NOT NULL,
    proposer BLOB NOT NULL, miner BLOB NOT NULL, transactions INTEGER NOT NULL, gas_used TEXT NOT NULL,
    gas_limit TEXT NOT NULL, base_fee TEXT NOT NULL, size INTEGER NOT NULL,
    fees TEXT NOT NULL, burnt TEXT NOT NULL, minted TEXT NOT NULL, proposer_wei TEXT NOT NULL, miner_wei TEXT NOT NULL);
  CREATE TABLE tx (
    block INTEGER NOT NULL, idx INTEGER NOT NULL, hash BLOB NOT NULL, sender BLOB NOT NULL, recipient BLOB,
    created BLOB, party BLOB, value TEXT NOT NULL, gas TEXT NOT NULL, gas_used TEXT NOT NULL, gas_price TEXT NOT NULL,
    nonce INTEGER NOT NULL, type INTEGER NOT NULL, status INTEGER NOT NULL, kind INTEGER NOT NULL, method BLOB,
    PRIMARY KEY (block, idx)) WITHOUT ROWID;
  CREATE INDEX tx_sender ON tx (sender, block, idx);
  CREATE INDEX tx_party ON tx (party, block, idx);
  CREATE INDEX tx_kind ON tx (kind, block, idx);
  CREATE TABLE transfer (
    block INTEGER NOT NULL, log INTEGER NOT NULL, place INTEGER NOT NULL, idx INTEGER NOT NULL, standard INTEGER NOT NULL,
    token BLOB NOT NULL, sender BLOB NOT NULL, recipient BLOB NOT NULL, amount TEXT NOT NULL, token_id TEXT,
    PRIMARY KEY (block, log, place)) WITHOUT ROWID;
  CREATE INDEX transfer_token ON transfer (token, block, log, place);
  CREATE INDEX transfer_sender ON transfer (sender, block, log, place);
  CREATE INDEX transfer_recipient ON transfer (recipient, block, log, place);
  CREATE TABLE account (
    address BLOB PRIMARY KEY, transactions INTEGER NOT NULL, sent INTEGER NOT NULL, received INTEGER NOT NULL,
    transfers INTEGER NOT NULL, is_contract INTEGER NOT NULL, creator BLOB, creation BLOB,
    first_block INTEGER NOT NULL, last_block INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX account_transactions ON account (transactions, address);
  CREATE TABLE producer (address BLOB PRIMARY KEY, mined INTEGER NOT NULL, proposed INTEGER NOT NULL,
    mined_wei TEXT NOT NULL, proposed_wei TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE token (
    address BLOB PRIMARY KEY, standard INTEGER NOT NULL, name TEXT, symbol TEXT, decimals INTEGER, supply TEXT,
    transfers INTEGER NOT NULL, holders INTEGER NOT NULL, is_read INTEGER NOT NULL DEFAULT 0, is_stale INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX token_transfers ON token (transfers, address);
  CREATE INDEX token_stale ON token (is_read) WHERE is_stale = 1;
  CREATE TABLE holder (token BLOB NOT NULL, owner BLOB NOT NULL, balance BLOB NOT NULL, PRIMARY KEY (token, owner)) WITHOUT ROWID;
  CREATE INDEX holder_balance ON holder (token, balance, owner);
  CREATE INDEX holder_owner ON holder (owner, token);
  CREATE TABLE day (
    day INTEGER PRIMARY KEY, blocks INTEGER NOT NULL, transactions INTEGER NOT NULL, gas_used TEXT NOT NULL, value TEXT NOT NULL,
    fees TEXT NOT NULL, burnt TEXT NOT NULL, gas_prices TEXT NOT NULL, first_timestamp INTEGER NOT NULL, last_timestamp INTEGER NOT NULL,
    active INTEGER NOT NULL, new_addresses INTEGER NOT NULL, new_contracts INTEGER NOT NULL);
  CREATE TABLE day_address (day INTEGER NOT NULL, address BLOB NOT NULL, transactions INTEGER NOT NULL, PRIMARY KEY (day, address)) WITHOUT ROWID;
  CREATE TABLE label (address BLOB PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE search (term TEXT NOT NULL, kind INTEGER NOT NULL, address BLOB NOT NULL, PRIMARY KEY (term, kind, address)) WITHOUT ROWID;
  `,
  // Blocks are indexed again for the tables that are new.
  `
  DELETE FROM position; DELETE FROM counter; DELETE FROM block; DELETE FROM tx; DELETE FROM transfer; DELETE FROM account;
  DELETE FROM producer; DELETE FROM token; DELETE FROM holder; DELETE FROM day; DELETE FROM day_address; DELETE FROM search WHERE kind = 0;
  CREATE INDEX block_miner ON block (miner, number);
  CREATE INDEX block_proposer ON block (proposer, number);
  CREATE TABLE internal (
    block INTEGER NOT NULL, idx INTEGER NOT NULL, place INTEGER NOT NULL, kind INTEGER NOT NULL, sender BLOB NOT NULL,
    recipient BLOB NOT NULL, value TEXT NOT NULL, PRIMARY KEY (block, idx, place)) WITHOUT ROWID;
  CREATE INDEX internal_sender ON internal (sender, block, idx, place);
  CREATE INDEX internal_recipient ON internal (recipient, block, idx, place);
  ALTER TABLE account ADD COLUMN internal INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE proof (
    height INTEGER PRIMARY KEY, block INTEGER NOT NULL, hash BLOB NOT NULL, miner BLOB NOT NULL, timestamp INTEGER NOT NULL,
    difficulty TEXT NOT NULL, nonce BLOB NOT NULL, algorithm TEXT NOT NULL);
  CREATE INDEX proof_block ON proof (block);
  CREATE TABLE proof_hour (hour INTEGER PRIMARY KEY, headers INTEGER NOT NULL, work TEXT NOT NULL);
  CREATE TABLE proof_miner (day INTEGER NOT NULL, miner BLOB NOT NULL, headers INTEGER NOT NULL, PRIMARY KEY (day, miner)) WITHOUT ROWID;
  `,
  // Blocks are indexed again for their rewards, and those of a node elsewhere for their internal transfers.
  `
  DELETE FROM position; DELETE FROM counter; DELETE FROM block; DELETE FROM tx; DELETE FROM transfer; DELETE FROM account;
  DELETE FROM producer; DELETE FROM token; DELETE FROM holder; DELETE FROM day; DELETE FROM day_address; DELETE FROM internal;
  DELETE FROM proof; DELETE FROM proof_hour; DELETE FROM proof_miner; DELETE FROM search WHERE kind = 0;
  ALTER TABLE block ADD COLUMN cycle INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE reward (
    address BLOB NOT NULL, cycle INTEGER NOT NULL, role INTEGER NOT NULL, blocks INTEGER NOT NULL, wei TEXT NOT NULL,
    PRIMARY KEY (address, cycle, role)) WITHOUT ROWID;
  CREATE INDEX reward_cycle ON reward (cycle);
  `,
  // Blocks are indexed again for the causes of failures.
  `
  DELETE FROM position; DELETE FROM counter; DELETE FROM block; DELETE FROM tx; DELETE FROM transfer; DELETE FROM account;
  DELETE FROM producer; DELETE FROM token; DELETE FROM holder; DELETE FROM day; DELETE FROM day_address; DELETE FROM internal;
  DELETE FROM proof; DELETE FROM proof_hour; DELETE FROM proof_miner; DELETE FROM reward; DELETE FROM search WHERE kind = 0;
  CREATE TABLE failed (
    block INTEGER NOT NULL, idx INTEGER NOT NULL, error TEXT NOT NULL, output BLOB NOT NULL, PRIMARY KEY (block, idx)) WITHOUT ROWID;
  `,
  // Blocks are indexed again for the skip pointers of lists.
  `
  DELETE FROM position; DELETE FROM counter; DELETE FROM block; DELETE FROM tx; DELETE FROM transfer; DELETE FROM account;
  DELETE FROM producer; DELETE FROM token; DELETE FROM holder; DELETE FROM day; DELETE FROM day_address; DELETE FROM internal;
  DELETE FROM proof; DELETE FROM proof_hour; DELETE FROM proof_miner; DELETE FROM reward; DELETE FROM failed;
  DELETE FROM search WHERE kind = 0;
  CREATE TABLE skip_pointer (
    list INTEGER NOT NULL, owner BLOB NOT NULL, ordinal INTEGER NOT NULL, block INTEGER NOT NULL, second INTEGER NOT NULL,
    third INTEGER NOT NULL, PRIMARY KEY (list, owner, ordinal)) WITHOUT ROWID;
  CREATE INDEX skip_pointer_block ON skip_pointer (block);
  `,
  // Transfers of another standard than that of the token: without any, its list by standard is its list.
  `
  ALTER TABLE token ADD COLUMN other_transfers INTEGER NOT NULL DEFAULT 0;
  UPDATE token SET other_transfers = others.count FROM (
    SELECT t.token, count(*) AS count FROM transfer t JOIN token k ON k.address = t.token
    WHERE t.standard <> k.standard GROUP BY t.token) AS others
  WHERE others.token = token.address;
  `,
  // For offsets between two blocks.
  `
  CREATE INDEX skip_pointer_list ON skip_pointer (list, owner, block, ordinal);
  `,
  // Owners whose sum is below 0 count as holders.
  `
  UPDATE token SET holders = (SELECT count(*) FROM holder WHERE holder.token = token.address);
  `,
  // Credits to miners in the block that ends a cycle.
  `
  ALTER TABLE block ADD COLUMN miner_credits TEXT NOT NULL DEFAULT '';
  `,
]

/** Every table derived from blocks, for emptying them. */
export const BLOCK_TABLES = [
  'position',
  'counter',
  'block',
  'tx',
  'transfer',
  'account',
  'producer',
  'token',
  'holder',
  'day',
  'day_address',
  'internal',
  'failed',
  'proof',
  'proof_hour',
  'proof_miner',
  'reward',
  'skip_pointer',
] as const

/** Migrations of the file of verified contracts. */
export const CONTRACT_MIGRATIONS: readonly string[] = [
  'CREATE TABLE IF NOT EXISTS contract (address BLOB PRIMARY KEY, name TEXT NOT NULL, record TEXT NOT NULL) WITHOUT ROWID',
]
