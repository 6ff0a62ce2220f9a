import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { createBudgets } from '../../../../src/rpc/router/budgets.ts'
import type { RpcResponse } from '../../../../src/rpc/router/response.ts'
import { Rig } from '../../../support/rpc/rig.ts'
import { countTurns } from '../../../support/turns.ts'

/** All of an answer. */
const textOf = async (answer: RpcResponse): Promise<string> => {
  if (typeof answer === 'string') return answer
  const chunks: string[] = []
  for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next()) chunks.push(String(chunk))
  return chunks.join('')
}

let rig: Rig
beforeAll(async () => {
  rig = await Rig.start()
})
afterAll(() => rig.stop())

const failure = (code: number, message: string, id: unknown = null) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

describe('envelope', () => {
  test.each([
    ['no JSON', '{', failure(-32700, 'parse error')],
    ['nothing', '', failure(-32700, 'parse error')],
    ['a number', '1', failure(-32600, 'invalid request')],
    ['null', 'null', failure(-32600, 'invalid request')],
    ['no method', '{"id":1}', failure(-32600, 'invalid request', 1)],
    ['a method that is no string', '{"id":1,"method":7}', failure(-32600, 'invalid request', 1)],
    ['an object as id', '{"id":{},"method":"eth_chainId"}', failure(-32600, 'invalid request')],
    [
      'a long id',
      `{"id":"${'x'.repeat(RPC_LIMITS.idChars + 1)}","method":"eth_chainId"}`,
      failure(-32600, 'invalid request'),
    ],
    [
      'a long number as id',
      `{"id":${'9'.repeat(RPC_LIMITS.idChars + 1)},"method":"eth_chainId"}`,
      failure(-32600, 'invalid request'),
    ],
    ['an array as id', '{"id":[1],"method":"eth_chainId"}', failure(-32600, 'invalid request')],
    ['an empty batch', '[]', failure(-32600, 'empty batch')],
    [
      'an unknown method',
      '{"id":1,"method":"eth_x"}',
      failure(-32601, 'the method eth_x does not exist/is not available', 1),
    ],
    [
      'a member of Object',
      '{"id":1,"method":"constructor"}',
      failure(-32601, 'the method constructor does not exist/is not available', 1),
    ],
    ['a notification', '{"method":"eth_chainId"}', ''],
    ['notifications only', '[{"method":"eth_chainId"},{"method":"eth_x"}]', ''],
  ])('%s', async (_, body, answer) => {
    expect(await rig.post(body)).toBe(answer)
  })

  test.each(['1', '0', '-1', '"a"', '"\\u0000\\""', 'true', '1.5', '12345678901234567890', '1e400', '0.10'])(
    'gives the id %s back',
    async id => {
      const body = await rig.post(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`)
      expect(body).toBe(`{"jsonrpc":"2.0","id":${id},"result":"0x134fe69"}`)
    },
  )

  test('takes null as an id that wants an answer', async () => {
    expect(await rig.post('{"id":null,"method":"eth_chainId"}')).toBe(
      '{"jsonrpc":"2.0","id":null,"result":"0x134fe69"}',
    )
  })

  test('never looks at the version', async () => {
    expect(await rig.post('{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}')).toContain('"result"')
  })

  test('takes a member __proto__ as nothing', async () => {
    const body = '{"__proto__":{"method":"eth_chainId"},"id":1}'
    expect(await rig.post(body)).toBe(failure(-32600, 'invalid request', 1))
    expect(await rig.post('{"id":1,"method":"eth_x","method":"eth_chainId"}')).toContain('0x134fe69')
  })
})

describe('params', () => {
  test.each([undefined, null, []])('%s is no argument', async params => {
    expect(await rig.failure('eth_getBalance', params)).toBe('-32602 missing value for required argument 1')
  })

  test('refuses an object, too many, and counts from one', async () => {
    const address = `0x${'11'.repeat(20)}`
    expect(await rig.failure('eth_getBalance', { address })).toBe('-32602 non-array args')
    expect(await rig.failure('eth_getBalance', [address, 'latest', 1])).toBe(
      '-32602 too many arguments, want at most 2',
    )
    expect(await rig.failure('eth_getBalance', [address])).toBe('-32602 missing value for required argument 2')
    expect(await rig.failure('eth_getBalance', [null, 'latest'])).toBe('-32602 missing value for required argument 1')
    expect(await rig.failure('eth_getBalance', [address, 'safe'])).toBe(
      '-32602 invalid argument 2: hex string without 0x prefix',
    )
  })

  test('ignores arguments of a method without any', async () => {
    expect(await rig.result('eth_chainId', ['x', 1])).toBe('0x134fe69')
    expect(await rig.result('eth_chainId', { a: 1 })).toBe('0x134fe69')
  })
})

describe('batches', () => {
  const one = (id: number, method = 'eth_chainId', params: unknown[] = []) => ({ jsonrpc: '2.0', id, method, params })

  test('keeps the order, whatever answers later', async () => {
    const batch = Array.from({ length: 300 }, (_, id) =>
      id % 3 === 0
        ? one(id, 'eth_getBlockByHash', [rig.chain.head().hash, false])
        : id % 3 === 1
          ? one(id, 'eth_feeHistory', [1, 'latest'])
          : one(id),
    )
    const answers = JSON.parse(await rig.post(JSON.stringify(batch))) as { id: number; result?: unknown }[]
    expect(answers.map(answer => answer.id)).toEqual(batch.map(item => item.id))
    expect(answers.every(answer => answer.result !== undefined)).toBe(true)
  })

  test('answers bad items beside good ones and skips notifications', async () => {
    const answers = JSON.parse(
      await rig.post(`[1,{"id":"a","method":"eth_chainId"},{"method":"eth_chainId"},[]]`),
    ) as unknown[]
    expect(answers).toHaveLength(3)
    expect(answers[1]).toEqual({ jsonrpc: '2.0', id: 'a', result: '0x134fe69' })
  })

  test(`takes ${RPC_LIMITS.batchItems} and not one more`, async () => {
    const most = Array.from({ length: RPC_LIMITS.batchItems }, (_, id) => one(id))
    expect(JSON.parse(await rig.post(JSON.stringify(most)))).toHaveLength(RPC_LIMITS.batchItems)
    expect(await rig.post(JSON.stringify([...most, one(0)]))).toBe(
      failure(-32600, `batch too large, at most ${RPC_LIMITS.batchItems} requests`),
    )
  })

  test('keeps inexact ids of a batch', async () => {
    const body = await rig.post('[{"id":1,"method":"eth_chainId"},{"id":98765432109876543210,"method":"eth_chainId"}]')
    expect(body).toContain('"id":98765432109876543210,')
    expect(body).toContain('"id":1,')
  })
})

describe('hostile bodies', () => {
  test('refuses nesting and floods of containers before they are parsed', async () => {
    const complex = failure(-32600, 'request too complex')
    const size = RPC_LIMITS.unscannedBytes
    expect(await rig.post('['.repeat(size + 1))).toBe(complex)
    expect(await rig.post(`[${'[],'.repeat(RPC_LIMITS.containers)}[]]`)).toBe(complex)
    // Brackets inside strings are no nesting, escaped quotes do not end them.
    const text = `\\"${'['.repeat(size)}\\\\`
    expect(await rig.post(`{"id":1,"method":"eth_chainId","params":["${text}"]}`)).toContain('0x134fe69')
    expect(await rig.post('['.repeat(1_000))).toBe(failure(-32700, 'parse error'))
  })
})

describe('a handler that fails unexpectedly', () => {
  test('answers without a stack and logs the method', async () => {
    const logged: object[] = []
    const log = { error: (fields: object) => logged.push(fields), warn() {}, info() {}, debug() {}, child: () => log }
    const own = await Rig.start({ log })
    own.chain.blockByNumber = async () => {
      throw new Error('disk on fire')
    }
    own.chain.append()
    expect(await own.failure('eth_getBlockByNumber', ['0x0', false])).toBe('-32000 method handler crashed')
    own.chain.nextBaseFee = () => {
      throw new TypeError('at once')
    }
    expect(await own.failure('eth_gasPrice')).toBe('-32000 method handler crashed')
    expect(logged).toMatchObject([{ method: 'eth_getBlockByNumber' }, { method: 'eth_gasPrice' }])
    await own.stop()
  })
})

describe('turns', () => {
  test('gives others their turn while a batch of slow answers is made', async () => {
    const { Router } = await import('../../../../src/rpc/router/router.ts')
    const { method } = await import('../../../../src/rpc/router/method.ts')
    const spin = (ms: number): void => {
      const end = performance.now() + ms
      while (performance.now() < end);
    }
    const slow = method({ summary: '', params: [], result: {}, handler: () => spin(4) })
    const router = new Router({ log: { error() {} } as never })
    const later = method({ summary: '', params: [], result: {}, handler: async () => spin(4) })
    const endpoint = {
      methods: new Map([['slow', slow] as const, ['later', later] as const]),
      context: { budgets: createBudgets(), client: 'a' } as never,
    }
    for (const name of ['slow', 'later']) {
      const body = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ id, method: name })))
      const { turns } = await countTurns(async () => router.handle(body, endpoint))
      // 400 ms of work in turns of 10 ms; a loop for each lane would have taken it in a handful.
      expect(turns).toBeGreaterThan(15)
    }
  })

  test('answers what cannot be written as JSON instead of rejecting', async () => {
    const { Router } = await import('../../../../src/rpc/router/router.ts')
    const { method } = await import('../../../../src/rpc/router/method.ts')
    const odd = method({ summary: '', params: [], result: {}, handler: async () => 1n })
    const router = new Router({ log: { error() {} } as never })
    const endpoint = {
      methods: new Map([['odd', odd] as const]),
      context: { budgets: createBudgets(), client: 'a' } as never,
    }
    expect(await router.handle('{"id":1,"method":"odd"}', endpoint)).toContain('method handler crashed')
  })
})

describe('large answers', () => {
  const BYTES = 12 * 1024 * 1024
  const tooLarge = {
    code: -32003,
    message: `response too large, at most ${RPC_LIMITS.answerBytes} bytes: ask for less at once`,
  }
  const routerOver = async (result: unknown) => {
    const { Router } = await import('../../../../src/rpc/router/router.ts')
    const { method } = await import('../../../../src/rpc/router/method.ts')
    let calls = 0
    const handler = () => {
      calls++
      return result
    }
    const router = new Router({ log: { error() {} } as never })
    const endpoint = {
      methods: new Map([['big', method({ summary: '', params: [], result: {}, handler })] as const]),
      context: { budgets: createBudgets(), client: 'a' } as never,
    }
    return {
      calls: () => calls,
      ask: async (body: unknown) => textOf(await router.handle(JSON.stringify(body), endpoint)),
    }
  }

  test.each(['at once', 'later'])('one beyond the bound is refused, %s', async when => {
    const text = 'x'.repeat(RPC_LIMITS.answerBytes)
    const { ask } = await routerOver(when === 'later' ? Promise.resolve(text) : text)
    expect(JSON.parse(await ask({ id: 7, method: 'big' }))).toEqual({ jsonrpc: '2.0', id: 7, error: tooLarge })
  })

  test.each(['at once', 'later'])('a batch is cut where it goes beyond, whatever stands behind, %s', async when => {
    const text = 'x'.repeat(BYTES)
    const { ask, calls } = await routerOver(when === 'later' ? Promise.resolve(text) : text)
    const big = [1, 2, 3].map(id => ({ id, method: 'big' }))
    const behind = [null, 7, [], { id: 'a', method: 'big' }, { method: 'big' }, { id: {} }]
    const answers = JSON.parse(await ask([...big, ...behind])) as { id: unknown; error?: unknown }[]
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, null, null, null, 'a', null])
    expect([answers[1]?.error, answers[2]?.error, answers[6]?.error]).toEqual([undefined, tooLarge, tooLarge])
    // Answers that come later are all asked for before the first has come.
    if (when === 'later') return
    expect(answers.slice(2).map(({ error }) => error)).toEqual(Array.from({ length: 6 }, () => tooLarge))
    expect(calls()).toBe(3)
  })
})
