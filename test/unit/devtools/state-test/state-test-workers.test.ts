import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { FileReport } from '../../../../devtools/state-test/worker.ts'
import { runStateTestFiles, type StateTestPoolOptions } from '../../../../devtools/state-test/worker-pool.ts'

const options: StateTestPoolOptions = {
  mode: 'wasm',
  forks: undefined,
  jobs: 2,
  workerUrl: new URL('../../evm/processes/moody-worker.ts', import.meta.url),
}

const runAll = async (files: readonly string[], jobs = 2): Promise<readonly FileReport[]> => {
  const reports: FileReport[] = []
  for await (const report of runStateTestFiles(files, { ...options, jobs })) reports.push(report)
  return reports
}
const threadsOf = (reports: readonly FileReport[]): Set<string | undefined> =>
  new Set(reports.map(({ lines }) => / by (\d+)\n/.exec(lines)?.[1]))

test('reports come in the order of the files, from as many threads as asked for', async () => {
  const files = ['slow1', ...Array.from({ length: 60 }, (_, i) => `file${i}`), 'slow2']
  const reports = await runAll(files)
  expect(reports.map(({ file }) => file)).toEqual(files)
  expect(threadsOf(reports).size).toBe(2)
  expect(threadsOf(await runAll(files, 1)).size).toBe(1)
  expect(await runAll([])).toEqual([])
})

test('a thread that ends over a file is the problem of that file alone', async () => {
  const reports = await runAll(['a', 'leave', 'b', 'throw', 'c', 'slow'])
  expect(reports.map(({ file, problem }) => [file, problem])).toEqual([
    ['a', undefined],
    ['leave', 'its thread ended'],
    ['b', undefined],
    ['throw', 'out of something'],
    ['c', undefined],
    ['slow', undefined],
  ])
})

test('a reader that stops early leaves no thread behind, in any state of the worker', async () => {
  const channel = new BroadcastChannel('hanging')
  onTestFinished(() => channel.close())
  let signs = 0
  const seen = new Promise<void>(resolve => {
    channel.onmessage = () => {
      signs++
      resolve()
    }
  })
  for await (const { file } of runStateTestFiles(['a', 'hang', 'hang', 'b'], options)) {
    expect(file).toBe('a')
    await seen
    break
  }
  // Messages sent before the threads ended may still arrive.
  await setTimeout(20)
  signs = 0
  await setTimeout(60)
  expect(signs).toBe(0)
})
