import { randomFillSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { CodedError } from '@tandem/base/errors.ts'
import type { NewFileError } from '@tandem/base/fs/write-new-file.ts'
import type { EncryptOptions } from '../../crypto/keys/keystore.ts'
import { addressFromPrivateKey, isScalar } from '../../crypto/signature.ts'
import { passwordsFrom } from '../shared/keys/passwords.ts'
import { readKey } from '../shared/keys/read-key.ts'
import type { PasswordFlags } from './flags.ts'
import { keyPath, writeKey } from './keystore-folder.ts'

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

const keep = async (
  privateKey: Uint8Array,
  password: string,
  flags: PasswordFlags,
  encryption: EncryptOptions | undefined,
): Promise<void> => {
  try {
    const { address, file } = await writeKey(flags.keystore, privateKey, password, encryption)
    process.stdout.write(
      flags.json
        ? `${JSON.stringify({ address, file })}\n`
        : `Address  ${address}\nFile     ${file}\n\nKeep a copy of the file and the password, apart from each other: without both the key is lost.\n`,
    )
  } finally {
    privateKey.fill(0)
  }
}

const randomKey = (): Uint8Array => {
  const key = new Uint8Array(32)
  do randomFillSync(key)
  while (!isScalar(key))
  return key
}
