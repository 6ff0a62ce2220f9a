import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { passwordsFrom } from '../shared/keys/passwords.ts'
import { readKey } from '../shared/keys/read-key.ts'
import type { ExportFlags } from './flags.ts'
import { keyPath } from './keystore-folder.ts'

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
