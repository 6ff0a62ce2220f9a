import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

test('a node whose folder cannot be removed ends all the same, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-leave-'))
  const child = spawn(process.execPath, [
    fileURLToPath(new URL('../../processes/stubborn.ts', import.meta.url)),
    folder,
  ])
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  let said = ''
  child.stderr.on('data', chunk => {
    said += String(chunk)
  })
  const [status] = await once(child, 'close')
  expect(said).toContain('tandem: the folder is not empty')
  expect(status).toBe(1)
})

test.each([
  ['KEY_IN_USE', 3, "Another node voted with this validator's key at block 7"],
  ['KEY_IN_USE_ELSEWHERE', 3, 'The validator key of'],
  ['STORE_WRITE_FAILED', 1, 'Free disk space'],
])(
  'a node that fails with %s ends with status %i, from which a service manager knows whether to start it again',
  async (code, status, message) => {
    const program = fileURLToPath(new URL('../../processes/failing.ts', import.meta.url))
    const child = spawn(process.execPath, [program, code])
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stderr.on('data', chunk => {
      said += String(chunk)
    })
    expect([await once(child, 'close'), said]).toEqual([[status, null], expect.stringContaining(message)])
  },
)
