import { randomFillSync } from 'node:crypto'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError, isCoded, resultOrCoded } from '@tandem/base/errors.ts'
import { decryptKey, keystoreAddress } from '../../../crypto/keys/keystore.ts'
import { addressFromPrivateKey, isScalar } from '../../../crypto/signature.ts'
import { readSecret } from '../files.ts'

interface OpenedKey {
  readonly privateKey: Uint8Array
  /** false: the file holds it as plain hex. */
  readonly encrypted: boolean
}

/** Reads a private key from a keystore (v3; asks for its password) or 64 hex digits. `path` 0: standard input; `option`: for messages. */
export const readKey = async (
  path: string | 0,
  option: string,
  password: (name: string) => Promise<string>,
): Promise<OpenedKey> => {
  const content = readKeyFile(path, option)
  if ('privateKey' in content) return { privateKey: content.privateKey, encrypted: false }
  const given = await password(nameOf(path))
  try {
    return { privateKey: await decryptKey(content.keystore, given), encrypted: true }
  } catch (error) {
    throw inFile(path, error)
  }
}

/** Returns a new private key. */
export const randomKey = (): Uint8Array => {
  const key = new Uint8Array(32)
  do randomFillSync(key)
  while (!isScalar(key))
  return key
}

/** Returns the address of a key file, as far as it is readable without the password. */
export const addressOfKeyFile = (path: string, option: string): Hex => {
  const content = readKeyFile(path, option)
  if ('privateKey' in content) return addressFromPrivateKey(content.privateKey)
  const address = resultOrCoded(() => keystoreAddress(content.keystore))
  if (isCoded(address)) throw inFile(path, address)
  if (address !== undefined) return address
  throw new Error(`${option}: ${path} does not name its address: give the address instead of the file.`)
}

/** Adds the file to an error of its keystore. */
const inFile = (path: string | 0, cause: unknown): unknown =>
  isCoded(cause) ? new CodedError({ ...cause.detail, file: nameOf(path) }, { cause }) : cause

const readKeyFile = (
  path: string | 0,
  option: string,
): { readonly privateKey: Uint8Array } | { readonly keystore: unknown } => {
  const text = readSecret(path, option).trim()
  if (!/^(0x)?[0-9a-f]{64}$/i.test(text)) return { keystore: parseKeystore(text, path, option) }
  const privateKey = hexToBytes(`0x${text.replace(/^0x/i, '')}`)
  if (isScalar(privateKey)) return { privateKey }
  throw new Error(
    `${option}: the 64 hex digits of ${nameOf(path)} are no private key: zero, or not below the group order.`,
  )
}

const parseKeystore = (text: string, path: string | 0, option: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    const problem = `${nameOf(path)} is neither a keystore (JSON) nor a key of 64 hex digits. Name another file.`
    throw new Error(`${option}: ${problem}`, { cause: error })
  }
}

const nameOf = (path: string | 0): string => (path === 0 ? 'the standard input' : path)
