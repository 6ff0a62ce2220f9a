import { appendFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import { threadName } from 'node:worker_threads'

/*
 * Loaded into each thread of a node by `--import`: writes a line to THREADS_FILE at an interval, with the memory that the thread's heap
 * accounts for and the processor time it has used.
 */
const SAMPLE_MS = 500
const MEBIBYTE = 2 ** 20
const file = process.env['THREADS_FILE']
const rounded = (value: number): number => Math.round(value)

if (file !== undefined)
  setInterval(() => {
    const { total_heap_size, used_heap_size, external_memory, malloced_memory } = getHeapStatistics()
    const { user, system } = process.threadCpuUsage()
    const sample = {
      at: Date.now(),
      thread: threadName || 'main',
      heap: rounded(total_heap_size / MEBIBYTE),
      used: rounded(used_heap_size / MEBIBYTE),
      external: rounded(external_memory / MEBIBYTE),
      native: rounded(malloced_memory / MEBIBYTE),
      cpu: rounded((user + system) / 1_000),
    }
    appendFileSync(file, `${JSON.stringify(sample)}\n`)
  }, SAMPLE_MS).unref()
