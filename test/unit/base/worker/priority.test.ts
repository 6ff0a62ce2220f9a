import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const SCRIPT = `
import { getPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from ${JSON.stringify(new URL('../../../../packages/base/worker/priority.ts', import.meta.url).href)}
lowerThreadPriority()
parentPort.postMessage(getPriority(0))
`

test.runIf(process.platform === 'linux')(
  'a thread lowers its own priority; the thread that started it keeps its own',
  async () => {
    const before = getPriority(0)
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`))
    const lowered = await new Promise<number>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    await worker.terminate()
    expect(lowered).toBe(Math.min(19, before + 5))
    expect(getPriority(0)).toBe(before)
  },
)
