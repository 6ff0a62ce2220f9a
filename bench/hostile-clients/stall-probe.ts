import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into a node by `--import`: writes a line to STALLS_FILE for each turn of the main thread that came late, with the CPU time the
 * thread itself used meanwhile, and the time it waited for a processor (Linux).
 */
const TICK_MS = 10
const LATE_MS = 50

const file = process.env['STALLS_FILE']
/** Milliseconds this thread has waited for a processor since it began. */
const queuedMs = (): number => {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

if (isMainThread && file !== undefined) {
  let lastMs = performance.now()
  let lastCpu = process.threadCpuUsage()
  let lastQueued = queuedMs()
  setInterval(() => {
    const nowMs = performance.now()
    const cpu = process.threadCpuUsage()
    const queuedNow = queuedMs()
    const late = nowMs - lastMs - TICK_MS
    if (late > LATE_MS) {
      const used = (cpu.user + cpu.system - lastCpu.user - lastCpu.system) / 1_000
      appendFileSync(file, `${JSON.stringify({ at: Date.now(), late, cpu: used, queued: queuedNow - lastQueued })}\n`)
    }
    lastMs = performance.now()
    lastCpu = cpu
    lastQueued = queuedNow
  }, TICK_MS).unref()
}
