import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import type { NetworkError } from '../core/errors.ts'

/** Key of a node on the network: Ed25519, separate from any validator's key. */
export interface NodeKey {
  readonly privateKey: KeyObject
  /** The public key, 32 bytes; as 64 hex digits it is the node id. */
  readonly publicKey: Uint8Array
  readonly id: string
}

const nodeKeyOf = (privateKey: KeyObject): NodeKey => {
  const publicKey = publicKeyBytes(createPublicKey(privateKey))
  return { privateKey, publicKey, id: Buffer.from(publicKey).toString('hex') }
}

export const generateNodeKey = (): NodeKey => nodeKeyOf(generateKeyPairSync('ed25519').privateKey)

/**
 * Reads the key from a PEM file (PKCS #8), or creates it, readable only by the process's user. It is unencrypted: a node must start
 * unattended, and a thief of the key can only pose as this node towards peers. Throws NODE_KEY_INVALID.
 */
export const openNodeKey = async (path: string): Promise<NodeKey> => {
  const stored = await readIfThere(path)
  if (stored !== undefined) return parse(await checkMode(stored, path), path)
  const key = generateNodeKey()
  makeFolder(dirname(path))
  try {
    await writeNewFile(path, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
    return key
  } catch (error) {
    // Another process in the same folder created it first.
    const theirs = isCoded(error) && error.code === 'FILE_EXISTS' ? await readIfThere(path) : undefined
    if (theirs === undefined) throw error
    return parse(theirs, path)
  }
}

const parse = (pem: string, path: string): NodeKey => {
  const refuse = (reason: string, cause?: unknown) =>
    new CodedError<NetworkError>({ code: 'NODE_KEY_INVALID', path, reason }, { cause })
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (error) {
    throw refuse('it is no private key in PEM form', error)
  }
  if (key.asymmetricKeyType !== 'ed25519') throw refuse(`a node key is an Ed25519 key, not ${key.asymmetricKeyType}`)
  return nodeKeyOf(key)
}

/** A dedicated group may read it, as mounted secrets need it. */
const OTHERS = 0o007

/** Refuses a key that every user of the machine can read: a thief can pose as this node. Windows has no such bits. */
const checkMode = async (pem: string, path: string): Promise<string> => {
  const mode = process.platform === 'win32' ? 0 : (await stat(path)).mode & OTHERS
  if (mode === 0) return pem
  const reason = `other users of this machine can read it: run chmod o-rwx ${path}, or remove the file for a new node id`
  throw new CodedError<NetworkError>({ code: 'NODE_KEY_INVALID', path, reason })
}

const readIfThere = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(ifMissing(undefined))

/** Prefixes of a 32-byte key in a SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIXES = {
  ed25519: Buffer.from('302a300506032b6570032100', 'hex'),
  x25519: Buffer.from('302a300506032b656e032100', 'hex'),
} as const

/** Returns the 32 bytes of a public key of either kind. */
export const publicKeyBytes = (key: KeyObject): Uint8Array =>
  new Uint8Array(key.export({ type: 'spki', format: 'der' }).subarray(SPKI_PREFIXES.ed25519.byteLength))

export const publicKeyOf = (bytes: Uint8Array, kind: keyof typeof SPKI_PREFIXES = 'ed25519'): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI_PREFIXES[kind], bytes]), type: 'spki', format: 'der' })
