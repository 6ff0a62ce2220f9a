import { once } from 'node:events'
import type { Socket } from 'node:net'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { BODIES_FULL, connectionLimits, socketLimits } from '../../../../../src/rpc/router/budgets.ts'
import { eventually } from '../../../../support/node-process.ts'
import { dial, exchange, readAll, request } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'
import { SEED } from '../../../../support/seed.ts'

const { bodyBytes, budgets } = RPC_LIMITS
const { total, client: ofOne, free } = budgets.bodies

test('connections leave open files to the database and the peers, however few there are', () => {
  expect(connectionLimits(undefined)).toEqual({ total: 10_000, client: 2_500 })
  expect(connectionLimits(1_048_576)).toEqual({ total: 10_000, client: 2_500 })
  expect(connectionLimits(4_096)).toEqual({ total: 2_048, client: 512 })
  expect(connectionLimits(1_024)).toEqual({ total: 512, client: 128 })
})

test('WebSockets leave half of the connections to requests, however few there are', () => {
  expect(socketLimits(10_000)).toEqual({ total: 3_000, client: 1_000 })
  expect(socketLimits(10_000, 5_000)).toEqual({ total: 3_000, client: 3_000 })
  expect(socketLimits(512)).toEqual({ total: 256, client: 256 })
  expect(socketLimits(512, 20)).toEqual({ total: 256, client: 20 })
})

describe('a budget', () => {
  test('counts what all hold and what each holds, beyond what is free of each meter', () => {
    const budget = new ClientBudget({ total: 1_000, client: 700, free: 50 })
    const [a, b, other] = [budget.meter('a'), budget.meter('a'), budget.meter('other')]
    expect(a.hold(650)).toBe(true)
    expect(b.hold(150)).toBe(true)
    expect(b.hold(151)).toBe(false)
    expect([budget.held, budget.heldBy('a'), budget.most]).toEqual([700, 700, 700])
    expect(other.hold(351)).toBe(false)
    expect(other.hold(350)).toBe(true)
    expect([budget.isClientFull('a', 1), budget.isClientFull('other', 1)]).toEqual([true, false])
    expect(budget.meter('third').hold(50), 'what is free is there for everybody').toBe(true)
    expect(a.hold(40)).toBe(true)
    expect(b.hold(600)).toBe(true)
    for (const meter of [a, b, other]) meter.hold(0)
    expect([budget.held, budget.heldBy('a'), budget.heldBy('other'), budget.most]).toEqual([0, 0, 0, 0])
  })

  test('is what it was whatever meters do (seeded)', () => {
    const random = createRandom(SEED)
    const budget = new ClientBudget({ total: 10_000, client: 4_000, free: 100 })
    const meters = Array.from({ length: 30 }, (_, i) => ({
      client: `c${i % 5}`,
      meter: budget.meter(`c${i % 5}`),
      amount: 0,
    }))
    for (let i = 0; i < 20_000; i++) {
      const one = meters[random.below(meters.length)] as (typeof meters)[number]
      const amount = random.below(3) === 0 ? 0 : random.below(5_000)
      if (one.meter.hold(amount)) one.amount = amount
      const sums = new Map<string, number>()
      for (const { client, amount: held } of meters) sums.set(client, (sums.get(client) ?? 0) + Math.max(0, held - 100))
      const all = [...sums.values()].reduce((sum, held) => sum + held, 0)
      expect([budget.held, budget.most], `SEED=${SEED}`).toEqual([all, Math.max(...sums.values())])
      expect(all).toBeLessThanOrEqual(10_000)
      expect(budget.most).toBeLessThanOrEqual(4_000)
    }
  })
})

describe('a ledger of several budgets', () => {
  test('bounds what a client holds of all of them together, and tells when there is room again', async () => {
    const ledger = new ClientBudget({ total: 1_500, client: 1_000 })
    const bodies = new ClientBudget({ total: 1_000, client: 800, free: 50 }, ledger)
    const answers = new ClientBudget({ total: 1_000, client: 800 }, ledger)
    let wakes = 0
    ledger.onRoom(() => wakes++)
    const [body, answer] = [bodies.meter('a'), answers.meter('a')]
    expect(body.hold(650)).toBe(true)
    expect(answer.hold(401)).toBe(false)
    expect([answers.held, ledger.heldBy('a')], 'a refusal changes nothing').toEqual([0, 600])
    expect(answer.hold(400)).toBe(true)
    const other = answers.meter('b')
    expect(other.hold(501)).toBe(false)
    expect(other.hold(500)).toBe(true)
    expect(wakes).toBe(0)
    body.hold(40)
    other.hold(0)
    await undefined
    expect(wakes, 'once for all that was returned').toBe(1)
    expect([ledger.held, ledger.heldBy('a'), bodies.held]).toEqual([400, 400, 0])
    answer.hold(0)
    expect([ledger.held, ledger.most]).toEqual([0, 0])
  })
})

describe('a server whose room for bodies is taken', () => {
  let rig: Rig
  let open: Socket[]
  const big = Buffer.alloc(bodyBytes - 1, 0x20)
  const head = (): string =>
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n`

  beforeEach(async () => {
    rig = await Rig.start()
    open = []
  })
  afterEach(async () => {
    for (const socket of open) socket.destroy()
    await rig.stop()
  })
  /** As many bodies, each but for its last byte, as there is room for, by one client. */
  const fill = async (from = '127.0.0.1', room: number = ofOne): Promise<void> => {
    for (let held = 0; held + bodyBytes - free <= room; held += bodyBytes - free) {
      const socket = await dial(rig.server.port, from)
      open.push(socket)
      socket.write(head())
      await new Promise(resolve => socket.write(big, resolve))
    }
    const held = open.length * (bodyBytes - 1 - free)
    await eventually('the bodies arrive', async () => (rig.server.budgets.bodies.held >= held ? true : undefined))
  }
  const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
  const small = () => exchange(rig.server.port, request('POST /', { 'content-type': 'application/json' }, CALL))

  test('refuses large ones with 503 and answers small ones, and large ones again when there is room', async () => {
    await fill()
    const late = await dial(rig.server.port)
    const answered = readAll(late, 5_000)
    late.write(head())
    late.write(big)
    const refused = await answered
    expect(refused).toMatch(/^HTTP\/1\.1 503 /)
    expect(refused).toContain(BODIES_FULL)
    late.destroy()
    expect(JSON.parse((await small()).body)).toMatchObject({ result: '0x134fe69' })
    const other = await exchange(
      rig.server.port,
      request('POST /', { 'content-type': 'application/json' }, `${CALL}${' '.repeat(1_000_000)}`),
      '127.0.0.2',
    )
    expect(JSON.parse(other.body), 'other clients have their own room').toMatchObject({ result: '0x134fe69' })
    for (const socket of open.splice(0, 3)) socket.destroy()
    await eventually('room again', async () => (rig.server.budgets.bodies.held < ofOne / 2 ? true : undefined))
    const body = `${CALL}${' '.repeat(1_000_000)}`
    const answer = await exchange(rig.server.port, request('POST /', { 'content-type': 'application/json' }, body))
    expect(JSON.parse(answer.body)).toMatchObject({ result: '0x134fe69' })
  })

  test('has room for many clients, and an end', async () => {
    const each = Math.floor(ofOne / (bodyBytes - free))
    for (let left = Math.floor(total / (bodyBytes - free)); left > 0; left -= each)
      await fill(`127.0.0.${1 + left}`, Math.min(each, left) * (bodyBytes - free))
    const body = `${CALL}${' '.repeat(bodyBytes - 100)}`
    const asking = request('POST /', { 'content-type': 'application/json' }, body)
    expect((await exchange(rig.server.port, asking, '127.0.0.99')).status).toBe(503)
    expect(JSON.parse((await small()).body)).toMatchObject({ result: '0x134fe69' })
  })

  test('closes a WebSocket that sends a large message, and serves the others', async () => {
    await fill()
    const [loud, quiet] = [1, 2].map(() => new WebSocket(`ws://127.0.0.1:${rig.server.port}/ws`)) as [
      WebSocket,
      WebSocket,
    ]
    await Promise.all([once(loud, 'open'), once(quiet, 'open')])
    const closed = once(loud, 'close')
    loud.on('error', () => undefined)
    loud.send(big)
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1013, BODIES_FULL])
    quiet.send(CALL)
    expect(String((await once(quiet, 'message'))[0])).toContain('0x134fe69')
    quiet.terminate()
  })
})
