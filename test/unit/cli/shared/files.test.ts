import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareDataDir } from '../../../../src/cli/shared/check-paths.ts'
import { withTempDir } from '../../../support/devnet.ts'

test('a data folder that is a file is told so', () =>
  withTempDir(async folder => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await expect(prepareDataDir(file)).rejects.toThrow(`--datadir: ${file} is a file, not a folder. Name another.`)
  }))
