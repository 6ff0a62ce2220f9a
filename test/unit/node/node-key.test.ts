import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadNodeKey } from '../../../src/node/node-key.ts'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'tandem-node-key-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('made at first need, for its owner alone, and the same ever after', async () => {
  const dir = folder()
  const key = await loadNodeKey(dir)
  expect(key).toHaveLength(32)
  expect(statSync(join(dir, 'node-key')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(dir, 'node-key'), 'utf8')).toBe(`${Buffer.from(key).toString('hex')}\n`)
  expect(await loadNodeKey(dir)).toEqual(key)
  expect(await loadNodeKey(folder())).not.toEqual(key)
})

test('all who need it at once get one key', async () => {
  const dir = folder()
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadNodeKey(dir)))
  expect(new Set(keys.map(key => Buffer.from(key).toString('hex'))).size).toBe(1)
})

test.each(['', 'hello', 'ab'.repeat(31), 'ab'.repeat(33)])(
  'a file with %j is refused by its name, not replaced',
  async text => {
    const dir = folder()
    const path = join(dir, 'node-key')
    writeFileSync(path, text)
    await expect(loadNodeKey(dir)).rejects.toMatchObject({ detail: { code: 'NODE_KEY_INVALID', path } })
    expect(readFileSync(path, 'utf8')).toBe(text)
  },
)
