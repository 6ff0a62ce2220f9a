import type { AddressInfo } from 'node:net'
import { ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { NodePort } from '@tandem/explorer/api/api-route.ts'
import { readNetwork } from '@tandem/explorer/chain/network.ts'
import { NodeClient } from '@tandem/explorer/chain/node-client.ts'
import { nodePort } from '@tandem/explorer/chain/node-port.ts'
import { RpcChain, recordAt } from '@tandem/explorer/chain/rpc-chain.ts'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { publicCalls } from '@tandem/explorer/service/public-calls.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { NETWORKS } from '../../../src/config/networks.ts'
import { flatParams } from '../../../src/rpc/methods/native/chain.ts'
import { testGenesis } from '../../support/chain.ts'
import { withDevNode } from '../../support/dev-node.ts'
import { localRules } from '../../support/explorer/source/local-rules.ts'

type Answer = (request: {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}) => unknown

/** A client of a node that answers as it likes: `answer` gives the message, an object or a text. */
const clientOf = async (answer: Answer): Promise<NodeClient> => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise(resolve => server.once('listening', resolve))
  server.on('connection', socket =>
    socket.on('message', async data => {
      const message = await answer(JSON.parse(String(data)))
      if (message !== undefined) socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    }),
  )
  const { port } = server.address() as AddressInfo
  const client = new NodeClient({ url: `ws://127.0.0.1:${port}`, logger: silentLogger })
  onTestFinished(async () => {
    await client.close()
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  return client
}

test('messages that are no answers do not end the process, and the next answer counts', async () => {
  const strange = ['null', '7', '"text"', '[]', '[null]', '{', '', '{"id":null}', '{"id":"1"}', '{"id":-1,"result":1}']
  const client = await clientOf(({ id, method }) => {
    if (method !== 'probe') return undefined
    const next = strange.shift()
    return next ?? { id, result: '0x2a' }
  })
  const first = [...strange].map(() => client.call('probe').catch(() => undefined))
  expect((await client.call('probe')).integer()).toBe(42)
  await client.close()
  await Promise.all(first)
})

test('the head of a lost connection is not that of the next one, and a connection without a sign of life is lost', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  await new Promise(resolve => server.once('listening', resolve))
  let head: string | undefined = '0x64'
  server.on('connection', socket => {
    const params = { subscription: '0x1', result: { number: head } }
    if (head !== undefined) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }))
  })
  const client = new NodeClient({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    logger: silentLogger,
  })
  onTestFinished(async () => {
    await client.close()
    server.close()
  })
  await expect.poll(() => client.currentHead).toBe(100)
  head = undefined
  // The first interval pings, the second one has heard nothing.
  vi.advanceTimersByTime(2 * EXPLORER_LIMITS.node.pingMs)
  await expect.poll(() => client.currentHead).toBeUndefined()
  await expect.poll(() => server.clients.size).toBe(1)
  expect([client.head, client.currentHead]).toEqual([100, undefined])
})

test('calls that clients pass on are those of the public port, two of a client at once', async () => {
  let [running, most] = [0, 0]
  const pass = async (request: string): Promise<string> => {
    most = Math.max(most, ++running)
    await new Promise(resolve => setImmediate(resolve))
    running--
    return request
  }
  const own = { rpc: async () => 'own' } as unknown as NodePort
  const port = publicCalls(own, { pass, disabledMethods: ['eth_getCode'], namespaces: ['eth'] })
  const call = (method: string, client: string) => port.rpc(JSON.stringify({ id: 1, method }), client)
  expect(await call('native_x', '')).toBe('own')
  expect(JSON.parse(await call('native_x', 'a')).error.code).toBe(-32_601)
  expect(JSON.parse(await call('eth_getCode', 'a')).error.code).toBe(-32_075)
  await Promise.all(Array.from({ length: 9 }, () => call('eth_call', 'a')))
  expect(most).toBe(EXPLORER_LIMITS.node.passed.client)
})

test('an answer with a result and no error but null is a result', async () => {
  const client = await clientOf(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1', error: null }))
  expect((await client.call('anything')).integer()).toBe(1)
})

test('errors of every form are refusals', async () => {
  const errors = ['text', 5, [], {}, { message: null }, { message: { deep: true } }, true]
  const client = await clientOf(({ id, method }) => ({ id, error: errors[Number(method)] }))
  for (const at of errors.keys()) await expect(client.call(String(at))).rejects.toMatchObject({ code: 'NODE_REFUSED' })
})

const RULES = flatParams(NETWORKS.devnet, ZERO_ADDRESS, 0)
const SCHEDULE = { genesis: '0x3', maxSupply: '0x7', periods: [{ cycleReward: '0x2', minted: '0x4' }] }

const networkWith = async (changes: Readonly<Record<string, unknown>>) => {
  const client = await clientOf(({ id, method }) => {
    if (method === 'native_getParams') return { id, result: { ...RULES, ...changes } }
    if (method === 'eth_getBlockByNumber') return { id, result: { hash: ZERO_HASH } }
    if (method === 'native_getSupplySchedule') return { id, result: SCHEDULE }
    if (method === 'native_getStakingInfo') return { id, result: [] }
    return undefined
  })
  return readNetwork(client)
}

test('rules that nothing can be computed with are refused by name', async () => {
  for (const params of Object.values(NETWORKS)) {
    const { tandem, chainId } = (await networkWith(flatParams(params, ZERO_ADDRESS, 0))).rules
    const { cycleBlocks, halvingBlocks, minersPercent, unionPercent } = params.rewards
    const supply = { genesisWei: 3n, maxWei: 7n, cycleWei: [2n] }
    expect(chainId).toBe(params.chainId)
    expect(tandem?.rewards).toEqual({ cycleBlocks, halvingBlocks, minersPercent, unionPercent, ...supply })
  }
  const wrong: readonly (readonly [string, readonly unknown[]])[] = [
    ['feeShares.proposerPercent', [1.5, -1, 101, 1e300]],
    ['rewards.minersPercent', [0.1, 1e21]],
    ['rewards.unionPercent', [101]],
    ['rewards.cycleBlocks', [0, -60, 0.5, 2 ** 60]],
    ['rewards.halvingBlocks', [0, -1]],
    ['blockTimeMs', [-1, 0.5]],
    ['chainId', [0, -5, 1.5]],
    ['committeeSize', [0, 1e9]],
    ['proofChain.spacingBlocks', [0, -1]],
  ]
  for (const [name, values] of wrong)
    for (const value of values)
      await expect(networkWith({ [name]: value }), `${name} ${value}`).rejects.toMatchObject({
        code: 'NODE_ANSWER_INVALID',
      })
})

test('names that cannot be stored or shown are made so that they can, and a long one does not get through', async () => {
  const names = new Map([
    ['a\0b', 'ab'],
    ['\uD800\u202Ex', 'x'],
    ['\0\u200B', ''],
    ['y'.repeat(1_000_000), 'y'.repeat(128)],
    [`${'\0'.repeat(1_000_000)}z`, ''],
  ])
  const members = [...names.keys()].map(name => ({
    name,
    validator: ZERO_ADDRESS,
    owner: ZERO_ADDRESS,
    reward: ZERO_ADDRESS,
    stake: '0x1',
    status: 'active',
  }))
  const client = await clientOf(({ id, method }) => {
    if (method === 'native_getParams') return { id, result: { ...RULES, 'proofChain.after': 'argon\0', symbol: 'S\0' } }
    if (method === 'eth_getBlockByNumber') return { id, result: { hash: ZERO_HASH } }
    if (method === 'native_getSupplySchedule') return { id, result: SCHEDULE }
    return { id, result: members }
  })
  const { labels, rules } = await readNetwork(client)
  expect(labels.map(({ name }) => name)).toEqual([
    ...[...names.values()].map(name => `Validator ${name}`.trim()),
    'Council',
  ])
  expect([rules.symbol, rules.tandem?.proofChain.after]).toEqual(['S', 'argon'])
  expect((await nodePort(client).council()).map(({ name }) => name)).toEqual([...names.values()])
})

test('a block of another number than was asked for is refused', () =>
  withDevNode(async ask => {
    await ask('hardhat_mine', '0x2')
    const client = await clientOf(async ({ id, method, params }) => {
      const first = method === 'native_getBlockWithConsensusInfoRange' ? ['0x1', '0x1', true] : params
      return { id, result: await ask(method, ...first).catch(() => null) }
    })
    const chain = new RpcChain(client, localRules(testGenesis()))
    expect((await recordAt(chain, 1))?.number).toBe(1)
    await expect(recordAt(chain, 2)).rejects.toMatchObject({ code: 'NODE_ANSWER_INVALID' })
  }))
