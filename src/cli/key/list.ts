import { join, resolve } from 'node:path'
import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { passwordsFrom } from '../shared/keys/passwords.ts'
import { addressOfKeyFile, readKey } from '../shared/keys/read-key.ts'
import { errorMessage, printWarning } from '../shared/output.ts'
import type { ExportFlags, KeystoreFlags } from './flags.ts'
import { keyFiles, keyPath } from './keystore-folder.ts'

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
  const { files, more } = namesIn(keystore)
  const keys = files.map(name => look(join(resolve(keystore), name)))
  if (json) process.stdout.write(`${JSON.stringify(keys)}\n`)
  else for (const key of keys) process.stdout.write(lineOf(key))
  if (keys.length === 0) process.stderr.write(`${resolve(keystore)} holds no keys. Make one with "tandem key new".\n`)
  if (more) printWarning(`${resolve(keystore)} holds more files than the ${keys.length} shown.`)
}

const namesIn = (folder: string): ReturnType<typeof keyFiles> => {
  try {
    return keyFiles(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { files: [], more: false }
    throw error
  }
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
