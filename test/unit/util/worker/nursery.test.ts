import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MIB = 2 ** 20

test('a worker keeps to its own limit of the young generation, though that of the main thread is set by a flag', () => {
  const script = fileURLToPath(new URL('nursery-process.ts', import.meta.url))
  const out = execFileSync(process.execPath, ['--max-semi-space-size=8', script], { encoding: 'utf8' })
  const { main, worker } = JSON.parse(out)
  expect(main).toBeGreaterThan(4 * MIB)
  expect(worker).toBeLessThanOrEqual(4 * MIB)
})
