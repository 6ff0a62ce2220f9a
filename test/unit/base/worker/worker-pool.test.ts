import { Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { StreamBroken } from '@tandem/base/async/chunk-stream.ts'
import { WorkerEnded } from '@tandem/base/worker/protocol.ts'
import { WorkerPool, type WorkerPoolOptions } from '@tandem/base/worker/worker-pool.ts'
import { afterEach, expect, test } from 'vitest'
import type { TestMethods } from './test-worker.ts'

const url = new URL('./test-worker.ts', import.meta.url)
const open: WorkerPool<TestMethods>[] = []
const start = (options: Partial<WorkerPoolOptions> = {}): WorkerPool<TestMethods> => {
  const pool = new WorkerPool<TestMethods>({ name: 'test', url, data: { order: 'parallel' }, ...options })
  open.push(pool)
  return pool
}
afterEach(async () => {
  for (const pool of open.splice(0)) await pool.close()
})

/** Time and monitoring under the test's control. */
const virtualTime = () => {
  let nowMs = 0
  const looks = new Set<() => void>()
  return {
    looks,
    nowMs: () => nowMs,
    every(_: number, run: () => void) {
      looks.add(run)
      return () => void looks.delete(run)
    },
    pass(ms: number) {
      nowMs += ms
      for (const run of looks) run()
    },
  }
}

test('an idle worker is used before another one starts, and no more start than the size', async () => {
  const pool = start({ size: 2 })
  const first = await pool.call('thread')
  expect(await pool.call('thread')).toBe(first)
  const threads = await Promise.all(Array.from({ length: 6 }, () => pool.call('thread')))
  expect(new Set(threads).size).toBe(2)
})

test('calls beyond the places of the workers wait, those beyond the queue are refused', async () => {
  const pool = start({ size: 1, inFlight: 1, queue: 1 })
  const stop = new Cancellation()
  const running = pool.run({ name: 'untilCancelled', args: () => [], cancellation: stop })
  const ended = expect(running).rejects.toBeInstanceOf(Cancelled)
  const waiting = pool.call('echo', 1)
  await expect(pool.call('echo', 2)).rejects.toMatchObject({ detail: { code: 'WORKER_QUEUE_FULL', limit: 1 } })
  stop.cancel()
  await ended
  expect(await waiting).toBe(1)
})

test('clients are served in rotation, each within its own limits', async () => {
  const pool = start({ inFlight: 2, clientInFlight: 1, clientQueue: 2 })
  const stop = new Cancellation()
  const order: string[] = []
  const run = (client: string, name: string) =>
    pool.run({ name: 'echo', args: () => [name], client }).then(value => order.push(String(value)))
  const held = pool.run({ name: 'untilCancelled', args: () => [], client: 'greedy', cancellation: stop })
  const released = expect(held).rejects.toBeInstanceOf(Cancelled)
  const waiting = [run('greedy', 'greedy 1'), run('greedy', 'greedy 2')]
  await expect(run('greedy', 'greedy 3')).rejects.toMatchObject({ detail: { code: 'WORKER_CLIENT_FULL', limit: 2 } })
  await run('other', 'other')
  expect(order).toEqual(['other'])
  expect(pool.size).toBe(3)
  stop.cancel()
  await released
  expect(pool.size, 'a cancelled call keeps its place until it ends').toBe(3)
  await Promise.all(waiting)
  expect(order).toEqual(['other', 'greedy 1', 'greedy 2'])
  expect(pool.size).toBe(0)
})

test('a full queue gives up the last call of the client with most for one of another', async () => {
  const pool = start({ inFlight: 1, queue: 3 })
  const stop = new Cancellation()
  const held = pool.run({ name: 'untilCancelled', args: () => [], cancellation: stop }).catch(() => {})
  const run = (client: string, name: string) => pool.run({ name: 'echo', args: () => [name], client })
  const greedy = ['1', '2', '3'].map(name => run('greedy', name))
  const displaced = expect(greedy[2]).rejects.toMatchObject({ detail: { code: 'WORKER_QUEUE_FULL', limit: 3 } })
  const other = run('other', 'other')
  await displaced
  stop.cancel()
  await held
  expect(await Promise.all([...greedy.slice(0, 2), other])).toEqual(['1', '2', 'other'])
})

test('a call cancelled while it waits is not executed', async () => {
  const pool = start({ inFlight: 1 })
  const flag = new SharedArrayBuffer(4)
  const [holding, stop] = [new SharedArrayBuffer(4), new Cancellation()]
  const held = pool.call('hold', holding)
  const waiting = pool.run({ name: 'exitFirst', args: () => [flag], cancellation: stop })
  const cancelled = expect(waiting).rejects.toBeInstanceOf(Cancelled)
  stop.cancel()
  await cancelled
  Atomics.store(new Int32Array(holding), 0, 1)
  Atomics.notify(new Int32Array(holding), 0)
  await held
  expect(await pool.call('echo', 1)).toBe(1)
  expect(new Int32Array(flag)[0]).toBe(0)
})

test('a call whose worker ended is tried as often as allowed, with its memory made anew', async () => {
  const counter = () => new SharedArrayBuffer(4)
  const ends: string[] = []
  const pool = start({ retries: 1, onEnd: ({ message }, calls) => ends.push(`${message}, ${calls}`) })
  expect(await pool.call('exitFirst', counter())).toBe(1)
  expect(ends).toEqual(['the worker test ended with code 3, 1'])
  await expect(pool.call('exit')).rejects.toBeInstanceOf(WorkerEnded)
  expect(ends).toHaveLength(3)
  await expect(start().call('exitFirst', counter())).rejects.toBeInstanceOf(WorkerEnded)

  let made = 0
  const args = (): [Uint8Array] => {
    made++
    return [new Uint8Array(4)]
  }
  const ending = pool.call('exitFirst', counter())
  expect(await pool.run({ name: 'memoryBehind', args, transfer: given => given })).toBe(4)
  expect(await ending).toBe(1)
  expect(made).toBe(2)
})

test('the call that ended its worker is not sent again where that is asked, and those beside it are', async () => {
  const pool = start({ retries: 1, dropsRunning: true })
  const waiting = pool.call('later', 50)
  const flag = new SharedArrayBuffer(4)
  await expect(pool.call('exitFirst', flag)).rejects.toBeInstanceOf(WorkerEnded)
  expect(await waiting).toBe(50)
  expect(new Int32Array(flag)[0]).toBe(1)
})

test('a call in a worker that fails goes to a new one, also between its error and its end', async () => {
  const threads: { emit(event: string, error: Error): boolean }[] = []
  const pool = start({ onThread: thread => threads.push(thread) })
  const first = await pool.call('thread')
  threads[0]?.emit('error', new Error('broken'))
  expect(await pool.call('thread')).not.toBe(first)
  expect(threads).toHaveLength(2)
})

test('a worker that hangs is replaced, and its calls fail or are tried again', async () => {
  const time = virtualTime()
  const ends: WorkerEnded[] = []
  const heartbeat = { everyMs: 1, stuckMs: 1_000, blockedMs: 5_000 }
  const pool = start({ ...time, threadTimeMs: time.nowMs, heartbeat, retries: 1, onEnd: error => ends.push(error) })
  const first = await pool.call('thread')
  const stream = pool.stream<'chunkThenHang', Uint8Array>({ name: 'chunkThenHang', args: () => [] }, error => error)
  expect(await stream.next()).toEqual(Uint8Array.of(1))
  const waiting = pool.call('thread')
  time.pass(1)
  time.pass(1_000)
  expect(ends).toEqual([])
  time.pass(1)
  expect(ends).toMatchObject([{ silentMs: 1_001 }])
  await expect(stream.next()).rejects.toBeInstanceOf(StreamBroken)
  expect(await waiting).not.toBe(first)
})

test('a worker that only waits for a processor is not replaced, unless it waits for very long', async () => {
  const time = virtualTime()
  const ends: WorkerEnded[] = []
  const asked: number[] = []
  const threadTimeMs = (id: number): number => {
    asked.push(id)
    return 7
  }
  const heartbeat = { everyMs: 1, stuckMs: 1_000, blockedMs: 5_000 }
  const pool = start({ ...time, threadTimeMs, heartbeat, retries: 1, onEnd: error => ends.push(error) })
  const first = await pool.call('thread')
  const stream = pool.stream<'chunkThenHang', Uint8Array>({ name: 'chunkThenHang', args: () => [] }, error => error)
  expect(await stream.next()).toEqual(Uint8Array.of(1))
  const waiting = pool.call('thread')
  time.pass(1)
  time.pass(5_000)
  expect(ends).toEqual([])
  if (process.platform === 'linux') expect(asked[0], 'its own thread is looked at').toBeGreaterThan(0)
  time.pass(1)
  expect(ends).toMatchObject([{ silentMs: 5_001 }])
  await expect(stream.next()).rejects.toBeInstanceOf(StreamBroken)
  expect(await waiting).not.toBe(first)
})

test('a worker without work is stopped after a while, and the monitoring with it', async () => {
  const time = virtualTime()
  const pool = start({ ...time, idleMs: 100 })
  const first = await pool.call('thread')
  time.pass(100)
  expect(await pool.call('thread')).toBe(first)
  time.pass(101)
  expect(time.looks.size).toBe(0)
  expect(await pool.call('thread')).not.toBe(first)
  expect(time.looks.size).toBe(1)
})

test('a stream starts at its first read, and its reader sets the pace', async () => {
  const pool = start()
  const stream = pool.stream<'count', Uint8Array>({ name: 'count', args: () => [5, 1] }, error => error)
  const values: number[] = []
  for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next())
    values.push(chunk[0] as number)
  expect(values).toEqual([0, 1, 2, 3, 4])
  const endless = pool.stream<'count', Uint8Array>({ name: 'count', args: () => [1e9, 2] }, error => error)
  expect(await endless.next()).toEqual(Uint8Array.of(0))
  endless.cancel()
  expect(await endless.next()).toBeUndefined()
})

test('a stream breaks within its chunks, and fails before the first', async () => {
  const asError = (error: Error) => new Error('translated', { cause: error })
  const pool = start()
  const broken = pool.stream<'chunkThenExit', Uint8Array>({ name: 'chunkThenExit', args: () => [] }, asError)
  expect(await broken.next()).toEqual(Uint8Array.of(1))
  const error = await broken.next().catch(caught => caught)
  expect(error).toBeInstanceOf(StreamBroken)
  const failed = pool.stream<'exit', Uint8Array>({ name: 'exit', args: () => [] }, asError)
  await expect(failed.next()).rejects.toMatchObject({ message: 'translated', cause: { name: 'WorkerEnded' } })
})

test('a method of every worker starts none', async () => {
  let threads = 0
  const pool = start({ size: 3, onThread: () => threads++ })
  pool.callEach('echo', 1)
  expect(threads).toBe(0)
  pool.start()
  pool.callEach('exit')
  expect(await pool.call('echo', 1).catch(error => error)).toBeDefined()
  expect(threads).toBeGreaterThanOrEqual(3)
})

test('closing rejects what runs, what waits and what comes after', async () => {
  const pool = start({ inFlight: 1 })
  const calls = [pool.call('later', 60_000), pool.call('echo', 1)]
  const outcomes = Promise.allSettled(calls)
  await pool.close()
  const later = await Promise.allSettled([pool.call('echo', 2)])
  for (const outcome of [...(await outcomes), ...later])
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'WORKER_CLOSED' } })
})
