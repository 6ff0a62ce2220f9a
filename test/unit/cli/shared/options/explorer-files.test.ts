import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { afterAll, expect, test } from 'vitest'
import { checkExplorerFiles } from '../../../../../src/cli/shared/options/explorer-files.ts'
import { errorMessage } from '../../../../../src/cli/shared/output.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-explorer-files-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const file = join(dir, 'text')
writeFileSync(file, 'two\nlines')

const messageOf = (check: Promise<void>): Promise<string> => check.then(() => '', errorMessage)
const check = (files: object) => messageOf(checkExplorerFiles({ explorer: true, ...files }, '--explorer'))

test('files of an explorer that does not run are refused', async () => {
  const refuse = (files: object) => messageOf(checkExplorerFiles({ explorer: false, ...files }, '--explorer'))
  expect(await refuse({})).toBe('')
  expect(await refuse({ explorerLabels: file })).toBe('--explorer-labels needs --explorer.')
  expect(await refuse({ solcDir: dir })).toMatch(/^--solc-dir needs /)
})

test('what cannot be read is told with its option', async () => {
  const absent = join(dir, 'absent')
  expect(await check({ explorerKeys: absent })).toBe(
    `--explorer-keys: ${absent} cannot be read: no such file or directory.`,
  )
  expect(await check({ explorerPrice: dir })).toBe(`--explorer-price: ${dir} is a folder: name the file in it.`)
  expect(await check({ solcDir: file })).toBe(`--solc-dir: ${file} is a file, not a folder.`)
})

test('what the explorer can use passes', async () => {
  const labels = join(dir, 'labels.json')
  writeFileSync(labels, JSON.stringify({ [`0x${'11'.repeat(20)}`]: 'Bridge' }))
  const price = join(dir, 'price.json')
  writeFileSync(price, '{"exchanges":[{"name":"one","url":"https://one.example","path":"last"}]}')
  const compilers = mkdtempSync(join(dir, 'compilers-'))
  writeFileSync(join(compilers, 'list.json'), '{"builds":[{"path":"soljson.js","sha256":"0x00"}]}')
  const files = { explorerKeys: file, explorerLabels: labels, explorerPrice: price, solcDir: compilers }
  expect(await check(files)).toBe('')
})

test.each([
  ['--explorer-labels', 'explorerLabels'],
  ['--explorer-price', 'explorerPrice'],
])('%s: a file that the explorer could not use is told in one line', async (option, name) => {
  expect(await check({ [name]: file })).toMatch(
    new RegExp(`^${option}: ${file}: Unexpected token .* is not valid JSON\\. Correct it \\(docs/explorer.*\\)`),
  )
})

test('a list of compilers or of keys that the explorer could not use is told with its file', async () => {
  const compilers = mkdtempSync(join(dir, 'bad-'))
  writeFileSync(join(compilers, 'list.json'), '{"builds":[{}]}')
  expect(await check({ solcDir: compilers })).toBe(
    `--solc-dir: ${join(compilers, 'list.json')} is no list of compilers. Take the one published with the builds, or remove it.`,
  )
  const keys = join(dir, 'keys')
  writeFileSync(keys, Buffer.alloc(EXPLORER_LIMITS.listBytes + 1))
  expect(await check({ explorerKeys: keys })).toBe(
    `--explorer-keys: ${keys} has more than the ${EXPLORER_LIMITS.listBytes} bytes that are taken.`,
  )
})
