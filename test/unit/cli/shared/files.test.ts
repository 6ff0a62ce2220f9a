import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkStateFile, prepareDataDir } from '../../../../src/cli/shared/files.ts'
import { withTempDir } from '../../../support/devnet.ts'

test('a data folder that is a file is told so', () =>
  withTempDir(async folder => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    expect(() => prepareDataDir(file)).toThrow(`--datadir: ${file} is a file, not a folder. Name another.`)
  }))

test('a state file that is a folder, or cannot be there, is told so', () =>
  withTempDir(async folder => {
    expect(() => checkStateFile(folder)).toThrow(`--state: ${folder} is no file.`)
    const nowhere = join(folder, 'nowhere')
    expect(() => checkStateFile(join(nowhere, 'state.json'))).toThrow(
      `--state: ${nowhere} cannot be used: no such file or directory.`,
    )
    expect(() => checkStateFile(join(folder, 'state.json'))).not.toThrow()
  }))
