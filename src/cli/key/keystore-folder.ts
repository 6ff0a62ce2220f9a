import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { KEY_LIMITS } from '../../config/limits/keys.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { type EncryptOptions, encryptKey, type Keystore } from '../../crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'

/* Folder of keystore files (docs/keys.md), mode 0700: a file of mode 0600 per key, named after its address, so none replaces another. */

/** Returns the path for the key of an address. */
export const keyPath = (folder: string, address: Hex): string => join(resolve(folder), `${address}.json`)

interface WrittenKey {
  /** With the checksum of EIP-55. */
  readonly address: Hex
  readonly file: string
}

/** Encrypts a key into a new file of the folder; it is on disk when this resolves. Throws FILE_EXISTS. */
export const writeKey = async (
  folder: string,
  privateKey: Uint8Array,
  password: string,
  options?: EncryptOptions,
): Promise<WrittenKey> => {
  const address = addressFromPrivateKey(privateKey)
  const file = keyPath(folder, address)
  makeFolder(folder)
  const keystore: Keystore = await encryptKey(privateKey, password, options)
  await writeNewFile(file, `${JSON.stringify(keystore, null, 2)}\n`)
  return { address: checksumAddress(address), file }
}

/** Returns the names of files that may be keys, sorted; at most KEY_LIMITS.files, and `more` when there are others. */
export const keyFiles = (folder: string): { readonly files: readonly string[]; readonly more: boolean } => {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter(entry => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(entry => entry.name)
    .sort()
  return { files: names.slice(0, KEY_LIMITS.files), more: names.length > KEY_LIMITS.files }
}
