import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { EVERY_LOG, packCriteria } from '../../../src/chain/store/log-criteria.ts'
import type { ChainReplaced } from '../../../src/chain/store/types.ts'
import { ResponseCache } from '../../../src/rpc/router/response-cache.ts'
import { filtersOn, hubOn } from '../../support/rpc/hub.ts'
import { MemoryChain, signedTransaction } from '../../support/rpc/memory-chain.ts'
import { TOKEN, TOPIC } from '../../support/rpc/sample.ts'
import { MemoryPool } from '../../support/rpc/services.ts'

/** A chain that goes back when told, as a development chain does. */
class ReturningChain extends MemoryChain {
  readonly #told = new Set<(event: ChainReplaced) => void>()

  onReplaced(listener: (event: ChainReplaced) => void): () => void {
    this.#told.add(listener)
    return () => this.#told.delete(listener)
  }

  async goBackTo(number: number): Promise<void> {
    const query = { fromBlock: number + 1, toBlock: this.head().header.number, ...EVERY_LOG }
    const removedLogs = await this.logs(query)
    this.blocks.length = number + 1
    for (const listener of this.#told) listener({ head: this.head(), removedLogs })
  }

  /** Reads of single blocks are answered after this. */
  gate: Promise<void> | undefined

  override async blockByNumber(number: number) {
    const block = await super.blockByNumber(number)
    await this.gate
    return block
  }

  /** Reads of receipts are answered after this. */
  receiptGate: Promise<void> | undefined

  override async receipt(hash: Hex) {
    const receipt = await super.receipt(hash)
    await this.receiptGate
    return receipt
  }

  get listeners(): number {
    return this.#told.size
  }
}

const textOf = (json: object): unknown => ('text' in json ? json.text : undefined)

const log = { address: TOKEN, topics: [TOPIC], data: Uint8Array.of(1) }

test('subscribers of logs get those of blocks taken back once more, as removed', async () => {
  const chain = new ReturningChain()
  const hub = hubOn({ view: chain, pool: new MemoryPool() })
  const frames: { removed: boolean; blockNumber: string }[] = []
  const socketSession = hub.open(frame => frames.push(JSON.parse(frame.toString()).params.result))
  const messageScope = socketSession.scope()
  messageScope.subscribe('eth', { kind: 'logs', criteria: packCriteria({ addresses: [TOKEN], topics: [] }) })
  messageScope.subscribe('eth', {
    kind: 'logs',
    criteria: packCriteria({ addresses: [`0x${'99'.repeat(20)}`], topics: [] }),
  })
  messageScope.release()
  chain.append()
  chain.append({ transactions: [signedTransaction({ nonce: 0 })], logs: [[log]] })
  await chain.goBackTo(1)
  expect(frames.map(({ removed, blockNumber }) => [blockNumber, removed])).toEqual([
    ['0x2', false],
    ['0x2', true],
  ])
  hub.close()
  expect(chain.listeners).toBe(0)
})

test('filters go on with the blocks that come in the place of those taken back', async () => {
  const chain = new ReturningChain()
  const filters = filtersOn({ view: chain, pool: new MemoryPool() })
  const id = filters.newBlockFilter()
  for (let i = 0; i < 3; i++) chain.append()
  expect(await filters.changes(id)).toMatchObject({ hashes: { length: 3 } })
  await chain.goBackTo(1)
  expect(await filters.changes(id)).toEqual({ hashes: [] })
  const { hash } = chain.append()
  expect(await filters.changes(id)).toEqual({ hashes: [hash] })
  filters.close()
  expect(chain.listeners).toBe(0)
})

test('what was rendered before is forgotten, and what was being rendered is not kept', async () => {
  const chain = new ReturningChain()
  const responseCache = new ResponseCache(chain)
  for (let i = 0; i < 3; i++) chain.append()
  await responseCache.blockByNumber(1, false)
  const gate = Promise.withResolvers<void>()
  chain.gate = gate.promise
  const underWay = responseCache.blockByNumber(2, false)
  await chain.goBackTo(0)
  gate.resolve()
  expect(textOf(await underWay)).toContain('"number":"0x2"')
  expect(textOf(await responseCache.blockByNumber(2, false))).toBe('null')
  // Others than before.
  chain.append({ transactions: [signedTransaction({ nonce: 0 })], logs: [[]] })
  chain.append()
  chain.append()
  const { hash } = (await chain.blockByNumber(2)) as { hash: string }
  expect(textOf(await responseCache.blockByNumber(2, false))).toContain(hash)
  responseCache.close()
  expect(chain.listeners).toBe(0)
})

test('a transaction that a later block has too is that of the later block, also after it was read at its old place', async () => {
  const chain = new ReturningChain()
  const responseCache = new ResponseCache(chain)
  const transaction = signedTransaction({ nonce: 0 })
  const { hash } = transaction
  const content = { transactions: [transaction], logs: [[]] }
  const older = chain.append(content)
  const numbers = async () => {
    const read = [await responseCache.transaction(hash), await responseCache.receipt(hash)]
    return read.map(json => JSON.parse(textOf(json as object) as string).blockNumber)
  }
  expect(await numbers()).toEqual(['0x1', '0x1'])
  // A read under way while the block comes is not kept either.
  const gate = Promise.withResolvers<void>()
  chain.receiptGate = gate.promise
  const other = new ResponseCache(chain)
  const underWay = other.receipt(hash)
  const newer = chain.append(content)
  gate.resolve()
  await underWay
  expect(await numbers()).toEqual(['0x2', '0x2'])
  expect(textOf((await other.receipt(hash)) as object)).toContain('"blockNumber":"0x2"')
  const at = (block: typeof older) => textOf(responseCache.transactionAt(block, 0) as object)
  expect(at(older)).toContain('"blockNumber":"0x1"')
  expect(at(newer)).toContain('"blockNumber":"0x2"')
  expect(await numbers()).toEqual(['0x2', '0x2'])
  for (const cache of [responseCache, other]) cache.close()
  expect(chain.listeners).toBe(0)
})

test('a filter whose range begins later tells of no block before it, also after blocks were taken back', async () => {
  const chain = new ReturningChain()
  const filters = filtersOn({ view: chain, pool: new MemoryPool() })
  const wanted = { addresses: [], topics: [], toBlock: undefined, blockHash: undefined }
  const [later, earlier] = [3, 1].map(fromBlock => filters.newLogFilter({ ...wanted, fromBlock })) as [Hex, Hex]
  const append = () => chain.append({ transactions: [signedTransaction({ nonce: 0 })], logs: [[log]] })
  const polled = async (id: Hex) => {
    const changes = await filters.changes(id)
    return 'logs' in changes && changes.logs.map(({ blockNumber }) => blockNumber)
  }
  for (let i = 0; i < 4; i++) append()
  expect([await polled(later), await polled(earlier)]).toEqual([
    [3, 4],
    [1, 2, 3, 4],
  ])
  await chain.goBackTo(1)
  for (let i = 0; i < 2; i++) append()
  expect([await polled(later), await polled(earlier)]).toEqual([[3], [2, 3]])
})
