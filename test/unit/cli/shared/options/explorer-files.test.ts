import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPriceConfig } from '@tandem/explorer/price/price-config.ts'
import { readLabels } from '@tandem/explorer/service/label-file.ts'
import { afterAll, expect, test } from 'vitest'
import { checkExplorerFiles } from '../../../../../src/cli/shared/options/explorer-files.ts'
import { errorMessage } from '../../../../../src/cli/shared/output.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-explorer-files-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const file = join(dir, 'text')
writeFileSync(file, 'two\nlines')

test('files of an explorer that does not run are refused', () => {
  expect(() => checkExplorerFiles({ explorer: false }, '--explorer')).not.toThrow()
  expect(() => checkExplorerFiles({ explorer: false, explorerLabels: file }, '--explorer')).toThrow(
    /^--explorer-labels needs --explorer\.$/,
  )
  expect(() => checkExplorerFiles({ explorer: false, solcDir: dir }, '--explorer')).toThrow(/^--solc-dir needs /)
})

test('what cannot be read is told with its option', () => {
  const check = (files: object) => () => checkExplorerFiles({ explorer: true, ...files }, '--explorer')
  expect(check({ explorerKeys: file, explorerLabels: file, explorerPrice: file, solcDir: dir })).not.toThrow()
  const absent = join(dir, 'absent')
  expect(check({ explorerKeys: absent })).toThrow(
    `--explorer-keys: ${absent} cannot be read: no such file or directory.`,
  )
  expect(check({ explorerPrice: dir })).toThrow(`--explorer-price: ${dir} is a folder: name the file in it.`)
  expect(check({ solcDir: file })).toThrow(`--solc-dir: ${file} is a file, not a folder.`)
})

test.each([
  ['--explorer-labels', readLabels],
  ['--explorer-price', readPriceConfig],
] as const)('%s: a file that is no JSON is told in one line', (option, read) => {
  let said = ''
  try {
    read(file)
  } catch (error) {
    said = errorMessage(error)
  }
  expect(said).toMatch(new RegExp(`^${option}: ${file}: Unexpected token .* is not valid JSON\\.$`))
})
