import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkSolcDir, prepareDataDir } from '../../../../src/cli/shared/check-paths.ts'
import { withTempDir } from '../../../support/devnet.ts'

test('a data folder that is a file is told so', () =>
  withTempDir(async folder => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await expect(prepareDataDir(file)).rejects.toThrow(`--datadir: ${file} is a file, not a folder. Name another.`)
  }))

test('a folder of compilers is one that can be read, or none', () =>
  withTempDir(async folder => {
    const file = join(folder, 'file')
    const missing = join(folder, 'missing')
    writeFileSync(file, '')
    await checkSolcDir(undefined)
    await checkSolcDir(folder)
    await expect(checkSolcDir(missing)).rejects.toThrow(
      `--solc-dir: ${missing} cannot be read: no such file or directory.`,
    )
    await expect(checkSolcDir(file)).rejects.toThrow(`--solc-dir: ${file} cannot be read: not a directory.`)
  }))
