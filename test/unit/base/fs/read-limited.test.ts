import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLimited } from '@tandem/base/fs/read-limited.ts'
import { readPriceConfig } from '@tandem/explorer/price/price-config.ts'
import { readLabels } from '@tandem/explorer/service/label-file.ts'
import { readKeys } from '@tandem/explorer/service/request-limiter.ts'
import { expect, test } from 'vitest'
import { readText } from '../../../../src/cli/shared/files.ts'
import { withTempDir } from '../../../support/devnet.ts'

test('a file is read whole up to the limit, and refused beyond it', () =>
  withTempDir(async dir => {
    const path = join(dir, 'file')
    for (const size of [0, 1, 65_535, 65_536, 65_537, 300_000]) {
      const bytes = Buffer.alloc(size, size % 251)
      writeFileSync(path, bytes)
      expect(readLimited(path, size).equals(bytes)).toBe(true)
      expect(readLimited(path, size + 1).equals(bytes)).toBe(true)
      if (size > 0) expect(() => readLimited(path, size - 1)).toThrow(`more than the ${size - 1} bytes`)
    }
    mkdirSync(join(dir, 'folder'))
    expect(() => readLimited(join(dir, 'folder'), 1)).toThrow('EISDIR')
  }))

test.runIf(process.platform === 'linux')('what has no end is refused, whatever option names it', () => {
  for (const read of [readLabels, readPriceConfig, readKeys, (path: string) => readText(path, '--genesis')])
    expect(() => read('/dev/zero')).toThrow('bytes that are taken')
})
