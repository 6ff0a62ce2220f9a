import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into a node by `--import`: writes a line to STALLS_FILE for each turn of the main thread that came late, with the CPU time the
 * thread itself used meanwhile. What is late without having worked waited for a processor.
 */
const TICK_MS = 10
const LATE_MS = 50

const file = process.env['STALLS_FILE']
if (isMainThread && file !== undefined) {
  let lastMs = performance.now()
  let lastCpu = process.threadCpuUsage()
  setInterval(() => {
    const nowMs = performance.now()
    const cpu = process.threadCpuUsage()
    const late = nowMs - lastMs - TICK_MS
    if (late > LATE_MS) {
      const used = (cpu.user + cpu.system - lastCpu.user - lastCpu.system) / 1_000
      appendFileSync(file, `${JSON.stringify({ at: Date.now(), late, cpu: used })}\n`)
    }
    lastMs = performance.now()
    lastCpu = cpu
  }, TICK_MS).unref()
}
