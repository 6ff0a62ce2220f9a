import { setImmediate } from 'node:timers/promises'
import type { Hex } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import { EVERY_LOG, packCriteria } from '../../../../src/chain/store/log-criteria.ts'
import type { ChainReplaced } from '../../../../src/chain/store/types.ts'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { subscriptionFrom } from '../../../../src/rpc/methods/eth/filters.ts'
import { Resume } from '../../../../src/rpc/subscriptions/resume.ts'
import type { Subscription } from '../../../../src/rpc/subscriptions/subscription-entry.ts'
import { eventually } from '../../../support/node-process.ts'
import { hubOn } from '../../../support/rpc/hub.ts'
import { MemoryChain, signedTransaction } from '../../../support/rpc/memory-chain.ts'
import { Rig } from '../../../support/rpc/rig.ts'
import { TOKEN } from '../../../support/rpc/sample.ts'
import { MemoryPool } from '../../../support/rpc/services.ts'
import { Socket } from '../../../support/rpc/socket.ts'
import { SEED } from '../../../support/seed.ts'

const CLIENT = '192.0.2.5'
const ANY = packCriteria({ addresses: [], topics: [] })

class ReturningChain extends MemoryChain {
  readonly #told = new Set<(event: ChainReplaced) => void>()
  firstStored = 0

  override earliest(): number {
    return this.firstStored
  }

  onReplaced(listener: (event: ChainReplaced) => void): () => void {
    this.#told.add(listener)
    return () => this.#told.delete(listener)
  }

  async goBackTo(number: number): Promise<void> {
    const removedLogs = await this.logs({ fromBlock: number + 1, toBlock: this.head().header.number, ...EVERY_LOG })
    this.blocks.length = number + 1
    this.forgetReceipts(number + 1)
    for (const listener of this.#told) listener({ head: this.head(), removedLogs })
  }
}

let tag = 0
const appendLogs = (chain: MemoryChain, count: number): void => {
  const logs = Array.from({ length: count }, () => ({ address: TOKEN, topics: [], data: Uint8Array.of(tag++ & 255) }))
  chain.append(count === 0 ? {} : { transactions: [signedTransaction({ nonce: tag })], logs: [logs] })
}

/** Reader that is waited for once after each notification. */
const slowly = (): (() => Promise<void> | undefined) => {
  let waits = 0
  return () => (++waits % 2 === 0 ? undefined : setImmediate())
}

interface Told {
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly logIndex: Hex
  readonly number: Hex
  readonly removed: boolean
}

const opened = (view: MemoryChain, subscription: Subscription, drained?: () => Promise<void> | undefined) => {
  const hub = hubOn({ view, pool: new MemoryPool() })
  onTestFinished(() => hub.close())
  const told: Told[] = []
  const drops: string[] = []
  const session = hub.open(
    frame => told.push(JSON.parse(String(frame)).params.result),
    CLIENT,
    reason => drops.push(reason),
    drained,
  )
  const scope = session.scope()
  const id = scope.subscribe('eth', subscription)
  return { hub, told, drops, scope, session, id }
}

const placeOf = ({ blockNumber, logIndex }: Told) => `${Number(blockNumber)}.${Number(logIndex)}`

test('heads from a block on come in order, and then those of new blocks', async () => {
  const chain = new MemoryChain()
  for (let i = 0; i < 5; i++) chain.append()
  const { told, scope } = opened(chain, { kind: 'newHeads', from: { block: 2, log: 0 } })
  chain.append()
  expect(told, 'nothing before the id').toEqual([])
  scope.release()
  await eventually('all are told', async () => (told.length === 5 ? true : undefined))
  chain.append()
  expect(told.map(({ number }) => Number(number))).toEqual([2, 3, 4, 5, 6, 7])
})

test('logs from a position on come once each, while blocks come and a slow reader is waited for', async () => {
  const chain = new MemoryChain()
  const counts = [0, 3, 0, 2, 70, 0, 1]
  for (const count of counts) appendLogs(chain, count)
  const reader = opened(chain, { kind: 'logs', criteria: ANY, from: { block: 2, log: 1 } }, slowly())
  reader.scope.release()
  const expected = [...counts.entries()].flatMap(([at, count]) =>
    Array.from({ length: count }, (_, index) => `${at + 1}.${index}`),
  )
  expected.shift()
  for (let number = counts.length + 1; number < 40; number++) {
    appendLogs(chain, number % 4)
    for (let index = 0; index < number % 4; index++) expected.push(`${number}.${index}`)
    await setImmediate()
  }
  await eventually('all are told', async () => (reader.told.length >= expected.length ? true : undefined))
  expect(reader.told.map(placeOf)).toEqual(expected)
})

test('logs beyond the results of a query come block by block', async () => {
  const chain = new MemoryChain()
  const half = RPC_LIMITS.logResults / 2 + 1
  for (const count of [half, half, 1]) appendLogs(chain, count)
  const { told, scope } = opened(chain, { kind: 'logs', criteria: ANY, from: { block: 0, log: 0 } })
  scope.release()
  await eventually('all are told', async () => (told.length === 2 * half + 1 ? true : undefined))
  expect(told.map(({ blockNumber }) => Number(blockNumber))).toEqual([
    ...Array<number>(half).fill(1),
    ...Array<number>(half).fill(2),
    3,
  ])
})

test('blocks taken back meanwhile: what was sent comes as removed, and what replaces it once', async () => {
  let random = SEED
  const next = (below: number): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
    return (random >>> 8) % below
  }
  const chain = new ReturningChain()
  for (let i = 0; i < 30; i++) appendLogs(chain, next(4))
  const { told, scope } = opened(chain, { kind: 'logs', criteria: ANY, from: { block: 1, log: 0 } }, slowly())
  scope.release()
  for (let round = 0; round < 20; round++) {
    for (let wait = next(6); wait > 0; wait--) await setImmediate()
    await chain.goBackTo(Math.max(0, chain.head().header.number - next(12)))
    for (let i = next(10); i > 0; i--) appendLogs(chain, next(4))
  }
  appendLogs(chain, 5)
  const last = `${chain.head().header.number}.4`
  await eventually('all are told', async () =>
    told.length > 0 && placeOf(told.at(-1) as Told) === last ? true : undefined,
  )
  const standing: string[] = []
  let gone = new Set<string>()
  for (const log of told) {
    const place = `${placeOf(log)} ${log.blockHash}`
    if (log.removed) {
      expect(standing, `removed log ${place} was sent`).toContain(place)
      gone.add(place)
      continue
    }
    if (gone.size > 0) standing.splice(0, standing.length, ...standing.filter(known => !gone.has(known)))
    gone = new Set()
    expect(standing).not.toContain(place)
    standing.push(place)
  }
  const logs = await chain.logs({ fromBlock: 0, toBlock: chain.head().header.number, ...EVERY_LOG })
  expect(standing).toEqual(
    logs.map(({ blockNumber, logIndex, blockHash }) => `${blockNumber}.${logIndex} ${blockHash}`),
  )
  expect(told.some(({ removed }) => removed)).toBe(true)
})

test('an ended subscription and a closed connection are sent nothing more', async () => {
  const chain = new MemoryChain()
  for (let i = 0; i < 50; i++) chain.append()
  const { told, scope, session, hub, id } = opened(chain, { kind: 'newHeads', from: { block: 0, log: 0 } }, slowly())
  scope.subscribe('eth', { kind: 'newHeads', from: { block: 0, log: 0 } })
  scope.release()
  await setImmediate()
  expect(scope.unsubscribe(id)).toBe(true)
  session.close()
  const { length } = told
  expect(hub.size).toBe(0)
  for (let i = 0; i < 20; i++) await setImmediate()
  chain.append()
  expect(told.length).toBe(length)
})

test('a connection whose blocks cannot be read is dropped with a reason', async () => {
  const chain = new MemoryChain()
  chain.append()
  chain.blockByNumber = () => Promise.reject(new Error('no disk'))
  const { drops, scope } = opened(chain, { kind: 'newHeads', from: { block: 0, log: 0 } })
  scope.release()
  await eventually('it is dropped', async () => drops[0])
  expect(drops).toEqual(['blocks for a resumed subscription could not be read: subscribe again later'])
  expect(drops[0]?.length).toBeLessThan(124)
})

test('a block that is not there is refused by the texts of other reads', () => {
  const chain = new ReturningChain()
  for (let i = 0; i < 9; i++) chain.append()
  const at = (block: number) => () => opened(chain, { kind: 'newHeads', from: { block, log: 0 } })
  expect(at(10)).not.toThrow()
  expect(at(11)).toThrow('the header does not exist (block number: 11)')
  chain.firstStored = 5
  expect(at(5)).not.toThrow()
  expect(at(4)).toThrow(expect.objectContaining({ code: 'HISTORY_MISSING' }))
  expect(at(0)).toThrow(expect.objectContaining({ code: 'HISTORY_MISSING' }))
})

test('logs that are taken back are told to whom they were sent', () => {
  const other: Hex = `0x${'22'.repeat(20)}`
  const criteria = packCriteria({ addresses: [TOKEN], topics: [] })
  const entry = { subscription: { kind: 'logs', criteria } } as unknown as ConstructorParameters<typeof Resume>[0]
  const resume = new Resume(entry, { block: 5, log: 0 })
  const logAt = (blockNumber: number, address: Hex) => ({ blockNumber, address, topics: [], logIndex: 0 }) as never
  resume.goBack(2, [logAt(3, other), logAt(4, TOKEN), logAt(6, TOKEN)])
  expect([resume.nextRemoved(), resume.nextRemoved()]).toEqual([logAt(4, TOKEN), undefined])
})

test.each([
  ['newHeads', { fromBlock: '0x7' }, { block: 7, log: 0 }],
  ['logs', { fromBlock: '0x7', fromLogIndex: '0x2' }, { block: 7, log: 2 }],
  ['logs', { fromBlock: 'earliest' }, { block: 0, log: 0 }],
  ['logs', { fromBlock: 'latest', toBlock: 'latest' }, undefined],
  ['logs', {}, undefined],
  ['newHeads', undefined, undefined],
])('%s %j begins at %j', (kind, option, from) => {
  expect(subscriptionFrom('eth', kind, option)).toMatchObject(from === undefined ? { kind } : { kind, from })
})

test('a client over WebSocket gets the id first, and errors with the position of the argument', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  for (let i = 0; i < 3; i++) rig.chain.append()
  const socket = await Socket.open(`${rig.url.replace('http', 'ws')}/ws`)
  await socket.result('eth_subscribe', ['newHeads', { fromBlock: '0x1' }])
  await socket.until(3)
  expect(socket.frames[0]).toHaveProperty('id')
  const failures = [
    ['newHeads', { fromBlock: 'finalized' }],
    ['newHeads', { fromBlock: '0x99' }],
    ['logs', { fromLogIndex: '1' }],
    ['logs', { fromBlock: '0x1', toBlock: '0x2' }],
    ['logs', { blockHash: `0x${'11'.repeat(32)}` }],
  ]
  const texts = await Promise.all(failures.map(async params => (await socket.call('eth_subscribe', params)).error))
  expect(texts.map(error => `${error?.code} ${error?.message}`)).toEqual([
    '-32602 invalid argument 2: hex string without 0x prefix',
    '-32000 the header does not exist (block number: 153)',
    '-32602 invalid argument 2: fromLogIndex: hex string without 0x prefix',
    '-32602 invalid argument 2: toBlock: a subscription has no end; ask eth_getLogs for a range',
    '-32602 invalid argument 2: blockHash: a subscription is to all blocks; ask eth_getLogs for one',
  ])
  socket.close()
})

test('a reader that stops is sent no more than a little ahead, and the rest when it goes on', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  const blocks = 8_000
  for (let i = 1; i < blocks; i++) rig.chain.append()
  const socket = await Socket.open(`${rig.url.replace('http', 'ws')}/ws`)
  await socket.result('eth_subscribe', ['newHeads', { fromBlock: '0x0' }])
  socket.raw.pause()
  const held: number[] = []
  for (let i = 0; i < 200; i++) {
    await setImmediate()
    held.push(rig.server.budgets.answers.held)
  }
  expect(Math.max(...held)).toBeLessThan(1024 * 1024)
  socket.raw.resume()
  const told = await socket.until(blocks)
  expect(told.map(({ params }) => Number((params.result as { number: Hex }).number))).toEqual([...Array(blocks).keys()])
  socket.close()
})
