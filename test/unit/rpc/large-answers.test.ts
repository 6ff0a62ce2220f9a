import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { placeReceipts } from '../../../src/chain/placed.ts'
import type { Log } from '../../../src/primitives/log.ts'
import { blockJson } from '../../../src/rpc/encode/block.ts'
import { receiptJson } from '../../../src/rpc/encode/receipt.ts'
import { LargeAnswers } from '../../../src/rpc/large-answers.ts'
import { Slots } from '../../../src/rpc/slots.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { signedTransaction } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'
import { Socket } from '../../support/rpc/socket.ts'

const TRANSACTION = signedTransaction({ nonce: 0 })
const log = (i: number): Log => ({
  address: `0x${i.toString(16).padStart(40, '0')}`,
  topics: [`0x${'bb'.repeat(32)}`],
  data: Uint8Array.of(i & 255),
})
const logsOf = (count: number): Log[] => Array.from({ length: count }, (_, i) => log(i))

let rig: Rig
beforeEach(async () => {
  rig = await Rig.start()
})
afterEach(() => rig.stop())

/** A block of so many transactions, 21,000 gas each. */
const append = (transactions: number, logs: readonly (readonly Log[])[] = []) =>
  rig.chain.append({ transactions: Array.from({ length: transactions }, () => TRANSACTION), logs })

describe('what is written while it is read is what is written at once', () => {
  it('receipts of a block of much gas, over HTTP, in a batch and over WebSocket', async () => {
    const block = append(300, [logsOf(2_000), [], logsOf(3)])
    const number: Hex = `0x${block.header.number.toString(16)}`
    const receipts = (await rig.chain.receipts(block.header.number)) ?? []
    const expected: unknown = JSON.parse(`[${placeReceipts(block, receipts).map(receiptJson).join(',')}]`)
    expect(await rig.result('eth_getBlockReceipts', [number])).toEqual(expected)
    const call = { id: 1, method: 'native_getBlockReceipts', params: [block.hash] }
    const batch = JSON.parse(await rig.post(JSON.stringify([call, call]))) as { result: unknown }[]
    expect(batch.map(({ result }) => result)).toEqual([expected, expected])
    const socket = await Socket.open(`ws://127.0.0.1:${rig.server.port}/ws`)
    expect(await socket.result('eth_getBlockReceipts', [number])).toEqual(expected)
    socket.close()
  })

  it('and before anything that its own batch subscribed to', async () => {
    const { hash } = append(300)
    const socket = await Socket.open(`ws://127.0.0.1:${rig.server.port}/ws`)
    const subscribe = { id: 1, method: 'eth_subscribe', params: ['syncing'] }
    socket.raw.send(JSON.stringify([subscribe, { id: 2, method: 'eth_getBlockReceipts', params: [hash] }]))
    await socket.until(1)
    expect(socket.frames.map(frame => Array.isArray(frame))).toEqual([true, false])
    socket.close()
  })

  it('a receipt of many logs', async () => {
    const block = append(1, [logsOf(4_000)])
    const receipts = (await rig.chain.receipts(block.header.number)) ?? []
    const [expected] = placeReceipts(block, receipts).map(receiptJson)
    expect(await rig.result('eth_getTransactionReceipt', [TRANSACTION.hash])).toEqual(JSON.parse(String(expected)))
  })

  it('a block of many transactions in full', async () => {
    const block = append(1_001)
    expect(await rig.result('eth_getBlockByHash', [block.hash, true])).toEqual(JSON.parse(blockJson(block, true)))
    expect(await rig.result('eth_getBlockByHash', [block.hash, false])).toEqual(JSON.parse(blockJson(block, false)))
  })

  it('nothing of a block without receipts', async () => {
    const block = append(300)
    rig.chain.receipts = async () => undefined
    expect(await rig.result('eth_getBlockReceipts', [block.hash])).toBe(null)
  })
})

it('the thread has its turns while a hundred thousand logs are written', async () => {
  append(1, [logsOf(100_000)])
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  const stream = new LargeAnswers(rig.chain).receipts(rig.chain.head()).open()
  setImmediate(count)
  let length = 0
  let longest = 0
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
    length += piece.length
    longest = Math.max(longest, piece.length)
  }
  isOver = true
  expect(length).toBeGreaterThan(30_000_000)
  expect(longest).toBeLessThan(100_000)
  expect(turns).toBeGreaterThan(5)
})

it('a few are made at a time; one that is given up makes room', async () => {
  const large = new LargeAnswers(rig.chain)
  const block = append(300)
  const open = Array.from({ length: 6 }, () => large.receipts(block).open())
  const begun = await Promise.all(open.slice(0, 4).map(stream => stream.next()))
  expect(begun.every(piece => piece !== undefined)).toBe(true)
  let has = false
  const waiting = open[4]?.next().then(piece => {
    has = piece !== undefined
  })
  await new Promise(resolve => setTimeout(resolve, 20))
  expect(has).toBe(false)
  open[0]?.cancel()
  await waiting
  expect(has).toBe(true)
})

it('places are handed on in order, and too many in the queue are refused', async () => {
  const slots = new Slots(1, 2)
  const order: number[] = []
  const first = await slots.take()
  const second = slots.take().then(release => [order.push(2), release] as const)
  const third = slots.take().then(release => [order.push(3), release] as const)
  await expect(slots.take()).rejects.toThrow('too many large answers are waiting')
  first()
  ;(await second)[1]()
  ;(await third)[1]()
  expect(order).toEqual([2, 3])
  await slots.take()
})
