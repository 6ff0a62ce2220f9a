import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeTempFolder, removeDeadFolders } from '../../../src/devnet/temp-folder.ts'
import { Store } from '../../../src/storage/store.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tandem-sweep-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Of a process that is over. */
const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid
const HOUR_MS = 3_600_000

const folder = (name: string, ageMs = HOUR_MS): string => {
  const path = join(root, name)
  mkdirSync(path)
  writeFileSync(join(path, 'consensus.log'), 'x')
  const at = (Date.now() - ageMs) / 1_000
  utimesSync(path, at, at)
  return path
}
const age = (path: string): void => utimesSync(path, 1, 1)

test('what a dead chain left goes, with everything in it', async () => {
  const name = `tandem-devnet-${deadPid()}-abc123`
  const path = folder(name)
  const store = await Store.open(join(path, 'db'))
  await store.close()
  age(path)
  expect(await removeDeadFolders(root)).toEqual([name])
  expect(existsSync(path)).toBe(false)
})

test('a living process, another name, a file, a link and a young folder stay', async () => {
  const pid = deadPid()
  const own = makeTempFolder('devnet', root)
  age(own)
  const elsewhere = folder('precious')
  const kept = [
    own,
    elsewhere,
    folder(`tandem-devnet-${pid}-young1`, 1_000),
    folder('tandem-devnet-abcdef'),
    folder(`tandem-devnet-${pid}-abc123-more`),
    folder(`tandem-devnet-${pid}`),
  ]
  const link = join(root, `tandem-devnet-${pid}-linked`)
  symlinkSync(elsewhere, link)
  const plain = join(root, `tandem-devnet-${pid}-afile1`)
  writeFileSync(plain, '')
  age(plain)
  expect(await removeDeadFolders(root)).toEqual([])
  for (const path of [...kept, link, plain]) expect(existsSync(path), path).toBe(true)
})

test.each([
  ['devnet', '.'],
  ['localnet', 'validator-2'],
])('a store that is open stays, whatever its process id says: %s', async (command, node) => {
  const path = folder(`tandem-${command}-${deadPid()}-locked`)
  mkdirSync(join(path, node), { recursive: true })
  const store = await Store.open(join(path, node, 'db'))
  age(path)
  // A handle of this process is no lock against this process; another one is asked.
  const script = `import(${JSON.stringify(new URL('../../../src/devnet/temp-folder.ts', import.meta.url).href)}).then(async m => console.log(JSON.stringify(await m.removeDeadFolders(${JSON.stringify(root)}))))`
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  expect([stdout.trim(), stderr]).toEqual(['[]', ''])
  await store.close()
  age(path)
  expect(await removeDeadFolders(root)).toHaveLength(1)
})

test('only so many at once', async () => {
  const pid = deadPid()
  for (let i = 0; i < 20; i++) folder(`tandem-devnet-${pid}-many${String(i).padStart(2, '0')}`)
  expect(await removeDeadFolders(root)).toHaveLength(16)
  expect(await removeDeadFolders(root)).toHaveLength(4)
})
