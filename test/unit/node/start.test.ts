import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, onTestFinished, test } from 'vitest'
import { openChain } from '../../../src/node/parts/open-chain.ts'
import { testGenesis } from '../../support/chain.ts'

const temporary = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-start-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

interface Report {
  readonly workers: readonly unknown[]
}
const workersNow = (): number => (process.report.getReport() as unknown as Report).workers.length

test('a folder that cannot be opened leaves no thread behind', async () => {
  const dir = temporary()
  mkdirSync(join(dir, 'db'))
  // LevelDB names its manifest in this file.
  writeFileSync(join(dir, 'db', 'CURRENT'), 'nonsense\n')
  const before = workersNow()
  const options = { genesis: testGenesis(), storePath: join(dir, 'db'), stateHistory: 128, logger: silentLogger }
  await expect(openChain({ ...options, onFailure: () => {} })).rejects.toMatchObject({ code: 'STORE_OPEN_FAILED' })
  // Threads that were started before the failure end by themselves, after a moment.
  await expect.poll(workersNow).toBe(before)
})
