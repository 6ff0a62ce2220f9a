import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { type NewFileError, writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { KEY_LIMITS } from '../../config/limits/keys.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { type EncryptOptions, encryptKey } from '../../crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import { passwordsFrom } from '../shared/keys/passwords.ts'
import { addressOfKeyFile, randomKey, readKey } from '../shared/keys/read-key.ts'
import { errorMessage, printWarning } from '../shared/output.ts'

/* Folder of keystore files (docs/keys.md), mode 0700: a file of mode 0600 per key, named after its address, so none replaces another. */

/** Parsed options of every command on keys. */
export interface KeystoreFlags {
  readonly keystore: string
  readonly json: boolean
}

/** Parsed options of `tandem key new` and `tandem key import`. */
export interface PasswordFlags extends KeystoreFlags {
  readonly passwordFile?: string
}

/** Parsed options of `tandem key export`. */
export interface ExportFlags {
  readonly passwordFile?: string
  readonly keystore: string
  readonly reveal: boolean
}

/** Runs `tandem key new`. Tests use cheaper encryption. */
export const newKey = async (flags: PasswordFlags, encryption?: EncryptOptions): Promise<void> => {
  const password = await passwordsFrom(flags.passwordFile).fresh()
  await keep(randomKey(), password, flags, encryption)
}

/** Runs `tandem key import`. A keystore keeps its password; a plain key gets a new one. */
export const importKey = async (source: string, flags: PasswordFlags, encryption?: EncryptOptions): Promise<void> => {
  const passwords = passwordsFrom(flags.passwordFile)
  let password: string | undefined
  const { privateKey } = await readKey(source === '-' ? 0 : source, 'key import', async name => {
    password = await passwords.of(name)
    return password
  })
  const path = keyPath(flags.keystore, addressFromPrivateKey(privateKey))
  // Checked before a password is asked for.
  if (existsSync(path)) throw new CodedError<NewFileError>({ code: 'FILE_EXISTS', path })
  await keep(privateKey, password ?? (await passwords.fresh()), flags, encryption)
}

/** Encrypts a key into a new file of the folder and prints its address. Throws FILE_EXISTS. */
const keep = async (
  privateKey: Uint8Array,
  password: string,
  { keystore, json }: PasswordFlags,
  encryption: EncryptOptions | undefined,
): Promise<void> => {
  try {
    const address = checksumAddress(addressFromPrivateKey(privateKey))
    const file = keyPath(keystore, addressFromPrivateKey(privateKey))
    makeFolder(keystore)
    await writeNewFile(file, `${JSON.stringify(await encryptKey(privateKey, password, encryption), null, 2)}\n`)
    process.stdout.write(
      json
        ? `${JSON.stringify({ address, file })}\n`
        : `Address  ${address}\nFile     ${file}\n\nKeep a copy of the file and the password, apart from each other: without both the key is lost.\n`,
    )
  } finally {
    privateKey.fill(0)
  }
}

/** Runs `tandem key export`: prints the private key, after confirmation. */
export const exportKey = async (name: string, flags: ExportFlags): Promise<void> => {
  const file = /^0x[0-9a-f]{40}$/i.test(name) ? keyPath(flags.keystore, name.toLowerCase() as Hex) : name
  if (!flags.reveal) {
    throw new Error(
      `This would print the private key in ${file}. Add --reveal if that is what you want; for a copy, copy the file: other programs (geth, cast) read it as it is.`,
    )
  }
  const passwords = passwordsFrom(flags.passwordFile)
  const { privateKey } = await readKey(file, 'key export', path => passwords.of(path))
  process.stdout.write(`0x${asBuffer(privateKey).toString('hex')}\n`)
  privateKey.fill(0)
}

interface ListedKey {
  readonly file: string
  readonly address?: Hex
  /** Reason why it is not a key. */
  readonly problem?: string
}

/** Runs `tandem key list`: prints a line per file, without asking for passwords. */
export const listKeys = async ({ keystore, json }: KeystoreFlags): Promise<void> => {
  const { files, more } = await keyFiles(keystore)
  const keys = files.map(name => look(join(resolve(keystore), name)))
  if (json) process.stdout.write(`${JSON.stringify(keys)}\n`)
  else for (const key of keys) process.stdout.write(lineOf(key))
  if (keys.length === 0) process.stderr.write(`${resolve(keystore)} holds no keys. Make one with "tandem key new".\n`)
  if (more) printWarning(`${resolve(keystore)} holds more files than the ${keys.length} shown.`)
}

/** Returns the names of files that may be keys, sorted; at most KEY_LIMITS.files, and `more` when there are others. */
const keyFiles = async (folder: string): Promise<{ readonly files: readonly string[]; readonly more: boolean }> => {
  const names = (await readdir(folder, { withFileTypes: true }).catch(ifMissing([])))
    .filter(entry => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(entry => entry.name)
    .sort()
  return { files: names.slice(0, KEY_LIMITS.files), more: names.length > KEY_LIMITS.files }
}

const look = (file: string): ListedKey => {
  try {
    return { file, address: checksumAddress(addressOfKeyFile(file, 'key list')) }
  } catch (error) {
    return { file, problem: errorMessage(error) }
  }
}

const lineOf = ({ file, address, problem }: ListedKey): string =>
  address === undefined ? `${'-'.padEnd(42)}  ${file}  (${problem})\n` : `${address}  ${file}\n`

/** Returns the path for the key of an address. */
const keyPath = (folder: string, address: Hex): string => join(resolve(folder), `${address}.json`)
