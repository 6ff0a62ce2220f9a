import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { readKey, readPasswords } from '../../../src/cli/keys.ts'
import { encryptKey } from '../../../src/crypto/keystore.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-keys-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}
const KEY = new Uint8Array(32).fill(7)

test('a bare key of 64 hex digits, with and without 0x', async () => {
  for (const prefix of ['', '0x']) {
    expect(await readKey(file('bare', `${prefix}${'07'.repeat(32)}\n`), '--unlock', undefined)).toEqual(KEY)
  }
})

test('a keystore opens with its password only', async () => {
  const path = file('keystore.json', JSON.stringify(await encryptKey(KEY, 'right', { scryptN: 1024 })))
  expect(new Uint8Array(await readKey(path, '--unlock', 'right'))).toEqual(KEY)
  await expect(readKey(path, '--unlock', 'wrong')).rejects.toMatchObject({ code: 'WRONG_PASSWORD' })
  await expect(readKey(path, '--unlock', undefined)).rejects.toThrow(/--password-file or in TANDEM_PASSWORD/)
})

test('what is no key says so, and which option named it', async () => {
  await expect(readKey(file('junk', 'hello'), '--unlock', 'x')).rejects.toThrow(/neither a keystore \(JSON\) nor a key/)
  await expect(readKey(join(dir, 'absent'), '--unlock', 'x')).rejects.toThrow(/^--unlock: /)
})

test('one password a line; the last line serves all further files', () => {
  const passwords = readPasswords(file('passwords', 'one\r\ntwo\n'))
  expect([0, 1, 2].map(passwords)).toEqual(['one', 'two', 'two'])
})

test('a key or password that every user can read is warned of, one that a group can is not', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const key = file('open.key', '07'.repeat(32))
  const password = file('open.password', 'one')
  for (const path of [key, password]) chmodSync(path, 0o640)
  await readKey(key, '--unlock', undefined)
  readPasswords(password)
  expect(written).not.toHaveBeenCalled()
  for (const path of [key, password]) chmodSync(path, 0o644)
  expect(await readKey(key, '--unlock', undefined)).toEqual(KEY)
  expect(readPasswords(password)(0)).toBe('one')
  expect(written.mock.calls.map(([text]) => text)).toEqual([
    `tandem: warning: --unlock: every user of this machine can read ${key}. Run: chmod o-r ${key}\n`,
    `tandem: warning: --password-file: every user of this machine can read ${password}. Run: chmod o-r ${password}\n`,
  ])
  written.mockRestore()
})
