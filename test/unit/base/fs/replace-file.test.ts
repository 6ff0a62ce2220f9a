import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '@tandem/base/fs/replace-file.ts'
import { expect, test } from 'vitest'
import { withTempDir } from '../../../support/devnet.ts'

test('the new content stands in place of the old, private, and nothing else is left', async () => {
  await withTempDir(async dir => {
    const path = join(dir, 'file')
    await replaceFile(path, 'first, and longer')
    await replaceFile(path, Uint8Array.of(115, 101, 99))
    expect(readFileSync(path, 'utf8')).toBe('sec')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual(['file'])
  })
})
