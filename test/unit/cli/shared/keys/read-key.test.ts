import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { passwordsFrom } from '../../../../../src/cli/shared/keys/passwords.ts'
import { addressOfKeyFile, readKey } from '../../../../../src/cli/shared/keys/read-key.ts'
import { errorMessage } from '../../../../../src/cli/shared/output.ts'
import { KEY_LIMITS } from '../../../../../src/config/limits/keys.ts'
import { encryptKey } from '../../../../../src/crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../../../../src/crypto/signature.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-keys-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  const path = join(dir, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const KEY = new Uint8Array(32).fill(7)
const says = (password: string) => async () => password
const neverAsked = async (): Promise<string> => {
  throw new Error('asked for a password')
}

test('a bare key of 64 hex digits, with and without 0x, needs no password', async () => {
  for (const prefix of ['', '0x']) {
    const opened = await readKey(file('bare', `${prefix}${'07'.repeat(32)}\n`), '--unlock', neverAsked)
    expect(opened).toEqual({ privateKey: KEY, encrypted: false })
  }
})

test('a keystore opens with its password only, which is asked for by its name', async () => {
  const path = file('keystore.json', JSON.stringify(await encryptKey(KEY, 'right', { scryptN: 1024 })))
  const asked: string[] = []
  const opened = await readKey(path, '--unlock', async name => {
    asked.push(name)
    return 'right'
  })
  expect(opened).toEqual({ privateKey: KEY, encrypted: true })
  expect(asked).toEqual([path])
  const refusal = await readKey(path, '--unlock', says('wrong')).catch(errorMessage)
  expect(refusal).toBe(
    `The password does not open ${path}. Check --password-file or TANDEM_PASSWORD, or leave both out for a prompt.`,
  )
})

test('the address of a key file is read without its password', async () => {
  const keystore = await encryptKey(KEY, 'right', { scryptN: 1024 })
  expect(addressOfKeyFile(file('whose.json', JSON.stringify(keystore)), '--validator')).toBe(addressFromPrivateKey(KEY))
  expect(addressOfKeyFile(file('whose', '07'.repeat(32)), '--validator')).toBe(addressFromPrivateKey(KEY))
  const { address: _, ...nameless } = keystore
  const path = file('nameless.json', JSON.stringify(nameless))
  expect(() => addressOfKeyFile(path, '--validator')).toThrow(/^--validator: .* give the address instead of the file/)
})

test('a keystore that cannot be used is named, of several, with what to give instead', async () => {
  const path = file('old.json', '{"version":1}')
  const expected = `${path} is no usable keystore: version 1 is not 3. Give a keystore of version 3 ("tandem key new" writes one), or a file of 64 hex digits.`
  expect(await readKey(path, '--unlock', says('right')).catch(errorMessage)).toBe(expected)
  const address = file('address.json', '{"version":3,"address":"me"}')
  expect(() => addressOfKeyFile(address, '--validator')).toThrow(`"file":"${address}"`)
})

test('an invalid key is refused with the name of its option', async () => {
  await expect(readKey(file('junk', 'hello'), '--unlock', neverAsked)).rejects.toThrow(
    /^--unlock: \S+junk is neither a keystore \(JSON\) nor a key/,
  )
  const half = JSON.stringify(await encryptKey(KEY, 'right', { scryptN: 1024 })).slice(0, 200)
  await expect(readKey(file('half', half), '--unlock', neverAsked)).rejects.toThrow(/neither a keystore/)
  await expect(readKey(join(dir, 'absent'), '--unlock', neverAsked)).rejects.toThrow(/^--unlock: /)
  await expect(readKey(dir, '--unlock', neverAsked)).rejects.toThrow(
    `--unlock: ${dir} is a folder: name the file in it.`,
  )
  await expect(readKey(file('zero', '00'.repeat(32)), '--unlock', neverAsked)).rejects.toThrow(/are no private key/)
  const large = file('large', ' '.repeat(KEY_LIMITS.fileBytes + 1))
  await expect(readKey(large, '--unlock', neverAsked)).rejects.toThrow(/more than the 65536 bytes that are taken/)
})

test('a key or password that every user can read is warned of, one that a group can is not', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const key = file('open.key', '07'.repeat(32))
  const password = file('open.password', 'one')
  for (const path of [key, password]) chmodSync(path, 0o640)
  await readKey(key, '--unlock', neverAsked)
  passwordsFrom(password)
  expect(written).not.toHaveBeenCalled()
  for (const path of [key, password]) chmodSync(path, 0o644)
  expect((await readKey(key, '--unlock', neverAsked)).privateKey).toEqual(KEY)
  expect(await passwordsFrom(password).of(key)).toBe('one')
  expect(written.mock.calls.map(([text]) => text)).toEqual([
    `tandem: warning: --unlock: every user of this machine can read ${key}. Run: chmod o-r ${key}\n`,
    `tandem: warning: --password-file: every user of this machine can read ${password}. Run: chmod o-r ${password}\n`,
  ])
  written.mockRestore()
})
