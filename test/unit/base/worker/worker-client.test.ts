import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isCoded } from '@tandem/base/errors.ts'
import { type WorkerEnded, WorkerFault } from '@tandem/base/worker/protocol.ts'
import type { ServeOptions } from '@tandem/base/worker/serve-worker.ts'
import { WorkerClient, type WorkerClientOptions } from '@tandem/base/worker/worker-client.ts'
import { afterEach, expect, test } from 'vitest'
import type { TestMethods } from './test-worker.ts'

const url = new URL('./test-worker.ts', import.meta.url)
const open: WorkerClient<TestMethods>[] = []
const start = (serve: ServeOptions = {}, options: Partial<WorkerClientOptions> = {}): WorkerClient<TestMethods> => {
  const client = new WorkerClient<TestMethods>({ name: 'test', url, data: serve, ...options })
  open.push(client)
  return client
}
afterEach(async () => {
  for (const client of open.splice(0)) await client.close()
})
const sharedFlag = (): SharedArrayBuffer => new SharedArrayBuffer(4)

test('serial calls are executed one after the other, in their order', async () => {
  const client = start()
  const order: number[] = []
  await Promise.all([20, 0, 5].map(ms => client.call('later', ms).then(value => order.push(value))))
  expect(order).toEqual([20, 0, 5])
})

test('parallel calls do not wait for each other', async () => {
  const client = start({ order: 'parallel' })
  const waiting = client.send('untilCancelled', [])
  expect(await client.call('echo', 1)).toBe(1)
  client.cancel(waiting.id)
  expect(await waiting.result).toBe('cancelled')
})

test('errors cross with their detail, or as the text of a fault', async () => {
  const client = start()
  const error = await client.call('refuse', 'a reason').catch(caught => caught)
  expect(isCoded(error) && error.detail).toEqual({ code: 'REFUSED', reason: 'a reason', limit: 7n })
  const fault = await client.call('fail').catch(caught => caught)
  expect(fault).toBeInstanceOf(WorkerFault)
  expect(fault.message).toMatch(/^Error: not foreseen\n.*test-worker/s)
  const unknown = await client.call('constructor' as 'fail').catch(caught => caught)
  expect(unknown).toBeInstanceOf(WorkerFault)
  expect(await client.call('echo', 1)).toBe(1)
})

test('an end without an order rejects what is pending and what comes later', async () => {
  const ends: [WorkerEnded, number][] = []
  const client = start({}, { onEnd: (error, calls) => ends.push([error, calls]) })
  const pending = [client.call('exit'), client.call('echo', 1)]
  for (const { status } of await Promise.allSettled(pending)) expect(status).toBe('rejected')
  await expect(client.call('echo', 1)).rejects.toThrow('the worker test ended with code 3')
  expect(ends.map(([error, calls]) => [error.name, error.cause, calls])).toEqual([['WorkerEnded', undefined, 2]])
  const thrown = await start()
    .call('throwOutside')
    .catch(caught => caught)
  expect([thrown.name, thrown.message, thrown.cause.message]).toEqual(['WorkerEnded', 'outside', 'outside'])
})

test('a fatal fault ends the worker before the next call', async () => {
  const client = start({ faults: 'fatal' })
  const flag = sharedFlag()
  await expect(client.call('refuse', 'not a fault')).rejects.toMatchObject({ code: 'REFUSED' })
  const outcomes = await Promise.allSettled([client.call('fail'), client.call('exitFirst', flag)])
  expect(outcomes.map(outcome => outcome.status === 'rejected' && outcome.reason.message)).toEqual([
    'not foreseen',
    'not foreseen',
  ])
  expect(new Int32Array(flag)[0]).toBe(0)
})

test('pending and later calls of a closed worker are rejected; its end is no failure', async () => {
  let ends = 0
  const client = start({}, { onEnd: () => ends++ })
  const told = expect(client.call('later', 60_000)).rejects.toMatchObject({
    detail: { code: 'WORKER_CLOSED', worker: 'test' },
  })
  await client.close()
  await told
  await expect(client.call('echo', 1)).rejects.toMatchObject({ code: 'WORKER_CLOSED' })
  expect(ends).toBe(0)
})

test.each([1, 8])('a value that cannot be serialized fails its own call only, %i messages at once', async batch => {
  const client = start({ order: 'parallel', batch }, { batch })
  const outcomes = await Promise.allSettled([
    client.call('echo', 1),
    client.call('echo', () => 2),
    client.call('unclonable'),
    client.call('echo', 4),
  ])
  expect(outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message))).toEqual([
    1,
    expect.stringContaining('could not be cloned'),
    expect.stringContaining('could not be cloned'),
    4,
  ])
  expect(client.size).toBe(0)
})

test('calls of one turn go together, as many as allowed', async () => {
  const client = start({}, { batch: 8 })
  await client.call('echo', 0)
  const earlier = await client.call('messages')
  const values = Array.from({ length: 20 }, (_, i) => i)
  expect(await Promise.all(values.map(value => client.call('echo', value)))).toEqual(values)
  expect((await client.call('messages')) - earlier).toBe(4)
})

test('bytes cross with memory of their own', async () => {
  const client = start()
  const view = new Uint8Array(1_024).subarray(0, 3)
  expect(await client.call('memoryBehind', view)).toBe(3)
  expect(() => client.send('echo', [1], { transfer: [view] })).toThrow('memory of their own')
  const own = Uint8Array.of(1, 2, 3)
  expect(await client.send('echo', [own], { transfer: [own] }).result).toEqual(Uint8Array.of(1, 2, 3))
  expect(own.byteLength).toBe(0)
  await expect(client.send('echo', [1], { transfer: [own.buffer] }).result).rejects.toThrow()
  expect(await client.call('moved', 5)).toEqual(new Uint8Array(5).fill(7))
  expect(client.size).toBe(0)
})

test('urgent calls precede those that wait', async () => {
  const client = start({}, { hasUrgent: true })
  const flag = sharedFlag()
  const order: string[] = []
  const note = (name: string) => () => void order.push(name)
  const calls = [
    client.call('hold', flag),
    client.call('echo', 1).then(note('plain')),
    client.send('echo', [2], { isUrgent: true }).result.then(note('urgent')),
  ]
  const unsent = client.send('echo', [() => 3], { isUrgent: true }).result
  await expect(unsent).rejects.toThrow('could not be cloned')
  Atomics.store(new Int32Array(flag), 0, 1)
  Atomics.notify(new Int32Array(flag), 0)
  await Promise.all(calls)
  expect(order).toEqual(['urgent', 'plain'])
})

test('a stream sends as many chunks as its reader grants', async () => {
  const client = start({ order: 'parallel' })
  const chunks: number[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onChunk = ([value]: Uint8Array) => void chunks.push(value as number)
  const id = client.post('count', [5, 2], { resolve, reject, onChunk })
  // Outcomes come after the chunks that were sent before.
  await client.call('echo', 0)
  await client.call('echo', 0)
  expect(chunks).toEqual([0, 1])
  client.credit(id)
  await client.call('echo', 0)
  await client.call('echo', 0)
  expect(chunks).toEqual([0, 1, 2])
  client.credit(id)
  client.credit(id)
  await promise
  expect(chunks).toEqual([0, 1, 2, 3, 4])
})

test('a pending call keeps the process alive, an idle worker does not', async () => {
  const script = fileURLToPath(new URL('./idle-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  expect(stdout).toBe('answered 20')
})

test('workers that end in the middle of reads leave no iterator open', async () => {
  const script = fileURLToPath(new URL('./closing-process.ts', import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'tandem-end-'))
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, join(folder, 'db'), '12'])
    expect(stdout).toBe(`${'closed '.repeat(24)}done`)
  } finally {
    await rm(folder, { recursive: true })
  }
}, 60_000)

test('a worker that is closed while its script loads is left to load first', async () => {
  const script = fileURLToPath(new URL('./closing-early-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  expect(stdout).toBe('closed done')
}, 60_000)

test('a process that ends itself lets the scripts of its workers load first', async () => {
  const script = fileURLToPath(new URL('./ending-early-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  expect(stdout).toBe('done')
}, 60_000)

test('an answer that arrives after the close leaves the process alive until the worker has ended', async () => {
  let unrefs = 0
  const client = start(
    {},
    {
      onThread: worker => {
        const unref = worker.unref.bind(worker)
        worker.unref = () => {
          unrefs++
          unref()
        }
      },
    },
  )
  await client.call('echo', 1)
  const before = unrefs
  const answer = client.call('echo', 2).catch(error => error)
  // The answer reaches this thread's queue while the thread waits.
  Atomics.wait(new Int32Array(sharedFlag()), 0, 0, 300)
  const closing = client.close()
  expect(await answer).toMatchObject({ code: 'WORKER_CLOSED' })
  await closing
  expect(unrefs).toBe(before)
})
