import { ClientBudget } from '@tandem/base/client-budget.ts'
import { expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { METHODS } from '../../../../src/rpc/methods/methods.ts'
import { createBudgets } from '../../../../src/rpc/router/budgets.ts'
import type { Endpoint } from '../../../../src/rpc/router/method.ts'
import { method } from '../../../../src/rpc/router/method.ts'
import { Router } from '../../../../src/rpc/router/router.ts'

const settle = () => new Promise(resolve => setImmediate(resolve))
const weightOf = (name: string): number => METHODS[name]?.weight as number
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
      weight: weightOf(name),
      handler: ({ client }) => {
        add(client, weightOf(name))
        return new Promise(resolve => {
          ends.push(() => {
            add(client, -weightOf(name))
            resolve('0x1')
          })
        })
      },
    })
  const methods = new Map(NAMES.map(name => [name, declared(name)] as const))
  const from = (client: string) => ({ methods, context: { client, budgets: createBudgets() } }) as unknown as Endpoint
  const ledger = new ClientBudget(RPC_LIMITS.budgets.memory)
  const router = new Router({ log: { error() {} } as never, ledger })
  const answers = Array.from({ length: 40 }, (_, id) =>
    router.handle(JSON.stringify({ jsonrpc: '2.0', id, method: NAMES[id % NAMES.length] }), from('hostile')),
  )
  await settle()
  expect(running.get('hostile')).toBeLessThanOrEqual(RPC_LIMITS.work.client)
  expect(running.get('hostile')).toBeGreaterThan(0)
  void router.handle('{"jsonrpc":"2.0","id":1,"method":"eth_getLogs"}', from('honest'))
  await settle()
  expect(running.get('honest')).toBe(weightOf('eth_getLogs'))
  while (ends.length > 0) {
    ends.shift()?.()
    await settle()
    expect(running.get('hostile')).toBeLessThanOrEqual(RPC_LIMITS.work.client)
  }
  expect((await Promise.all(answers)).every(answer => typeof answer === 'string' && answer.includes('"0x1"'))).toBe(
    true,
  )
  expect(ledger.held).toBe(0)
})

test('weights of methods in rate limits; others are plain reads', () => {
  const weights = Map.groupBy(
    Object.keys(METHODS).filter(name => weightOf(name) > 1),
    weightOf,
  )
  const twins = (...names: readonly string[]) => names.flatMap(name => [`eth_${name}`, `native_${name}`])
  expect(Object.fromEntries([...weights].map(([weight, names]) => [weight, names.toSorted()]))).toEqual({
    2: twins('sendRawTransaction', 'sendRawTransactionSync').toSorted(),
    5: [...twins('call', 'feeHistory', 'getBlockReceipts'), 'native_getInternalTransfers'].toSorted(),
    10: twins('createAccessList', 'estimateGas', 'fillTransaction', 'getStorageValues').toSorted(),
    20: [
      ...twins('getFilterLogs', 'getLogs', 'getProof'),
      ...['native_getBlockWithConsensusInfoRange', 'native_getProofHeaderRange', 'native_getRewardShares'],
    ].toSorted(),
    50: [
      ...Object.keys(METHODS).filter(name => name.startsWith('debug_')),
      'eth_simulateV1',
      'testing_buildBlockV1',
    ].toSorted(),
  })
})
