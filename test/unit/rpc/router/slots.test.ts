import type { ChunkStream } from '@tandem/base/async/chunk-stream.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RPC_LIMITS, TRACE_LIMITS } from '../../../../src/config/limits/clients.ts'
import type { ResponseChunk } from '../../../../src/rpc/router/response.ts'
import { createSlots, streamInTurn } from '../../../../src/rpc/router/slots.ts'

const TRACES = TRACE_LIMITS.slots
const { stallMs } = RPC_LIMITS.wantedSlot
const PIECE = 'x'.repeat(128 * 1024)
const READ_TOO_SLOWLY = /^others waited for this work, and its result was read too slowly$/

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const endless = (): ChunkStream<ResponseChunk> => ({ next: async () => PIECE, cancel() {} })

const startAll = async (slots = createSlots(TRACES, 'traces')) => {
  const clients = Array.from({ length: TRACES.total }, (_, i) => `slow ${i % 2}`)
  const streams = clients.map(client => streamInTurn(slots, client, endless))
  for (const stream of streams) expect(await stream.next()).toBe(PIECE)
  return { slots, streams }
}

/** Starts a stream of another client. */
const startAnother = (slots: ReturnType<typeof createSlots>) => {
  const stream = streamInTurn(slots, 'honest', endless)
  const read: (number | undefined)[] = []
  stream.next().then(
    piece => read.push(piece?.length),
    () => {},
  )
  return { stream, read }
}

test('slow readers that hold all slots lose them within seconds when another client waits', async () => {
  const { slots, streams } = await startAll()
  const { stream, read } = startAnother(slots)
  await vi.advanceTimersByTimeAsync(stallMs - 1)
  expect(read).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(read).toEqual([PIECE.length])
  const ends = await Promise.allSettled(streams.map(slow => slow.next()))
  const failures = ends.flatMap(end => (end.status === 'rejected' ? [end.reason.message] : []))
  expect(failures).toEqual([expect.stringMatching(READ_TOO_SLOWLY)])
  for (const each of [...streams, stream]) each.cancel()
  await vi.runAllTimersAsync()
  expect(slots.taken).toBe(0)
})

test('readers as slow keep their slots while nobody waits, and until the client that comes has waited as long as others would', async () => {
  const { slots, streams } = await startAll()
  await vi.advanceTimersByTimeAsync(RPC_LIMITS.streamStallMs)
  for (const slow of streams) expect(await slow.next()).toBe(PIECE)
  await vi.advanceTimersByTimeAsync(10 * stallMs)
  expect(slots.taken).toBe(TRACES.total)
  const { stream, read } = startAnother(slots)
  // Looks are a second apart.
  await vi.advanceTimersByTimeAsync(stallMs - 1_001)
  expect(read).toEqual([])
  await vi.advanceTimersByTimeAsync(1_001)
  expect(read).toEqual([PIECE.length])
  for (const each of [...streams, stream]) each.cancel()
})

test('a reader above the rate keeps its slot however long it reads, and so does one that only itself waits for', async () => {
  const { slots, streams } = await startAll()
  const { stream, read } = startAnother(slots)
  for (let readMs = 0; readMs < 10 * stallMs; readMs += 100) {
    for (const fast of streams) expect(await fast.next()).toBe(PIECE)
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(read).toEqual([])
  stream.cancel()
  await vi.advanceTimersByTimeAsync(0)
  const own = streamInTurn(slots, 'slow 0', endless)
  const owned = own.next().catch(() => {})
  await vi.advanceTimersByTimeAsync(10 * stallMs)
  for (const slow of streams) expect(await slow.next()).toBe(PIECE)
  for (const each of [...streams, own]) each.cancel()
  await owned
})
