import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateFile } from '@tandem/base/fs/private-file.ts'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const CONTENT = Buffer.from('an addon')
const OWN = `tandem-${process.getuid?.()}`
let beside: string
let temporary: string

beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  beside = join(root, 'beside')
  temporary = join(root, 'temporary')
  for (const folder of [beside, temporary]) mkdirSync(folder)
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(root, { recursive: true })
  })
})

test('a file beside the program is used when it has the content', () => {
  writeFileSync(join(beside, 'a.node'), CONTENT)
  expect(privateFile('a.node', CONTENT, beside)).toBe(join(beside, 'a.node'))
  writeFileSync(join(beside, 'a.node'), 'another')
  expect(privateFile('a.node', CONTENT, beside)).toBe(join(temporary, OWN, 'a.node'))
})

test('a file in a folder to which everybody adds is not used: its owner may change it after it was compared', () => {
  chmodSync(beside, 0o1777)
  writeFileSync(join(beside, 'a.node'), CONTENT)
  const path = privateFile('a.node', CONTENT, beside)
  expect(path).toBe(join(temporary, OWN, 'a.node'))
  expect(readFileSync(path)).toEqual(CONTENT)
  expect([statSync(path).mode & 0o777, statSync(join(temporary, OWN)).mode & 0o777]).toEqual([0o600, 0o700])
})

test('a folder that others may write to, or a link, is refused', () => {
  const own = join(temporary, OWN)
  mkdirSync(own)
  chmodSync(own, 0o770)
  expect(() => privateFile('a.node', CONTENT, beside)).toThrow('set TMPDIR to another folder')
  rmSync(own, { recursive: true })
  chmodSync(beside, 0o700)
  symlinkSync(beside, own)
  expect(() => privateFile('a.node', CONTENT, beside)).toThrow('set TMPDIR to another folder')
  expect(readdirSync(beside)).toEqual([])
})

test('a file that another container writes under the same process id is left to it, and a wrong one is replaced', () => {
  const own = join(temporary, OWN)
  mkdirSync(own, { mode: 0o700 })
  writeFileSync(join(own, `a.node.${process.pid}`), 'half of')
  writeFileSync(join(own, 'a.node'), 'wrong')
  expect(readFileSync(privateFile('a.node', CONTENT, beside))).toEqual(CONTENT)
  expect(readFileSync(join(own, `a.node.${process.pid}`), 'utf8')).toBe('half of')
})

test('a file that cannot be written says where, and leaves nothing', () => {
  const own = join(temporary, OWN)
  mkdirSync(join(own, 'a.node', 'x'), { recursive: true, mode: 0o700 })
  expect(() => privateFile('a.node', CONTENT, beside)).toThrow(`${join(own, 'a.node')} cannot be written`)
  expect(readdirSync(own)).toEqual(['a.node'])
})
