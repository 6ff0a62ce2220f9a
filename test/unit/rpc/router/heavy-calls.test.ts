import { expect, test } from 'vitest'
import { callWeight } from '../../../../src/config/limits/call-weights.ts'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import type { Endpoint } from '../../../../src/rpc/router/method.ts'
import { method } from '../../../../src/rpc/router/method.ts'
import { createRouter } from '../../../../src/rpc/router/router.ts'
import { createBudgets } from '../../../../src/rpc/transport/clients/budgets.ts'
import { ClientSlots } from '../../../../src/rpc/transport/clients/client-slots.ts'

const settle = () => new Promise(resolve => setImmediate(resolve))
const NAMES = ['debug_traceCall', 'eth_getLogs', 'eth_getProof', 'eth_simulateV1'] as const

test('a client that asks for all kinds of heavy work at once has as much in progress as one kind would be', async () => {
  const running = new Map<string, number>()
  const ends: (() => void)[] = []
  const add = (client: string, weight: number) => running.set(client, (running.get(client) ?? 0) + weight)
  const declared = (name: string) =>
    method({
      summary: name,
      params: [],
      result: {},
      handler: ({ client }) => {
        add(client, callWeight(name))
        return new Promise(resolve => {
          ends.push(() => {
            add(client, -callWeight(name))
            resolve('0x1')
          })
        })
      },
    })
  const methods = new Map(NAMES.map(name => [name, declared(name)] as const))
  const slots = { work: new ClientSlots(RPC_LIMITS.work, 'heavy requests') }
  const from = (client: string) =>
    ({ methods, context: { client, slots, budgets: createBudgets() } }) as unknown as Endpoint
  const router = createRouter({ log: { error() {} } as never })
  const answers = Array.from({ length: 40 }, (_, id) =>
    router.handle(JSON.stringify({ jsonrpc: '2.0', id, method: NAMES[id % NAMES.length] }), from('hostile')),
  )
  await settle()
  expect(running.get('hostile')).toBeLessThanOrEqual(RPC_LIMITS.work.client)
  expect(running.get('hostile')).toBeGreaterThan(0)
  void router.handle('{"jsonrpc":"2.0","id":1,"method":"eth_getLogs"}', from('honest'))
  await settle()
  expect(running.get('honest')).toBe(callWeight('eth_getLogs'))
  while (ends.length > 0) {
    ends.shift()?.()
    await settle()
    expect(running.get('hostile')).toBeLessThanOrEqual(RPC_LIMITS.work.client)
  }
  expect((await Promise.all(answers)).every(answer => typeof answer === 'string' && answer.includes('"0x1"'))).toBe(
    true,
  )
  expect(slots.work.taken).toBe(0)
})
