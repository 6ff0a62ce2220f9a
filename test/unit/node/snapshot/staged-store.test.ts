import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  dropStaged,
  markStaged,
  stagedPathOf,
  storePathOf,
  takeStaged,
} from '../../../../src/node/snapshot/staged-store.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-staged-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const put = (path: string, content: string): void => {
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'row'), content)
}
const content = (path: string): string => readFileSync(join(path, 'row'), 'utf8')

test('without a mark nothing is taken', async () => {
  put(storePathOf(dir), 'own')
  put(stagedPathOf(dir), 'half')
  expect(await takeStaged(dir)).toBe(false)
  expect([content(storePathOf(dir)), content(stagedPathOf(dir))]).toEqual(['own', 'half'])
  await dropStaged(dir)
  expect(existsSync(stagedPathOf(dir))).toBe(false)
})

/** Folder contents after a crash at each step of the exchange. */
const LEFT: Readonly<Record<string, (replaced: string) => void>> = {
  'the mark alone': () => {
    put(storePathOf(dir), 'own')
    put(stagedPathOf(dir), 'staged')
  },
  'an older exchange that was not cleaned up': replaced => {
    put(storePathOf(dir), 'own')
    put(stagedPathOf(dir), 'staged')
    put(replaced, 'older')
  },
  'the own store moved away': replaced => {
    put(replaced, 'own')
    put(stagedPathOf(dir), 'staged')
  },
  'the staged one in its place': replaced => {
    put(replaced, 'own')
    put(storePathOf(dir), 'staged')
  },
  'all but the mark removed': () => put(storePathOf(dir), 'staged'),
}

for (const [what, leave] of Object.entries(LEFT)) {
  test(`the exchange is finished after: ${what}`, async () => {
    const replaced = join(dir, 'db-replaced')
    leave(replaced)
    await markStaged(dir)
    await markStaged(dir)
    expect(await takeStaged(dir)).toBe(true)
    expect(content(storePathOf(dir))).toBe('staged')
    expect([stagedPathOf(dir), replaced].map(existsSync)).toEqual([false, false])
    expect(await takeStaged(dir)).toBe(false)
  })
}
