import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { ChainSource } from '@tandem/explorer/chain/rpc-chain.ts'
import type { ChainRules } from '@tandem/explorer/chain/rules.ts'
import { Indexer } from '@tandem/explorer/indexer/indexer.ts'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import type { BlockRecord } from '@tandem/explorer/store/records.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { expect, test, vi } from 'vitest'
import { ACCOUNTS, testGenesis, withChain } from '../../support/chain.ts'
import { localRules } from '../../support/explorer/source/local-rules.ts'
import { indexerOf, senderOn, transferData } from '../../support/explorer/token-chain.ts'
import { RandomBlocks } from './random-blocks.ts'
import { recount } from './recount.ts'

vi.setConfig({ testTimeout: 120_000 })

const [ALICE, BOB] = ACCOUNTS as readonly [Hex, Hex]
const ALL = { limit: 100, offset: 0, after: null }

/** Of single blocks an indexer reads only what they used. */
/** Source of the blocks as they are at the time of each read. */
const sourceOf = (blocks: () => readonly BlockRecord[], changes: Partial<ChainRules> = {}): ChainSource =>
  ({
    rules: { ...localRules(testGenesis()), ...changes },
    headNumber: async () => blocks().length - 1,
    includes: async (number: number, hash: Hex) => blocks()[number]?.hash === hash,
    header: async (number: number) => blocks()[number],
    async *records(from: number, to: number) {
      for (const block of blocks().slice(from, to + 1)) yield block
    },
  }) as unknown as ChainSource

test('blocks, transactions and tokens of a chain are indexed', () =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const coin = await alice.deploy('Coin')
    await alice.submit({ to: coin, data: transferData(BOB, 250n) })
    await alice.submit({ to: BOB, value: 7n })
    await chain.mine()
    const { index, catchUp } = indexerOf(chain)
    await catchUp()
    expect(await index.position()).toEqual({ number: 2, hash: chain.chain.headBlock.hash })
    const { items } = await index.transactions({}, ALL)
    expect(items.map(({ kind, blockNumber }) => [kind, blockNumber])).toEqual([
      ['transfer', 2],
      ['token', 2],
      ['create', 1],
    ])
    expect(items[2]).toMatchObject({ created: coin, from: ALICE, to: null, status: 1 })
    expect(await index.token(coin)).toEqual({
      address: coin,
      standard: 'ERC-20',
      name: 'Green Bean',
      symbol: 'BEAN',
      decimals: 6,
      supply: 1_000_000_000n,
      transfers: 2,
      holders: 2,
    })
    expect((await index.holders(coin, ALL)).items).toEqual([
      { owner: ALICE, balance: 1_000_000_000n - 250n },
      { owner: BOB, balance: 250n },
    ])
    expect(await index.account(coin)).toMatchObject({ isContract: true, creator: ALICE, firstBlock: 1, lastBlock: 2 })
    expect((await index.block(2))?.feesWei).toBe(
      items[0]!.gasUsed * items[0]!.gasPrice + items[1]!.gasUsed * items[1]!.gasPrice,
    )
    expect(await recount(index)).toEqual([])
    await index.close()
  }))

test('a failed creation makes no contract, a factory makes a token', () =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const factory = await alice.deploy('Factory')
    await alice.submit({ to: factory, data: Buffer.from('c6dad082', 'hex') })
    // The first byte is no opcode.
    await alice.submit({ to: null, data: Uint8Array.of(0xfe) })
    await chain.mine()
    const { index, catchUp } = indexerOf(chain)
    await catchUp()
    const [failed] = (await index.transactions({ kind: 'create' }, ALL)).items
    expect(failed).toMatchObject({ status: 0, created: null })
    expect(await index.counters()).toMatchObject({ contracts: 2, tokens: 1 })
    const [made] = (await index.internalTransfers({}, ALL)).items
    expect(made).toMatchObject({ kind: 'create', from: factory, value: 0n, blockNumber: 2 })
    expect(await index.account(made?.to as Hex)).toMatchObject({
      isContract: true,
      creator: factory,
      creationTransaction: made?.transactionHash,
    })
    await index.close()
  }))

const passData = (selector: string): Uint8Array =>
  concatBytes(hexToBytes(`0x${selector}`), hexToBytes(toWord(BigInt(BOB))))
const PASS = passData('82c4b3b2')
const FAIL = passData('e8199063')
const CLOSE = passData('c74073a1')

test('wei that contracts move is indexed, and leaves with its blocks', () =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const purse = await alice.deploy('Purse')
    await alice.submit({ to: purse, data: PASS, value: 5n })
    await alice.submit({ to: purse, data: FAIL, value: 6n })
    await alice.submit({ to: purse, data: CLOSE, value: 7n })
    await chain.mine()
    const { index, catchUp } = indexerOf(chain)
    await catchUp()
    const { items } = await index.internalTransfers({ party: BOB }, ALL)
    expect(items.map(({ kind, from, value, transactionIndex }) => [kind, from, value, transactionIndex])).toEqual([
      ['selfdestruct', purse, 7n, 2],
      ['call', purse, 5n, 0],
    ])
    expect(await index.account(BOB)).toMatchObject({ internal: 2, transactions: 0, firstBlock: 2 })
    expect(await recount(index)).toEqual([])
    await index.rollback(1)
    expect((await index.internalTransfers({}, ALL)).items).toEqual([])
    expect(await index.account(BOB)).toBeUndefined()
    expect(await recount(index)).toEqual([])
    await index.close()
  }))

test('a token that never answers is indexed without a name, and those behind it have theirs', () =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const hostile = await alice.deploy('Hostile')
    await alice.submit({ to: hostile, data: transferData(BOB, 2n ** 256n - 1n) })
    await chain.mine()
    const coin = await alice.deploy('Coin')
    const { index, catchUp } = indexerOf(chain)
    await catchUp()
    expect(await index.token(hostile)).toMatchObject({ name: null, symbol: null, decimals: null, supply: null })
    expect(await index.token(coin)).toMatchObject({ name: 'Green Bean' })
    expect(await index.tokensToRead(10)).toEqual([])
    // No event told that Alice had any: her sum is negative.
    expect((await index.holders(hostile, ALL)).items).toEqual([
      { owner: BOB, balance: 2n ** 256n - 1n },
      { owner: alice.address, balance: 1n - 2n ** 256n },
    ])
    await index.close()
  }))

test('new tokens are all read before the indexer rests', () =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const tokens: Hex[] = []
    for (let token = 0; token < 2 * EXPLORER_LIMITS.token.perStep + 1; token++) tokens.push(await alice.deploy('Coin'))
    const { index, catchUp } = indexerOf(chain)
    await catchUp()
    expect(await index.tokensToRead(10)).toEqual([])
    for (const token of tokens) expect(await index.token(token)).toMatchObject({ name: 'Green Bean' })
    await index.close()
  }))

test('a name beyond the limit of an answer is none, and a long symbol is cut', () =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const long = await alice.deploy('Long')
    await alice.submit({ to: long, data: transferData(BOB, 1n) })
    await chain.mine()
    const { index, catchUp } = indexerOf(chain)
    await catchUp()
    expect(await index.token(long)).toMatchObject({ name: null, symbol: 'S'.repeat(32) })
    expect(await index.search('xxxxxxxx', 5)).toEqual([])
    expect(await index.search('ssssssss', 5)).toHaveLength(1)
    await index.close()
  }))

test('an index of blocks that the chain does not have goes back to the last one it has', () =>
  withChain(async chain => {
    const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
    await withChain(async other => {
      // The same genesis, and other blocks behind it.
      const alice = senderOn(other)
      await other.mine()
      await alice.submit({ to: BOB, value: 1n })
      for (let i = 0; i < 5; i++) await other.mine()
      await indexerOf(other, index, 2).catchUp()
    })
    expect((await index.position())?.number).toBe(6)
    const alice = senderOn(chain)
    for (let i = 0; i < 3; i++) await chain.mine()
    await alice.submit({ to: BOB, value: 2n })
    await chain.mine()
    const { catchUp } = indexerOf(chain, index, 2)
    await catchUp()
    expect(await index.position()).toEqual({ number: 4, hash: chain.chain.headBlock.hash })
    expect((await index.transactions({}, ALL)).items.map(({ value }) => value)).toEqual([2n])
    expect(await recount(index)).toEqual([])
    await index.close()
  }))

test('blocks that were read ahead and then left the chain are not indexed', async () => {
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  // Two chains with one beginning; the second is shown after the first batch.
  const [first, second] = [new RandomBlocks({ seed: 5 }), new RandomBlocks({ seed: 6, fork: 1 })]
  const shared = first.chain(4)
  const [before, after] = [first.chain(8, shared.at(-1)), second.chain(9, shared.at(-1))]
  let blocks = [...shared, ...before]
  const source = sourceOf(() => blocks)
  const indexer = new Indexer({
    source,
    call: async () => undefined,
    index,
    logger: silentLogger,
    nowMs: () => 0,
    batchBlocks: 4,
  })
  // Blocks 4 to 7 of the first chain are read while 0 to 3 are written.
  expect(await indexer.step()).toBe('behind')
  blocks = [...shared, ...after]
  while ((await indexer.step()) === 'behind');
  expect(await index.position()).toEqual({ number: 12, hash: after.at(-1)?.hash })
  const { items } = await index.blocks({ limit: 100, offset: 0, after: null })
  expect(items.map(({ hash }) => hash)).toEqual(blocks.toReversed().map(({ hash }) => hash))
  expect(await recount(index)).toEqual([])
  await index.close()
})

test('a batch ends with the block that brings too many rows', async () => {
  const batches: number[] = []
  class WatchedIndex extends SqlIndex {
    override appendAll(given: AsyncIterable<readonly BlockRecord[]> | Iterable<readonly BlockRecord[]>): Promise<void> {
      const watched = async function* () {
        for await (const records of given) {
          batches.push(records.length)
          yield records
        }
      }
      return super.appendAll(watched())
    }
  }
  const index = new WatchedIndex(new SqliteDatabase({ path: ':memory:' }))
  const random = new RandomBlocks({ seed: 8 })
  const light = random.chain(9)
  const [sample] = random.chain(40).flatMap(({ transfers }) => transfers)
  if (sample === undefined) throw new Error('some block moves tokens')
  // As a contract may log it: a batch of ERC-1155 for 256 gas an entry.
  const full = random.chain(6, light.at(-1)).map(block => ({
    ...block,
    gasUsed: 60_000_000n,
    transactions: [],
    internal: [],
    failed: [],
    transfers: Array.from({ length: 8_000 }, (_, position) => ({
      ...sample,
      transactionIndex: 0,
      logIndex: 0,
      position,
    })),
  }))
  const blocks = [...light, ...full]
  const source = sourceOf(() => blocks)
  const call = async () => undefined
  const indexer = new Indexer({ source, call, index, logger: silentLogger, nowMs: () => 0 })
  while ((await indexer.step()) === 'behind');
  expect(batches).toEqual([12, 3])
  expect(await index.position()).toEqual({ number: 14, hash: blocks.at(-1)?.hash })
  await index.close()
})

test('an index that is kept for its own chain stays as it is while a node is of another one, and goes on with the right one', async () => {
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  const chain = new RandomBlocks({ seed: 61 }).chain(20)
  const other = new RandomBlocks({ seed: 62, fork: 1 }).chain(30)
  let served = chain.slice(0, 15)
  const source = sourceOf(() => served, { isDevelopment: false })
  const call = async () => undefined
  const indexer = new Indexer({ source, call, index, logger: silentLogger, nowMs: () => 0, keepsForeign: true })
  await indexer.step()
  served = other
  const refusal = { detail: { code: 'INDEX_OF_OTHER_CHAIN', found: chain[0]?.hash, expected: other[0]?.hash } }
  await expect(indexer.step()).rejects.toMatchObject(refusal)
  expect(await index.position()).toEqual({ number: 14, hash: chain[14]?.hash })
  served = chain
  await indexer.step()
  expect(await index.position()).toEqual({ number: 19, hash: chain[19]?.hash })
  expect(await recount(index)).toEqual([])
  await index.close()
})

test('an index that is kept loses no block that its node does not know, and only few that the node has others for', async () => {
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  const chain = new RandomBlocks({ seed: 63 }).chain(EXPLORER_LIMITS.index.takenBack + 20)
  const last = { number: chain.length - 1, hash: chain.at(-1)?.hash }
  let served: readonly BlockRecord[] = chain
  let head: number | undefined
  const all = sourceOf(() => served, { isDevelopment: false })
  const source = { ...all, headNumber: async () => head ?? all.headNumber() }
  const call = async () => undefined
  const options = { source, call, index, logger: silentLogger, nowMs: () => 0, keepsForeign: true }
  const indexer = new Indexer(options)
  while ((await indexer.step()) === 'behind');
  expect(await index.position()).toEqual(last)
  // The node was restored from an older copy, and says so; then it still says what it was.
  served = chain.slice(0, 50)
  expect(await indexer.step()).toBe('at the head')
  head = last.number
  await expect(indexer.step()).rejects.toMatchObject({ detail: { code: 'NODE_ANSWER_INVALID' } })
  expect(await index.position()).toEqual(last)
  // Another chain from a block on that is too far back to have been taken back.
  head = undefined
  const fork = (from: number) =>
    chain.map(block => (block.number < from ? block : { ...block, hash: toWord(BigInt(1_000_000 + block.number)) }))
  served = fork(10)
  const foreign = { code: 'INDEX_OF_OTHER_CHAIN', found: chain[10]?.hash, expected: served[10]?.hash }
  await expect(indexer.step()).rejects.toMatchObject({ detail: foreign })
  expect(await index.position()).toEqual(last)
  served = fork(last.number)
  await indexer.step()
  expect((await index.block(last.number - 1))?.hash).toBe(chain[last.number - 1]?.hash)
  await index.close()
})

test('an index of another chain is built anew', async () => {
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  await withChain(async other => {
    for (let i = 0; i < 3; i++) await other.mine()
    await indexerOf(other, index).catchUp()
  })
  await withChain(
    async chain => {
      await chain.mine()
      await indexerOf(chain, index).catchUp()
      expect(await index.position()).toEqual({ number: 1, hash: chain.chain.headBlock.hash })
      expect((await index.block(0))?.hash).toBe(chain.genesisHash)
      expect(await recount(index)).toEqual([])
    },
    { genesis: otherGenesis() },
  )
  await index.close()
})

const otherGenesis = () => {
  const genesis = testGenesis()
  return { ...genesis, timestamp: genesis.timestamp - 1 }
}
