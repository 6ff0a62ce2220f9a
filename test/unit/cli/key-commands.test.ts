import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { exportKey, importKey, listKeys, newKey } from '../../../src/cli/key/run.ts'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { decryptKey, encryptKey } from '../../../src/crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import { printed } from './printed.ts'

const CHEAP = { scryptN: 1_024 }
const KEY = new Uint8Array(32).fill(0x42)

let dir: string
let flags: { keystore: string; passwordFile: string; json: boolean }
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-key-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFileSync(join(dir, 'password'), 'correct horse\n', { mode: 0o600 })
  flags = { keystore: join(dir, 'deep', 'keystore'), passwordFile: join(dir, 'password'), json: true }
})
const plainKey = (key = KEY): string => {
  const path = join(dir, 'plain')
  writeFileSync(path, bytesToHex(key), { mode: 0o600 })
  return path
}
const written = async (work: () => Promise<unknown>) =>
  JSON.parse(await printed(work)) as { address: Hex; file: string }

describe('tandem key new', () => {
  test('writes a keystore for its owner alone, named after its address', async () => {
    const { address, file } = await written(() => newKey(flags, CHEAP))
    const keystore = JSON.parse(readFileSync(file, 'utf8'))
    expect(addressFromPrivateKey(await decryptKey(keystore, 'correct horse'))).toBe(address.toLowerCase())
    expect(address).toBe(checksumAddress(address))
    expect(file).toBe(join(flags.keystore, `${address.toLowerCase()}.json`))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(flags.keystore).mode & 0o777).toBe(0o700)
    expect(readdirSync(flags.keystore)).toHaveLength(1)
  })

  test('makes another key each time, and prints none', async () => {
    const text = await printed(() => newKey({ ...flags, json: false }, CHEAP))
    await printed(() => newKey(flags, CHEAP))
    const files = readdirSync(flags.keystore)
    expect(files).toHaveLength(2)
    for (const name of files) {
      const key = await decryptKey(JSON.parse(readFileSync(join(flags.keystore, name), 'utf8')), 'correct horse')
      expect(text).not.toContain(bytesToHex(key).slice(2))
    }
  })
})

describe('tandem key import', () => {
  test('encrypts a plain key', async () => {
    const { address, file } = await written(() => importKey(plainKey(), flags, CHEAP))
    expect(address.toLowerCase()).toBe(addressFromPrivateKey(KEY))
    expect(await decryptKey(JSON.parse(readFileSync(file, 'utf8')), 'correct horse')).toEqual(KEY)
  })

  test('takes a keystore of another program with its password', async () => {
    const other = join(dir, 'UTC--other')
    writeFileSync(other, JSON.stringify(await encryptKey(KEY, 'correct horse', CHEAP)), { mode: 0o600 })
    const { file } = await written(() => importKey(other, flags, CHEAP))
    expect(await decryptKey(JSON.parse(readFileSync(file, 'utf8')), 'correct horse')).toEqual(KEY)
    writeFileSync(other, JSON.stringify(await encryptKey(KEY, 'another', CHEAP)), { mode: 0o600 })
    await expect(importKey(other, flags, CHEAP)).rejects.toMatchObject({ code: 'WRONG_PASSWORD' })
  })

  test('never writes over a key', async () => {
    const { file } = await written(() => importKey(plainKey(), flags, CHEAP))
    const before = readFileSync(file)
    await expect(importKey(plainKey(), flags, CHEAP)).rejects.toMatchObject({
      detail: { code: 'FILE_EXISTS', path: file },
    })
    expect(readFileSync(file)).toEqual(before)
  })
})

describe('tandem key export', () => {
  test('prints no key without --reveal, and names that option', async () => {
    const { file } = await written(() => importKey(plainKey(), flags, CHEAP))
    await expect(exportKey(file, { ...flags, reveal: false })).rejects.toThrow(/Add --reveal/)
  })

  test('prints it by file and by address', async () => {
    const { file, address } = await written(() => importKey(plainKey(), flags, CHEAP))
    for (const name of [file, address, address.toLowerCase()])
      expect(await printed(() => exportKey(name, { ...flags, reveal: true }))).toBe(`${bytesToHex(KEY)}\n`)
  })
})

describe('tandem key list', () => {
  test('tells whose key each file is, and which is none', async () => {
    const { file, address } = await written(() => importKey(plainKey(), flags, CHEAP))
    writeFileSync(join(flags.keystore, 'notes.txt'), 'hello', { mode: 0o600 })
    mkdirSync(join(flags.keystore, 'folder'))
    const listed = JSON.parse(await printed(() => listKeys(flags)))
    expect(listed).toEqual([
      { file, address },
      { file: join(flags.keystore, 'notes.txt'), problem: expect.stringMatching(/neither a keystore/) },
    ])
    const text = await printed(() => listKeys({ ...flags, json: false }))
    expect(text.split('\n')[0]).toBe(`${address}  ${file}`)
  })

  test('of a folder that is not there is empty, and says what to do', async () => {
    expect(await printed(() => listKeys({ ...flags, json: false }), 'stderr')).toMatch(/holds no keys.*tandem key new/)
  })
})
