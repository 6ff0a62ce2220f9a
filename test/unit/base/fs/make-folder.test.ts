import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tandem-make-folder-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test('a folder is made with all that are missing above it, for its owner alone', () => {
  const path = join(root, 'a', 'b', 'c')
  makeFolder(path)
  for (const made of [path, join(root, 'a', 'b'), join(root, 'a')]) expect(statSync(made).mode & 0o777).toBe(0o700)
})

test('a folder that is there stays as it is', () => {
  mkdirSync(join(root, 'a'), { mode: 0o755 })
  makeFolder(join(root, 'a'))
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o755)
})

test('a file in the way is told', () => {
  writeFileSync(join(root, 'file'), '')
  const path = join(root, 'file')
  expect(() => makeFolder(path)).toThrow(expect.objectContaining({ detail: { code: 'NOT_A_FOLDER', path } }))
  expect(() => makeFolder(join(root, 'file', 'below'))).toThrow(/ENOTDIR/)
})

test.runIf(process.platform === 'linux')(
  'a file system that takes no folders is an error, at any depth, and never tried for ever',
  () => {
    for (const path of ['/proc/tandem', '/proc/tandem/below/it'])
      expect(() => makeFolder(path)).toThrow(
        expect.objectContaining({ detail: { code: 'FOLDER_REFUSED', path: '/proc/tandem' } }),
      )
  },
)
