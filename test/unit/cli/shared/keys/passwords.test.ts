import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { passwordsFrom } from '../../../../../src/cli/shared/keys/passwords.ts'
import { nobody, person } from '../../person.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-passwords-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const file = (text: string): string => {
  const path = join(dir, 'passwords')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

test('from a file, one a line; the last line serves all further files', async () => {
  const passwords = passwordsFrom(file('one\r\ntwo\n'), nobody(), 'other')
  expect([await passwords.of('a'), await passwords.of('b', 1), await passwords.of('c', 2)]).toEqual([
    'one',
    'two',
    'two',
  ])
  expect(await passwords.fresh()).toBe('one')
})

test('from the environment, for all files', async () => {
  const passwords = passwordsFrom(undefined, nobody(), 'from outside')
  expect([await passwords.of('a'), await passwords.of('b', 1), await passwords.fresh()]).toEqual(
    Array(3).fill('from outside'),
  )
})

test('with neither and no terminal, the error names the possible sources', async () => {
  const passwords = passwordsFrom(undefined, nobody(), undefined)
  await expect(passwords.of('key.json')).rejects.toThrow(
    /^key.json is encrypted: give its password with --password-file or in TANDEM_PASSWORD, or run this on a terminal/,
  )
  await expect(passwords.fresh()).rejects.toThrow(/^The new key needs a password: give it with --password-file/)
})

test.each([
  ['an empty one', '', /protects nothing/],
  ['one without end', 'x'.repeat(4_097), /at most 4096 bytes/],
])('%s protects no new key', async (_, password, message) => {
  await expect(passwordsFrom(undefined, nobody(), password).fresh()).rejects.toThrow(message)
})

describe('a person', () => {
  test('is asked for the password of a file, and it is not shown', async () => {
    const terminal = person('sésame open')
    expect(await passwordsFrom(undefined, terminal, undefined).of('key.json')).toBe('sésame open')
    expect(terminal.shown()).toBe('Password of key.json: \n')
  })

  test('types a new one twice', async () => {
    const terminal = person('secret', 'secret')
    expect(await passwordsFrom(undefined, terminal, undefined).fresh()).toBe('secret')
    expect(terminal.shown()).toBe('New password: \nThe same again: \n')
  })

  test('may paste the answers to several questions at once', async () => {
    const terminal = person('secret\rsecret')
    expect(await passwordsFrom(undefined, terminal, undefined).fresh()).toBe('secret')
    expect(terminal.shown()).not.toContain('secret')
  })

  test('who types two different ones has not chosen any', async () => {
    await expect(passwordsFrom(undefined, person('one', 'two'), undefined).fresh()).rejects.toThrow(/differ/)
  })

  test.each(['\u0003', '\u0004'])('who ends it with %j is asked no more', async key => {
    const terminal = person(key)
    await expect(passwordsFrom(undefined, terminal, undefined).fresh()).rejects.toThrow(/^Cancelled/)
    expect(terminal.shown()).toBe('New password: \n')
  })
})
