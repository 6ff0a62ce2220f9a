import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { expect, onTestFinished, test } from 'vitest'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'tandem-new-file-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a new file holds the content, for its owner alone, and nothing else is left', async () => {
  const dir = folder()
  await writeNewFile(join(dir, 'key'), 'content')
  expect(readFileSync(join(dir, 'key'), 'utf8')).toBe('content')
  expect(statSync(join(dir, 'key')).mode & 0o777).toBe(0o600)
  expect(readdirSync(dir)).toEqual(['key'])
})

test('a file that is there stays as it is', async () => {
  const dir = folder()
  const path = join(dir, 'key')
  writeFileSync(path, 'precious')
  await expect(writeNewFile(path, 'other')).rejects.toMatchObject({ detail: { code: 'FILE_EXISTS', path } })
  expect(readFileSync(path, 'utf8')).toBe('precious')
  expect(readdirSync(dir)).toEqual(['key'])
})

test('of many that write it at once one wins', async () => {
  const dir = folder()
  const writers = Array.from({ length: 8 }, (_, index) => writeNewFile(join(dir, 'key'), `content of ${index}`))
  const results = await Promise.allSettled(writers)
  const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []))
  expect(winners).toHaveLength(1)
  expect(readFileSync(join(dir, 'key'), 'utf8')).toBe(`content of ${winners[0]}`)
  expect(readdirSync(dir)).toEqual(['key'])
})

test('a file that cannot be written is named, and not the one that is written first', async () => {
  const dir = folder()
  writeFileSync(join(dir, 'file'), '')
  const path = join(dir, 'file', 'key')
  await expect(writeNewFile(path, 'x')).rejects.toMatchObject({
    detail: { code: 'FILE_NOT_WRITABLE', path, reason: 'not a directory' },
  })
})

test('a folder that is not there is not made', async () => {
  const path = join(folder(), 'none')
  await expect(writeNewFile(join(path, 'key'), 'x')).rejects.toMatchObject({ detail: { code: 'FOLDER_MISSING', path } })
})
