import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import type { Endpoint } from '../../../../src/rpc/router/method.ts'
import type { RpcResponse } from '../../../../src/rpc/router/response.ts'
import { streamOf } from '../../../../src/rpc/router/response.ts'
import { createRequestGate } from '../../../../src/rpc/transport/request-gate.ts'

const { parsedBytes, unscannedBytes } = RPC_LIMITS
const turn = () => new Promise(resolve => setImmediate(resolve))

const LARGE_BYTES = 1024 * 1024
/** Another one each time: the gate frees it. */
const large = () => Buffer.alloc(LARGE_BYTES, 0x20)
const AT_ONCE = parsedBytes.client / LARGE_BYTES

const scene = (ledger?: ClientBudget) => {
  const running: { readonly client: string; readonly answer: (made: RpcResponse) => void }[] = []
  const gate = createRequestGate(
    {
      handle: (_, { context }) =>
        new Promise<RpcResponse>(answer => {
          running.push({ client: context.client, answer })
        }),
    },
    ledger,
  )
  const from = (client: string, cancellation = new Cancellation()): Endpoint => ({
    methods: new Map(),
    context: { client, cancellation } as never,
  })
  const settle = async () => {
    for (let i = 0; i < 20; i++) await turn()
  }
  return { gate, from, running, settle }
}

describe('the way to the router', () => {
  test('is free for small single requests, whatever else waits', async () => {
    const { gate, from, running, settle } = scene()
    for (let i = 0; i < 20; i++) void gate.handle(large(), from('a'))
    await settle()
    const before = running.length
    void gate.handle(Buffer.from('{"id":1}'), from('a'))
    expect(running.length).toBe(before + 1)
  })

  test('lets a few bytes of large bodies and batches of one client in at a time; another client has its own room', async () => {
    const { gate, from, running, settle } = scene()
    for (let i = 0; i < 20; i++) void gate.handle(large(), from('a'))
    await settle()
    expect(running.length).toBe(AT_ONCE)
    const batch = Buffer.from(' [{"id":1}]')
    void gate.handle(batch, from('a'))
    expect(running.length).toBe(AT_ONCE)
    void gate.handle(batch, from('b'))
    expect(running.map(({ client }) => client)).toEqual([...Array.from({ length: AT_ONCE }, () => 'a'), 'b'])
    expect(gate.held).toBe(AT_ONCE * LARGE_BYTES + batch.byteLength)
  })

  test('parses one large body in a turn of the event loop', async () => {
    const { gate, from, running } = scene()
    for (let i = 0; i < 10; i++) void gate.handle(Buffer.alloc(unscannedBytes + 1, 0x20), from('a'))
    for (let before = running.length; running.length < 10; before = running.length) {
      await turn()
      expect(running.length - before).toBeLessThanOrEqual(1)
    }
  })

  test('gives room back when a text is made, when a stream is read or cancelled, and lets the next in', async () => {
    const { gate, from, running, settle } = scene()
    const answers = Array.from({ length: 4 }, () => gate.handle(large(), from('a')))
    await settle()
    expect(running.length).toBe(AT_ONCE)
    running[0]?.answer('made')
    await settle()
    expect(running.length).toBe(AT_ONCE + 1)
    running[1]?.answer(streamOf('x'))
    const stream = await answers[1]
    void gate.handle(large(), from('a'))
    await settle()
    expect(running.length).toBe(AT_ONCE + 1)
    if (typeof stream === 'string' || stream === undefined) throw new Error('a stream')
    while ((await stream.next()) !== undefined);
    await settle()
    expect(running.length).toBe(AT_ONCE + 2)
    for (const { answer } of running.slice(2)) answer(streamOf('x'))
    await settle()
    for (const answer of answers.slice(2)) {
      const made = await answer
      if (typeof made !== 'string') made.cancel()
    }
    expect(gate.held).toBe(LARGE_BYTES)
  })

  test('forgets what waits when its connection ends', async () => {
    const { gate, from, running, settle } = scene()
    const connection = new Cancellation()
    const answers = Array.from({ length: 20 }, () => gate.handle(large(), from('a', connection)))
    await settle()
    connection.cancel()
    expect(await Promise.all(answers.slice(AT_ONCE))).toEqual(Array.from({ length: 20 - AT_ONCE }, () => ''))
    for (const { answer } of running) answer('')
    await settle()
    expect(gate.held).toBe(0)
    expect(running.length).toBe(AT_ONCE)
  })

  test('waits for room in the ledger of all kinds of work, and takes its share of it', async () => {
    const share = LARGE_BYTES * parsedBytes.memory
    const ledger = new ClientBudget({ total: 100 * share, client: 2 * share })
    const { gate, from, running, settle } = scene(ledger)
    const other = ledger.meter('a')
    other.hold(share + 1)
    const body = large()
    void gate.handle(body, from('a'))
    void gate.handle(large(), from('b'))
    await settle()
    expect(running.map(({ client }) => client)).toEqual(['b'])
    other.hold(share)
    await settle()
    expect(running.map(({ client }) => client)).toEqual(['b', 'a'])
    expect(ledger.heldBy('a')).toBe(2 * share)
    expect(body.byteLength, 'its bytes are free once it is decoded').toBe(0)
    running[1]?.answer('made')
    await settle()
    expect(ledger.heldBy('a')).toBe(share)
  })
})
