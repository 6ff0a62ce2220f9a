import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { EMPTY_BYTES, type Hex, hexToBytes, toWord, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { createApiServer } from '@tandem/explorer/api/api-server.ts'
import { Indexer, type IndexerState } from '@tandem/explorer/indexer/indexer.ts'
import { TRANSFER_TOPIC } from '@tandem/explorer/indexer/token-logs.ts'
import { PriceService } from '@tandem/explorer/price/price-service.ts'
import { openContractFile } from '@tandem/explorer/store/open-contracts.ts'
import { type IndexDatabase, openIndex, openIndexReader } from '@tandem/explorer/store/open-index.ts'
import type { BlockRecord, TransferRecord } from '@tandem/explorer/store/records.ts'
import { createVerification } from '@tandem/explorer/verification/verification.ts'
import { putBlock } from '../src/chain/store/put-block.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { keccak256Hex } from '../src/crypto/hash.ts'
import { blockFromParts } from '../src/primitives/block.ts'
import { encodeExtraData } from '../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header } from '../src/primitives/header.ts'
import { EMPTY_BLOOM } from '../src/primitives/receipt/bloom.ts'
import { deriveReceipts, type StoredReceipt } from '../src/primitives/receipt/receipt.ts'
import { decodeTransaction, type Transaction, withSender } from '../src/primitives/transaction/transaction.ts'
import { encodeTransaction } from '../src/primitives/transaction/transaction-encoding.ts'
import { Store } from '../src/storage/store.ts'
import { testGenesis } from '../test/support/chain.ts'
import { startPostgres } from '../test/support/explorer/postgres-server.ts'
import { localCall } from '../test/support/explorer/source/local-calls.ts'
import { LocalChain } from '../test/support/explorer/source/local-chain.ts'
import { localRules } from '../test/support/explorer/source/local-rules.ts'

/*
 * The explorer: `node bench/explorer.ts [sqlite|postgres] [chain transactions] [index transactions]`. First the rate at which a chain of plain and ERC-20
 * transfers in LevelDB becomes an index, as one thread does it; then the times of lists, through the server's own routes, over an index with so
 * many transactions and a holder of one token for each.
 */

const [backEnd = 'sqlite', ...counts] = process.argv.slice(2)
const [chainTransactions = 50_000, indexTransactions = 1_000_000] = counts.map(Number)
const PER_BLOCK = Number(process.env['PER_BLOCK'] ?? 500)
const TOKEN: Hex = `0x${'cc'.repeat(20)}`
const random = createRandom(1)
const params = NETWORKS.devnet
const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`
const someone = (among: number): Hex => addressOf(1 + random.below(among))
const print = (text: string): void => void process.stdout.write(`${text}\n`)

const transactionOf = (number: number): Transaction => {
  const isToken = number % 2 === 0
  const unsigned = {
    type: 0 as const,
    chainId: params.chainId,
    nonce: number,
    gasLimit: 60_000n,
    maxFeePerGas: 27_500_000_000n,
    maxPriorityFeePerGas: 27_500_000_000n,
    to: isToken ? TOKEN : someone(20_000),
    value: isToken ? 0n : 1n,
    data: isToken ? new Uint8Array(68).fill(1) : EMPTY_BYTES,
    accessList: [],
  }
  // Nobody looks at the signature of a stored transaction: its sender is stored beside it.
  const word = new Uint8Array(32).fill(7)
  const { raw } = encodeTransaction(unsigned, { r: word, s: word, yParity: 0 })
  return withSender(decodeTransaction(raw), { hash: keccak256Hex(raw), from: someone(20_000) })
}

const receiptOf = (transaction: Transaction, index: number): StoredReceipt => ({
  status: 1,
  cumulativeGasUsed: BigInt(index + 1) * 21_000n,
  logs:
    transaction.to === TOKEN
      ? [
          {
            address: TOKEN,
            topics: [TRANSFER_TOPIC, toWord(BigInt(transaction.from)), toWord(BigInt(someone(20_000)))],
            data: hexToBytes(toWord(5n)),
          },
        ]
      : [],
})

const headerOf = (number: number, parentHash: Hex): Header => ({
  parentHash,
  sha3Uncles: EMPTY_LIST_HASH,
  miner: ZERO_ADDRESS,
  stateRoot: ZERO_HASH,
  transactionsRoot: ZERO_HASH,
  receiptsRoot: ZERO_HASH,
  logsBloom: EMPTY_BLOOM,
  difficulty: 1n,
  number,
  gasLimit: 999_999_999_999n,
  gasUsed: 21_000n * BigInt(PER_BLOCK),
  timestamp: 1_735_689_600 + number,
  extraData: encodeExtraData({
    version: 1,
    vanity: EMPTY_BYTES,
    proposer: addressOf(1),
    parentCertificate: null,
    proofTip: ZERO_HASH,
    proofHeadersHash: ZERO_HASH,
    evidenceRoot: ZERO_HASH,
  }),
  mixHash: ZERO_HASH,
  nonce: '0x0000000000000000',
  baseFeePerGas: 25_000_000_000n,
})

const writeChain = async (store: Store): Promise<void> => {
  let parentHash: Hex = ZERO_HASH
  for (let number = 0; number * PER_BLOCK <= chainTransactions; number++) {
    const count = number === 0 ? 0 : PER_BLOCK
    const transactions = Array.from({ length: count }, (_, i) => transactionOf(number * PER_BLOCK + i))
    const header = headerOf(number, parentHash)
    const block = blockFromParts(header, { transactions, proofHeaders: [], evidence: [] })
    const receipts = finishSlicedWork(
      deriveReceipts(transactions.map(receiptOf), { transactions, baseFeePerGas: 25_000_000_000n }),
    )
    const batch = store.batch()
    putBlock(batch, { block: { ...block, extra: undefined as never }, receipts, certificate: null })
    await batch.write()
    parentHash = block.hash
  }
}

const backfill = async (source: LocalChain, database: IndexDatabase): Promise<void> => {
  const index = await openIndex(database)
  const indexer = new Indexer({
    source,
    call: localCall(source),
    index,
    logger: silentLogger,
    nowMs: () => performance.now(),
    backfillBlocks: Number(process.env['BACKFILL_BLOCKS'] ?? 20),
    batchBlocks: Number(process.env['BATCH_BLOCKS'] ?? 256),
  })
  const began = performance.now()
  const cpu = process.cpuUsage()
  const ofServer = server?.processorSeconds() ?? 0
  let state: IndexerState = 'behind'
  while (state === 'behind') state = await indexer.step()
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const { transactions } = await index.counters()
  await index.close()
  // The time of a connection counts once it has ended.
  await new Promise(resolve => setTimeout(resolve, 200))
  print(
    `backfill: ${transactions} transactions in ${seconds.toFixed(1)} s, ${Math.round(transactions / seconds)} a second ` +
      `(${((user + system) / 1e6).toFixed(1)} s of this process's processor` +
      `${server ? `, ${(server.processorSeconds() - ofServer).toFixed(1)} s of the database's` : ''})`,
  )
}

/** Blocks as the indexer makes them; each transaction gives some tokens to an owner who has none. */
const recordAt = (number: number, first: number, parentHash: Hex): BlockRecord => {
  const count = number === 0 ? 0 : Math.min(PER_BLOCK, indexTransactions - first)
  const ids = Array.from({ length: count }, (_, i) => first + i)
  return {
    number,
    hash: toWord(BigInt(number) + 2n ** 200n),
    parentHash,
    timestamp: 1_735_689_600 + number,
    proposer: addressOf(1),
    miner: ZERO_ADDRESS,
    gasUsed: 1n,
    gasLimit: 999_999_999_999n,
    baseFeePerGas: 25_000_000_000n,
    size: 1_000,
    feesWei: 1n,
    burntWei: 1n,
    mintedWei: 0n,
    proposerWei: 1n,
    minerWei: 0n,
    minerCredits: [],
    cycle: Math.floor(number / 60),
    transactions: ids.map((id, index) => ({
      index,
      hash: toWord(BigInt(id) + 2n ** 100n),
      from: someone(100_000),
      to: TOKEN,
      created: null,
      value: 0n,
      gas: 60_000n,
      gasUsed: 50_000n,
      gasPrice: 27_500_000_000n,
      nonce: 1,
      type: 0,
      status: 1,
      kind: 'token',
      methodId: '0xa9059cbb',
    })),
    internal: [],
    failed: [],
    proofs: [],
    transfers: ids.map(
      (id, index): TransferRecord => ({
        logIndex: index,
        position: 0,
        transactionIndex: index,
        standard: 'ERC-20',
        token: TOKEN,
        from: ZERO_ADDRESS,
        to: addressOf(1_000_000 + id),
        amount: BigInt(1 + random.below(1_000_000)),
        tokenId: null,
      }),
    ),
  }
}

const fillLarge = async (database: IndexDatabase): Promise<void> => {
  const index = await openIndex(database)
  const began = performance.now()
  let written = 0
  let parent: Hex = ZERO_HASH
  let worstMs = 0
  for (let number = 0; written < indexTransactions; number += 4) {
    const records: BlockRecord[] = []
    for (let i = 0; i < 4 && written < indexTransactions; i++) {
      const record = recordAt(number + i, written, parent)
      records.push(record)
      parent = record.hash
      written += record.transactions.length
    }
    const at = performance.now()
    await index.append(records)
    worstMs = Math.max(worstMs, performance.now() - at)
  }
  const seconds = (performance.now() - began) / 1_000
  print(
    `large index: ${written} transactions, each to a new holder, in ${seconds.toFixed(0)} s; the worst batch of 2,000 took ${worstMs.toFixed(0)} ms`,
  )
  await index.close()
}

const measureLists = async (source: LocalChain, database: IndexDatabase): Promise<void> => {
  const index = await openIndexReader(database)
  const refuse = async (): Promise<never> => {
    throw new Error('not asked here')
  }
  const contracts = openContractFile(':memory:')
  const nowMs = (): number => 0
  const node = { gasPriceWei: async () => 1n, council: refuse, committee: refuse, rpc: async () => '{"result":"0x"}' }
  const context = {
    index,
    source,
    verification: createVerification({ index, source, contracts, node, nowMs, logger: silentLogger }),
    node,
    price: new PriceService({ config: undefined, symbol: 'TDM', node, nowMs }),
    rules: source.rules,
    nowMs,
  }
  const app = createApiServer({ context, version: 'bench', logger: silentLogger })
  const urls: Readonly<Record<string, () => string>> = {
    blocks: () => '/api/blocks',
    transactions: () => '/api/transactions',
    'transactions, 100 from offset 100,000': () => '/api/transactions?limit=100&offset=100000',
    'transactions from': () => `/api/transactions?from=${someone(100_000)}`,
    'transactions by kind and to': () => `/api/transactions?txType=token&to=${TOKEN}`,
    'transactions of the busiest address': () => `/api/addresses/${TOKEN}/transactions`,
    'holders of the token': () => `/api/tokens/${TOKEN}`,
    'holders, 100 from offset 100,000': () => `/api/tokens/${TOKEN}?limit=100&offset=100000`,
    'transfers of the token': () => `/api/tokens/${TOKEN}/transfers`,
    'transfers of an address': () =>
      `/api/addresses/${addressOf(1_000_000 + random.below(indexTransactions))}/transfers`,
    stats: () => '/api/stats',
    search: () => '/api/search?q=coin',
  }
  for (const [name, url] of Object.entries(urls)) {
    const times: number[] = []
    for (let i = 0; i < 60; i++) {
      const at = performance.now()
      const { statusCode, body } = await app.inject({ url: url() })
      times.push(performance.now() - at)
      if (statusCode !== 200) throw new Error(`${name}: ${statusCode} ${body}`)
    }
    times.sort((a, b) => a - b)
    print(`${name}: p50 ${times[30]?.toFixed(1)} ms, p95 ${times[57]?.toFixed(1)} ms`)
  }
  await app.close()
  await index.close()
}

const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-explorer-'))
const server = backEnd === 'postgres' ? await startPostgres() : undefined
const databaseOf = async (name: string): Promise<IndexDatabase> =>
  server
    ? { kind: 'postgres', url: await server.database() }
    : { kind: 'sqlite', path: join(dir, `${name}.sqlite`), ephemeral: false }
try {
  const store = await Store.open(join(dir, 'db'))
  await writeChain(store)
  const source = new LocalChain({ store, params, rules: { ...localRules(testGenesis()), isDevelopment: false } })
  if (chainTransactions > 0) await backfill(source, await databaseOf('backfill'))
  const large = await databaseOf('large')
  if (indexTransactions > 0) {
    await fillLarge(large)
    await measureLists(source, large)
  }
  await store.close()
} finally {
  await server?.close()
  rmSync(dir, { recursive: true, force: true })
}
