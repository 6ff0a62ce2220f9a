import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a worker keeps to its own limit of the young generation, though that of the main thread is set by a flag', () => {
  const script = fileURLToPath(new URL('nursery-process.ts', import.meta.url))
  const out = execFileSync(process.execPath, ['--max-semi-space-size=8', script], { encoding: 'utf8' })
  const { main, worker } = JSON.parse(out)
  // While V8 collects, halves of old and new size count: 4 to 7 MB with the limit; without it as much as the main thread, 12 to 17 MB.
  expect(worker).toBeLessThan(0.7 * main)
})

test('a thread that starts with its process leaves the growth of the heap to the end of the start', () => {
  const script = fileURLToPath(new URL('growth-process.ts', import.meta.url))
  expect(execFileSync(process.execPath, [script], { encoding: 'utf8' })).toBe('false')
})
