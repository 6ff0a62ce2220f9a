import { readFileSync, statSync } from 'node:fs'
import { decryptKey } from '../crypto/keystore.ts'
import { hexToBytes } from '../util/bytes.ts'
import { explainSystem } from './explain.ts'
import { warn } from './output.ts'

/** The text of a file named by an option; a failure says which option. */
export const readText = (path: string, option: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${option}: ${explainSystem(error as Error) ?? (error as Error).message}`, { cause: error })
  }
}

/** A text that only its owner, and perhaps a group made for it, should be able to read: others are warned of. */
const readSecret = (path: string, option: string): string => {
  const text = readText(path, option)
  if (process.platform !== 'win32' && (statSync(path).mode & READ_BY_OTHERS) !== 0)
    warn(`${option}: every user of this machine can read ${path}. Run: chmod o-r ${path}`)
  return text
}
const READ_BY_OTHERS = 0o004

/** Passwords of key files: the lines of --password-file (the last line stands for all further files), or TANDEM_PASSWORD for all. */
export const readPasswords = (passwordFile: string | undefined): ((index: number) => string | undefined) => {
  if (passwordFile === undefined) return () => process.env['TANDEM_PASSWORD']
  const lines = readSecret(passwordFile, '--password-file')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
  return index => lines[Math.min(index, lines.length - 1)]
}

/** A private key: a keystore (v3) with its password, or 64 hex digits. `option` is named in messages. */
export const readKey = async (path: string, option: string, password: string | undefined): Promise<Uint8Array> => {
  const text = readSecret(path, option).trim()
  if (/^(0x)?[0-9a-f]{64}$/i.test(text)) return hexToBytes(`0x${text.replace(/^0x/, '')}`)
  const keystore = parseKeystore(text, path)
  if (password === undefined) {
    throw new Error(`${path} is encrypted: give its password with --password-file or in TANDEM_PASSWORD.`)
  }
  return decryptKey(keystore, password)
}

const parseKeystore = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is neither a keystore (JSON) nor a key of 64 hex digits.`, { cause: error })
  }
}
