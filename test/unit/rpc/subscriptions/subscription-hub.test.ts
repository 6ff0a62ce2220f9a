import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { expect, onTestFinished, test } from 'vitest'
import { packCriteria } from '../../../../src/chain/store/log-criteria.ts'
import type { CommittedEvent } from '../../../../src/chain/store/types.ts'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { framePrefix } from '../../../../src/rpc/subscriptions/subscription-entry.ts'
import { eventually } from '../../../support/node-process.ts'
import { hubOn } from '../../../support/rpc/hub.ts'
import { MemoryChain, signedTransaction } from '../../../support/rpc/memory-chain.ts'
import { MemoryPool } from '../../../support/rpc/services.ts'

test('a subscription keeps no more memory than the head of its frames has bytes', () => {
  const prefix = framePrefix('eth', '0xcafe')
  expect(`${Buffer.from(prefix)}1}}`).toBe(
    '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xcafe","result":1}}',
  )
  expect(prefix.buffer.byteLength).toBe(prefix.byteLength)
})

const CLIENT = '192.0.2.5'
const ANY = packCriteria({ addresses: [], topics: [] })

/** Uses up the time of a client in this turn of the event loop. */
const spendTurn = (client: string): void => {
  while (sliceOver(client) === undefined);
}

/** Chain whose events can be told again. */
class ToldChain extends MemoryChain {
  readonly #listeners = new Set<(event: CommittedEvent) => void>()

  override onCommitted(listener: (event: CommittedEvent) => void): () => void {
    this.#listeners.add(listener)
    return super.onCommitted(listener)
  }

  tellAgain(event: CommittedEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

const subscribed = (howMany: number, kind: 'newHeads' | 'logs') => {
  const view = new ToldChain()
  const hub = hubOn({ view, pool: new MemoryPool(), pauseIfDue: sliceOver })
  onTestFinished(() => hub.close())
  const frames: string[] = []
  const drops: string[] = []
  const session = hub.open(
    frame => frames.push(String(frame)),
    CLIENT,
    reason => {
      drops.push(reason)
      session.close()
    },
  )
  const messageScope = session.scope()
  const ids = Array.from({ length: howMany }, () =>
    messageScope.subscribe('eth', kind === 'logs' ? { kind, criteria: ANY } : { kind }),
  )
  messageScope.release()
  return { view, hub, frames, drops, ids, messageScope, session }
}

test('notifications of one block wait for the turns of their client, and come in order', async () => {
  const { view, frames, ids, messageScope } = subscribed(3_000, 'newHeads')
  spendTurn(CLIENT)
  view.append()
  view.append()
  expect(frames.length, 'the turn was over').toBeLessThanOrEqual(1)
  const [gone] = ids.slice(-1)
  messageScope.unsubscribe(gone as never)
  await eventually('all are told', async () => (frames.length >= 2 * 2_999 ? true : undefined))
  const numbers = frames.map(frame => Number(JSON.parse(frame).params.result.number))
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect(frames.length).toBe(2 * 2_999)
  expect(
    frames.some(frame => frame.includes(gone as string)),
    'one that was ended is not told',
  ).toBe(false)
})

test('logs of a block wait for the turns of their client', async () => {
  const { view, frames } = subscribed(500, 'logs')
  const logs = Array.from({ length: 20 }, (_, i) => ({
    address: `0x${'11'.repeat(20)}` as const,
    topics: [],
    data: Uint8Array.of(i),
  }))
  spendTurn(CLIENT)
  view.append({ transactions: [signedTransaction({ nonce: 0 })], logs: [logs] })
  expect(frames.length).toBeLessThanOrEqual(1)
  await eventually('all are told', async () => (frames.length === 10_000 ? true : undefined))
})

const numberedLogs = (howMany: number) =>
  Array.from({ length: howMany }, (_, i) => ({
    address: `0x${'11'.repeat(20)}` as const,
    topics: [],
    data: Uint8Array.of(i >> 8, i),
  }))

test('logs of a block are prepared in turns, and those of the next block follow them', async () => {
  const { view, frames } = subscribed(1, 'logs')
  spendTurn('')
  view.append({ transactions: [signedTransaction({ nonce: 0 })], logs: [numberedLogs(1_000)] })
  view.append({ transactions: [signedTransaction({ nonce: 1 })], logs: [numberedLogs(3)] })
  expect(frames, 'the turn was over').toEqual([])
  await eventually('all are told', async () => (frames.length === 1_003 ? true : undefined))
  const told = frames.map(frame => JSON.parse(frame).params.result)
  expect(told.map(({ logIndex }) => Number(logIndex))).toEqual([...numberedLogs(1_000).keys(), 0, 1, 2])
  expect(new Set(told.slice(-3).map(({ blockNumber }) => blockNumber)).size).toBe(1)
})

test('those that wait for logs are dropped when logs of too many blocks wait, and later ones are told', async () => {
  const { view, hub, drops } = subscribed(2, 'logs')
  const events: CommittedEvent[] = []
  view.onCommitted(event => events.push(event))
  spendTurn('')
  view.append({ transactions: [signedTransaction({ nonce: 0 })], logs: [numberedLogs(65)] })
  const [event] = events as [CommittedEvent]
  for (let i = 0; i < RPC_LIMITS.waitingEvents; i++) view.tellAgain(event)
  expect(drops).toEqual([])
  view.tellAgain(event)
  expect(drops).toEqual(['more notifications than can be sent: end some subscriptions'])
  expect(hub.size).toBe(0)
  const frames: string[] = []
  const scope = hub.open(frame => frames.push(String(frame)), '192.0.2.6').scope()
  scope.subscribe('eth', { kind: 'logs', criteria: ANY })
  scope.release()
  view.tellAgain(event)
  await eventually('all are told', async () => (frames.length >= 65 ? true : undefined))
  expect(frames.length, 'those of earlier blocks are not for it').toBe(65)
})

test('a connection for which too many blocks wait is dropped, and told nothing more', async () => {
  const { view, hub, frames, drops } = subscribed(10, 'newHeads')
  spendTurn(CLIENT)
  for (let i = 0; i < RPC_LIMITS.waitingEvents + 3; i++) view.append()
  expect(drops).toEqual(['more notifications than can be sent: end some subscriptions'])
  expect(hub.size).toBe(0)
  const told = frames.length
  for (let i = 0; i < 20; i++) await new Promise(resolve => setImmediate(resolve))
  expect(frames.length).toBe(told)
})
