import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { createBudgets } from '../../../../src/rpc/router/budgets.ts'
import type { Context } from '../../../../src/rpc/router/context.ts'
import { method } from '../../../../src/rpc/router/method.ts'
import { StreamedJson } from '../../../../src/rpc/router/raw-json.ts'
import { type ResponseStream, type RpcResponse, streamOf } from '../../../../src/rpc/router/response.ts'
import { Router } from '../../../../src/rpc/router/router.ts'

const CHUNK = RPC_LIMITS.chunkChars
const AHEAD = RPC_LIMITS.batchAheadBytes
const turn = () => new Promise(resolve => setImmediate(resolve))

/** A router with one method, which answers what `answer` gives for its call. */
const routerOver = (answer: (call: number, context: Context) => unknown) => {
  let calls = 0
  const handler = (context: Context) => answer(calls++, context)
  const budgets = createBudgets()
  const connection = new Cancellation()
  const endpoint = {
    methods: new Map([['big', method({ summary: '', params: [], result: {}, handler })] as const]),
    context: { budgets, client: 'a', cancellation: connection } as never,
  }
  const router = new Router({ log: { error() {} } as never })
  return {
    connection,
    held: () => budgets.answers.held,
    calls: () => calls,
    ask: (many: number) =>
      router.handle(JSON.stringify(Array.from({ length: many }, (_, id) => ({ id, method: 'big' }))), endpoint),
  }
}

const streamed = (answer: RpcResponse): ResponseStream => {
  if (typeof answer === 'string') throw new Error(`a stream, not ${answer.length} characters at once`)
  return answer
}

const read = async (stream: ResponseStream): Promise<string[]> => {
  const chunks: string[] = []
  for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next()) chunks.push(String(chunk))
  return chunks
}

describe.each(['at once', 'later'])('a long batch whose answers come %s', when => {
  const answering = (text: string) => (when === 'later' ? async () => text : () => text)
  const size = AHEAD / 8

  test('is made a window at a time, as it is read, in chunks', async () => {
    const { ask, calls, held } = routerOver(answering('x'.repeat(size)))
    const stream = streamed(await ask(200))
    for (let i = 0; i < 20; i++) await turn()
    const window = AHEAD / size + (when === 'later' ? 17 : 1)
    expect(calls()).toBeLessThanOrEqual(window)
    expect(held()).toBeLessThanOrEqual(window * (size + 100))
    const chunks = await read(stream)
    expect(Math.max(...chunks.map(chunk => chunk.length))).toBeLessThanOrEqual(2 * CHUNK)
    const answers = JSON.parse(chunks.join('')) as { id: number; result: string }[]
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, id) => id))
    expect(answers.every(({ result }) => result.length === size)).toBe(true)
    expect(held()).toBe(0)
  })

  test.each(['the answer is cancelled', 'its connection ends'])('runs and holds nothing once %s', async how => {
    const { ask, calls, held, connection } = routerOver(answering('x'.repeat(size)))
    const stream = streamed(await ask(200))
    expect(await stream.next()).toBeDefined()
    if (how === 'its connection ends') connection.cancel()
    else stream.cancel()
    const made = calls()
    for (let i = 0; i < 20; i++) await turn()
    expect(held()).toBe(0)
    expect((await stream.next())?.length).toBeUndefined()
    expect(calls()).toBe(made)
    expect(held()).toBe(0)
  })
})

describe('a batch under way', () => {
  test('ends with its connection, and so does what runs for it', async () => {
    const waiting: Cancellation[] = []
    const { ask, calls, connection, held } = routerOver((_, { cancellation }) => {
      if (cancellation !== undefined) waiting.push(cancellation)
      return new Promise(() => {})
    })
    const answer = ask(1_000)
    await turn()
    connection.cancel()
    expect(await answer).toBe('')
    expect(waiting.length).toBe(calls())
    expect(waiting.every(({ isCancelled }) => isCancelled)).toBe(true)
    expect(calls()).toBeLessThan(1_000)
    expect(held()).toBe(0)
  })

  test('does not begin when its connection has ended meanwhile', async () => {
    const { ask, calls, connection, held } = routerOver(() => 'x')
    connection.cancel()
    expect(await ask(10)).toBe('')
    expect([calls(), held()]).toEqual([0, 0])
  })

  test('cancels what still runs once it is refused as too large', async () => {
    let last: Cancellation | undefined
    const text = 'x'.repeat(RPC_LIMITS.answerBytes / 2)
    const { ask } = routerOver((call, { cancellation }) => {
      last = cancellation
      if (call < 3) return Promise.resolve(text)
      return new Promise(resolve => cancellation?.onCancel(() => resolve('ended')))
    })
    const answers = JSON.parse((await read(streamed(await ask(10)))).join('')) as { error?: object; result?: string }[]
    expect(answers.map(({ error }) => error === undefined)).toEqual([true, ...Array.from({ length: 9 }, () => false)])
    expect(last?.isCancelled).toBe(true)
  })

  test('lets go of streams that were never read', async () => {
    let open = 0
    const { ask, held, connection } = routerOver(() => {
      open++
      return new StreamedJson(
        () => {
          const stream = streamOf('x')
          return {
            next: () => stream.next(),
            cancel() {
              open--
            },
          }
        },
        { heldBytes: 20_000 },
      )
    })
    const stream = streamed(await ask(10))
    expect([open, held()]).toEqual([10, 200_000 - RPC_LIMITS.budgets.answers.free])
    connection.cancel()
    stream.cancel()
    expect([open, held()]).toEqual([0, 0])
  })
})

describe('a long text', () => {
  test('is cut into chunks between characters', async () => {
    const text = `a${'\u{1f600}'.repeat(CHUNK)}`
    const stream = streamOf(text)
    expect(stream.heldBytes).toBe(text.length)
    const chunks = await read(stream)
    expect(chunks.length).toBeGreaterThan(1)
    expect(Buffer.concat(chunks.map(chunk => Buffer.from(chunk))).toString()).toBe(text)
    expect(stream.heldBytes).toBe(0)
  })
})

test.each([
  '{"id":1,"method":"big"}',
  '[{"id":1,"method":"big"}]',
  '[{"id":1,"method":"late"},{"id":2,"method":"big"}]',
])('a fault of the node while it reads %s is an error for the client, and nothing is thrown', async body => {
  const faults: object[] = []
  const router = new Router({ log: { error: (fields: object) => void faults.push(fields) } as never })
  const late = method({ summary: '', params: [], result: {}, handler: () => turn() })
  const get = (name: string) => {
    if (name === 'big') throw new Error('a fault')
    return late
  }
  const context = { budgets: createBudgets(), client: 'a' } as never
  const answer = await router.handle(body, { methods: { get } as never, context })
  expect(String(answer)).toContain('request handler crashed')
  expect(faults.length).toBe(1)
})
