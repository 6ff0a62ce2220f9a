import type { Hex } from '@tandem/base/bytes.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { includedReceiptsFromBlock } from '../../../../src/chain/store/included.ts'
import type { Log } from '../../../../src/primitives/receipt/log.ts'
import { blockJson } from '../../../../src/rpc/encode/block.ts'
import { receiptJson } from '../../../../src/rpc/encode/receipt.ts'
import { LargeResponses } from '../../../../src/rpc/router/large-responses.ts'
import { streamOf } from '../../../../src/rpc/router/response.ts'
import { createSlots, streamInTurn } from '../../../../src/rpc/router/slots.ts'
import { signedTransaction } from '../../../support/rpc/memory-chain.ts'
import { Rig } from '../../../support/rpc/rig.ts'
import { Socket } from '../../../support/rpc/socket.ts'

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
  test('receipts of a block of much gas, over HTTP, in a batch and over WebSocket', async () => {
    const block = append(300, [logsOf(2_000), [], logsOf(3)])
    const number: Hex = `0x${block.header.number.toString(16)}`
    const receipts = (await rig.chain.receipts(block.header.number)) ?? []
    const expected: unknown = JSON.parse(`[${includedReceiptsFromBlock(block, receipts).map(receiptJson).join(',')}]`)
    expect(await rig.result('eth_getBlockReceipts', [number])).toEqual(expected)
    const call = { id: 1, method: 'native_getBlockReceipts', params: [block.hash] }
    const batch = JSON.parse(await rig.post(JSON.stringify([call, call]))) as { result: unknown }[]
    expect(batch.map(({ result }) => result)).toEqual([expected, expected])
    const socket = await Socket.open(`ws://127.0.0.1:${rig.server.port}/ws`)
    expect(await socket.result('eth_getBlockReceipts', [number])).toEqual(expected)
    socket.close()
  })

  test('and before anything that its own batch subscribed to', async () => {
    const { hash } = append(300)
    const socket = await Socket.open(`ws://127.0.0.1:${rig.server.port}/ws`)
    const subscribe = { id: 1, method: 'eth_subscribe', params: ['syncing'] }
    socket.raw.send(JSON.stringify([subscribe, { id: 2, method: 'eth_getBlockReceipts', params: [hash] }]))
    await socket.until(1)
    expect(socket.frames.map(frame => Array.isArray(frame))).toEqual([true, false])
    socket.close()
  })

  test('a receipt of many logs', async () => {
    const block = append(1, [logsOf(4_000)])
    const receipts = (await rig.chain.receipts(block.header.number)) ?? []
    const [expected] = includedReceiptsFromBlock(block, receipts).map(receiptJson)
    expect(await rig.result('eth_getTransactionReceipt', [TRANSACTION.hash])).toEqual(JSON.parse(String(expected)))
  })

  test('a receipt known to be long, which is read in its turn only', async () => {
    append(1, [logsOf(4_000)])
    const read = rig.chain.receipt.bind(rig.chain)
    let reads = 0
    rig.chain.receipt = hash => {
      reads++
      return read(hash)
    }
    const ask = () => rig.result('eth_getTransactionReceipt', [TRANSACTION.hash])
    const first = await ask()
    expect(reads).toBe(2)
    expect(await ask()).toEqual(first)
    expect(reads).toBe(3)
  })

  test('a block of many transactions in full', async () => {
    const block = append(1_001)
    expect(await rig.result('eth_getBlockByHash', [block.hash, true])).toEqual(JSON.parse(blockJson(block, true)))
    expect(await rig.result('eth_getBlockByHash', [block.hash, false])).toEqual(JSON.parse(blockJson(block, false)))
  })

  test('nothing of a block without receipts', async () => {
    const block = append(300)
    rig.chain.receiptStream = async () => undefined
    expect(await rig.result('eth_getBlockReceipts', [block.hash])).toBe(null)
  })
})

test('the thread has its turns while a hundred thousand logs are written', async () => {
  append(1, [logsOf(100_000)])
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  const stream = new LargeResponses(rig.chain).receipts(rig.chain.head()).open('a')
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

test('a few are made at a time; one that is given up makes room', async () => {
  const large = new LargeResponses(rig.chain)
  const block = append(300)
  const open = ['a', 'a', 'a', 'b', 'b', 'b'].map(client => large.receipts(block).open(client))
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

describe('slots', () => {
  const limits = { total: 3, client: 2, queue: 5, clientQueue: 4 }
  const settled = () => new Promise(resolve => setImmediate(resolve))

  test('have bounded queues, of each client and of all', async () => {
    const slots = createSlots(limits, 'traces')
    for (let i = 0; i < 2 + limits.clientQueue; i++) void slots.acquire('a')
    await expect(slots.acquire('a')).rejects.toMatchObject({
      code: -32_005,
      message: 'too many of your traces (limit 4) are waiting, try again later',
    })
    for (let i = 0; i < 2; i++) void slots.acquire('b')
    await expect(slots.acquire('c')).rejects.toMatchObject({
      code: -32_005,
      message: 'too many traces are waiting, try again later',
    })
  })

  test('are not taken by a stream that was cancelled while it waited', async () => {
    const slots = createSlots(limits, 'traces')
    const releases = await Promise.all([slots.acquire('a'), slots.acquire('a')])
    let opened = 0
    const stream = streamInTurn(slots, 'a', () => {
      opened++
      return streamOf('x')
    })
    const piece = stream.next().catch(error => error)
    await settled()
    stream.cancel()
    await piece
    for (const release of releases) release()
    await settled()
    expect([opened, slots.taken]).toEqual([0, 0])
  })
})
