import type { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { TRACE_LIMITS } from '../../../../src/config/limits/clients.ts'
import { sleep } from '../../../support/node-process.ts'
import { CALL_TRACE, readJson, withTraces } from './trace-chain.ts'

const IDLE_MS = TRACE_LIMITS.idleWorkerMs

/** Its sign of life, in real time, by which it is not taken for stuck. */
const heartbeat = () => sleep(TRACE_LIMITS.stuckMs / 30 + 100)

/** Threads that began in the meantime, by name. */
const began: string[] = []
const onWorker = (worker: Worker): void => void began.push((worker as Worker & { threadName: string }).threadName)

afterEach(() => {
  process.off('worker', onWorker)
  vi.useRealTimers()
})

test('the worker of traces stays while they come, however short they are, and is given back when none comes', () =>
  withTraces(async ({ chain, traces, submit, block }) => {
    await submit({ value: 1n })
    const found = await block((await chain.mine()).header.number)
    const trace = () => readJson<{ type: string }>(traces.transaction(found, 0, CALL_TRACE))
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    process.on('worker', onWorker)
    began.length = 0
    for (let times = 0; times < 3; times++) {
      expect((await trace()).type).toBe('CALL')
      vi.advanceTimersByTime((2 / 3) * IDLE_MS)
      await heartbeat()
    }
    expect(began).toEqual(['traces'])
    vi.advanceTimersByTime(IDLE_MS)
    expect((await trace()).type).toBe('CALL')
    expect(began).toEqual(['traces', 'traces'])
  }))
