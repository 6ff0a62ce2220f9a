import { Session } from 'node:inspector/promises'
import { Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CALL_LIMITS } from '../../../../src/config/limits/clients.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import type { SerializedEnv } from '../../../../src/evm/block-env.ts'
import { createCallService } from '../../../../src/evm/calls/call-service.ts'
import type { CallMessage } from '../../../../src/evm/calls/message/call-args.ts'
import type { CallRequest, CallService } from '../../../../src/evm/calls/types.ts'
import type { EngineName } from '../../../../src/evm/engines/select-engine.ts'
import type { Journal } from '../../../../src/state/journal/journal.ts'
import { TestWorld } from '../../state/world.ts'
import { temporaryDirectory } from '../../storage/temp-store.ts'
import { code, env, key, TOKEN } from '../world.ts'

const caller = key(1)
/** Answers slot 0. */
const READER: Hex = `0x${'01'.repeat(20)}`
const READ = code(0x5f, 0x54, 0x5f, 0x52, 0x60, '20', 0x5f, 0xf3)
/** JUMPDEST, PUSH0, JUMP: for ever. */
const LOOPER: Hex = `0x${'02'.repeat(20)}`
const LOOP = code(0x5b, 0x5f, 0x56)
/** Busy for longer than any call may take, at a place where nothing gives way. */
const BUSY = 'for (const endMs = Date.now() + 60_000; Date.now() < endMs; );'

/** Makes the threads that run now busy, as a debugger would. Where calls are concerned nothing indivisible takes so long. */
const occupyWorkers = async (): Promise<void> => {
  const session = new Session()
  session.connect()
  onTestFinished(() => session.disconnect())
  const workers: string[] = []
  session.on('NodeWorker.attachedToWorker', ({ params }) => workers.push(params.sessionId))
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  expect(workers).not.toEqual([])
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: BUSY } })
  for (const sessionId of workers) await session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
}

const serialized = (number: number): SerializedEnv => {
  const { params: _, blockHash, ...rest } = env({ number })
  return { ...rest, hash: blockHash(number), parentHash: blockHash(number - 1) }
}

const write = (world: TestWorld, fill: (journal: Journal) => void) => {
  const journal = world.world.journal()
  fill(journal)
  journal.endTransaction()
  return world.commit(journal)
}

/** The service as one client has it. */
const ofClient = (service: CallService, client: string) => ({
  call: (request: CallRequest) => service.call(request, client),
  estimateGas: (request: CallRequest) => service.estimateGas(request, client),
  createAccessList: (request: CallRequest) => service.createAccessList(request, client),
  close: () => service.close(),
})
type Calls = ReturnType<typeof ofClient>

const setUp = async (engine: EngineName = 'wasm') => {
  const path = await temporaryDirectory()
  const world = await TestWorld.open(path)
  await write(world, journal => {
    journal.setBalance(caller.address, TOKEN)
    journal.setCode(READER, READ)
    journal.setCode(LOOPER, LOOP)
  })
  await write(world, journal => journal.setStorage(READER, toWord(0n), toWord(41n)))
  const envs = new Map<number, SerializedEnv>()
  const overlay = {
    accounts: new Map(),
    code: new Map(),
    storage: new Map([[READER, new Map([[toWord(0n), { before: toWord(42n), after: toWord(99n) }]])]]),
  }
  const service = createCallService({
    store: world.store,
    params: NETWORKS.devnet,
    engine,
    logger: silentLogger,
    async envFor({ number, pending }) {
      const at = pending === true ? number + 1 : number
      const found = envs.get(at) ?? serialized(at)
      envs.set(at, found)
      return found
    },
    overlayFor: async () => overlay,
  })
  onTestFinished(async () => {
    await service.close()
    await world.close()
  })
  return { world, shared: service, service: ofClient(service, 'client') }
}

const request = (
  number: number,
  to: Hex,
  message: Partial<CallMessage> = {},
  more: Partial<CallRequest> = {},
): CallRequest => ({
  number,
  message: { from: caller.address, to, value: 0n, data: EMPTY_BYTES, ...message },
  ...more,
})
const valueAt = async (service: Calls, number: number, more: Partial<CallRequest> = {}): Promise<bigint> =>
  BigInt(bytesToHex((await service.call(request(number, READER, {}, more))).output))

describe('call service', () => {
  test('reads the head, older blocks and the pending block', async () => {
    const { world, service } = await setUp()
    const head = world.world.number
    expect(await valueAt(service, head)).toBe(41n)
    await write(world, journal => journal.setStorage(READER, toWord(0n), toWord(42n)))
    expect(await valueAt(service, head + 1)).toBe(42n)
    expect(await valueAt(service, head)).toBe(41n)
    expect(await valueAt(service, head - 1)).toBe(0n)
    expect(await valueAt(service, head + 1, { pending: true })).toBe(99n)
    expect(await service.estimateGas(request(head, READER))).toBeGreaterThan(21_000n)
    expect((await service.createAccessList(request(head, READER))).accessList).toEqual([
      { address: READER, storageKeys: [toWord(0n)] },
    ])
  })

  test('errors cross the thread with their details', async () => {
    const { world, service } = await setUp()
    const missing = service.call(request(world.world.number + 10, READER))
    await expect(missing).rejects.toMatchObject({ detail: { code: 'MISSING_STATE' } })
    const tooMuch = service.call(request(world.world.number, READER, { value: 2n * TOKEN }))
    await expect(tooMuch).rejects.toMatchObject({
      detail: { code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER', want: 2n * TOKEN },
    })
  })

  test('many calls at once', async () => {
    const { world, service } = await setUp()
    const number = world.world.number
    const values = await Promise.all(Array.from({ length: 300 }, () => valueAt(service, number)))
    expect(new Set(values)).toEqual(new Set([41n]))
  })

  test('endless loops do not hold up other calls, and end in a timeout or for want of gas', async () => {
    const { world, service } = await setUp()
    const number = world.world.number
    await valueAt(service, number)
    const loops = Array.from({ length: 4 }, () =>
      service.call(request(number, LOOPER)).catch(error => error.detail.code),
    )
    const order: string[] = []
    for (const loop of loops) void loop.then(() => order.push('loop'))
    for (let i = 0; i < 10; i++) {
      expect(await valueAt(service, number)).toBe(41n)
      order.push('value')
    }
    const ends = await Promise.all(loops)
    expect(order.indexOf('value')).toBeLessThan(order.lastIndexOf('loop'))
    for (const end of ends) expect(['EXECUTION_TIMEOUT', 'EXECUTION_FAILED']).toContain(end)
  }, 60_000)

  test('calls that are cancelled are not run, or not to their end', async () => {
    const { world, shared, service } = await setUp('ethereumjs')
    const number = world.world.number
    const connection = new Cancellation()
    // Once a worker is up: half of the calls are in flight then, and the others wait.
    expect(await valueAt(service, number)).toBe(41n)
    const loops = Array.from({ length: 2 * CALL_LIMITS.clientInFlight }, () =>
      shared.call(request(number, LOOPER), 'client', connection),
    )
    const outcomes = Promise.allSettled(loops)
    await new Promise(resolve => setImmediate(resolve))
    connection.cancel()
    const reasons = (await outcomes).map(outcome => (outcome.status === 'rejected' ? outcome.reason : undefined))
    const isQueued = reasons.map(reason => reason instanceof Cancelled)
    expect(isQueued.filter(Boolean).length).toBeGreaterThanOrEqual(CALL_LIMITS.clientInFlight)
    for (const [i, reason] of reasons.entries())
      if (!isQueued[i]) expect(['EXECUTION_TIMEOUT', 'EXECUTION_FAILED']).toContain(reason?.detail.code)
    expect(await valueAt(service, number)).toBe(41n)
  }, 60_000)

  test('a call in a thread that answers nothing is stopped from outside; the others are answered elsewhere', async () => {
    // The slower engine: the loop still has gas when its thread stops answering.
    const { world, service } = await setUp('ethereumjs')
    const number = world.world.number
    await valueAt(service, number)
    const hog = service.call(request(number, LOOPER)).catch(error => error.detail)
    await new Promise(resolve => setTimeout(resolve, 200))
    await occupyWorkers()
    const others = await Promise.all(Array.from({ length: 20 }, () => valueAt(service, number)))
    expect(new Set(others)).toEqual(new Set([41n]))
    expect(await hog).toEqual({ code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs })
    expect(await valueAt(service, number)).toBe(41n)
  }, 60_000)

  test('a client waits for itself, not others for it', async () => {
    const { world, service, shared } = await setUp()
    const number = world.world.number
    await valueAt(service, number)
    let over = 0
    const greedy = ofClient(shared, 'greedy')
    const flood = Array.from({ length: CALL_LIMITS.clientCalls + 3 }, () =>
      greedy.call(request(number, LOOPER)).catch((error: { code: string }) => {
        over++
        return error.code
      }),
    )
    await expect.poll(() => over).toBe(3)
    expect(await Promise.all(flood.slice(-3))).toEqual(Array(3).fill('CLIENT_QUEUE_FULL'))
    expect(await valueAt(service, number)).toBe(41n)
    expect(over).toBe(3)
  }, 60_000)

  test('closing refuses what is under way', async () => {
    const { world, service } = await setUp()
    const loop = service.call(request(world.world.number, LOOPER))
    const refused = expect(loop).rejects.toMatchObject({ detail: { code: 'EXECUTION_FAILED' } })
    await new Promise(resolve => setTimeout(resolve, 50))
    await service.close()
    await refused
  })
})

/** Takes 192 KiB, calls itself while there is gas for more, then spins: some hundred frames that stay. */
const HOARDER: Hex = `0x${'04'.repeat(20)}`
const HOARD = code(
  ...[0x5f, 0x62, '02f000', 0x52, 0x62, '200000', 0x5a, 0x11, 0x60, '13', 0x57, 0x5b, 0x60, '0f', 0x56],
  ...[0x5b, 0x5f, 0x5f, 0x5f, 0x5f, 0x5f, 0x30, 0x5a, 0xf1, 0x00],
)

test('the frames of many calls are bounded in memory together', async () => {
  const { service } = await setUp()
  const message: CallMessage = { from: caller.address, to: HOARDER, value: 0n, data: EMPTY_BYTES }
  const overrides = { [HOARDER]: { code: HOARD } }
  // Without the memory of the worker itself.
  await service.call({ message: { ...message, to: READER }, number: 1 })
  const before = process.memoryUsage().rss
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 10)
  const results = await Promise.allSettled(
    Array.from({ length: 24 }, () => service.call({ message, number: 1, overrides })),
  )
  clearInterval(watch)
  const reasons = results.map(result => (result.status === 'rejected' ? result.reason.detail : 'done'))
  expect(reasons).toContainEqual({ code: 'EXECUTION_FAILED', reason: 'out of memory' })
  expect(peak - before).toBeLessThan(2 * CALL_LIMITS.frameBytes)
  // The memory of the frames is free again.
  expect(await service.call({ message: { ...message, to: READER }, number: 1 })).toMatchObject({})
}, 60_000)

test('calls of one client that take all memory fail for it, and not for another', async () => {
  const { shared } = await setUp()
  const message: CallMessage = { from: caller.address, to: HOARDER, value: 0n, data: EMPTY_BYTES }
  let isOver = false
  let failures = 0
  const hoarding = Array.from({ length: 20 }, async () => {
    for (; !isOver; failures++)
      await shared.call({ message, number: 1, overrides: { [HOARDER]: { code: HOARD } } }, 'many').catch(() => {})
  })
  const others: unknown[] = []
  for (let i = 0; i < 8; i++) {
    const looping = shared.call({ message: { ...message, to: LOOPER, gas: 10_000_000n }, number: 1 }, 'one')
    others.push(await looping.catch(error => error.detail))
  }
  isOver = true
  await Promise.all(hoarding)
  expect(failures).toBeGreaterThan(20)
  expect(others).toEqual(others.map(() => ({ code: 'EXECUTION_FAILED', reason: 'out of gas' })))
}, 60_000)

test('outputs of megabytes come whole, and those of many calls count for no later one', async () => {
  const { service } = await setUp()
  const overrides = { [READER]: { code: code(0x62, '400000', 0x5f, 0xf3) } }
  const calls = Array.from({ length: 20 }, () => service.call(request(1, READER, {}, { overrides })))
  for (const { output } of await Promise.all(calls)) expect(output.byteLength).toBe(4 * 1024 * 1024)
}, 60_000)

test('a call that ran out of memory leaves none of it to the next', async () => {
  const { service } = await setUp()
  // A new transient word for a hundred gas, for ever.
  const overrides = { [READER]: { code: code(0x5b, 0x5a, 0x5a, 0x5d, 0x5f, 0x56) } }
  const hoarding = service.call(request(1, READER, {}, { overrides }))
  await expect(hoarding).rejects.toMatchObject({ code: 'EXECUTION_FAILED', message: expect.stringContaining('memory') })
  const next = service.call(request(1, LOOPER, { gas: 20_000_000n }))
  await expect(next).rejects.toMatchObject({ message: expect.stringContaining('out of gas') })
}, 60_000)

test('requests that wait are bounded in bytes', async () => {
  const { shared } = await setUp()
  const message: CallMessage = { from: caller.address, to: READER, value: 0n, data: EMPTY_BYTES }
  const overrides = { [READER]: { code: new Uint8Array(CALL_LIMITS.queueBytes / 4) } }
  const refusals = async (clients: readonly string[]) => {
    const calls = clients.map(client => shared.call({ message, number: 1, overrides }, client))
    const results = await Promise.allSettled(calls)
    const codes = results.flatMap(result => (result.status === 'rejected' ? [result.reason.code as string] : []))
    // The others are answered, or out of time where the machine is slow.
    return codes.filter(code => code !== 'EXECUTION_TIMEOUT')
  }
  expect(await refusals(['a', 'b', 'c', 'd', 'e'])).toEqual(['CALL_QUEUE_FULL', 'CALL_QUEUE_FULL'])
  expect(await refusals(['a', 'a', 'a', 'b'])).toEqual(['CLIENT_QUEUE_FULL', 'CLIENT_QUEUE_FULL'])
  // And let go of when they are answered.
  expect(await refusals(['a'])).toEqual([])
}, 60_000)
