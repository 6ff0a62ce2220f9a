import { join, resolve } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { addressOfKeyFile } from '../shared/keys/read-key.ts'
import { errorMessage, printWarning } from '../shared/output.ts'
import type { KeystoreFlags } from './flags.ts'
import { keyFiles } from './keystore-folder.ts'

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
