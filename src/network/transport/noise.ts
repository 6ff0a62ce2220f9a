import {
  createCipheriv,
  createHash,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import { concatBytes, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { publicKeyBytes, publicKeyOf } from './node-key.ts'

/*
 * Handshake pattern NN of the Noise protocol framework (revision 34, noiseprotocol.org): two messages of fixed size, an ephemeral X25519
 * key each. Its hash names the connection; the identities are signatures over it (secure-channel.ts).
 *
 *     -> e          32 bytes
 *     <- e, ee      32 bytes and a tag of 16
 */
const PROTOCOL_NAME = Buffer.from('Noise_NN_25519_AESGCM_SHA256')
export const KEY_BYTES = 32
export const TAG_BYTES = 16
const HASH_BYTES = 32
const NONCE_BYTES = 12

/** Key pair of one connection. */
export interface Ephemeral {
  readonly privateKey: KeyObject
  readonly publicKey: Uint8Array
}

export const createEphemeral = (): Ephemeral => {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  return { privateKey, publicKey: publicKeyBytes(publicKey) }
}

/** Result of the handshake, the same at both ends. */
export interface NoiseSession {
  /** Proof of the responder that it has the same secret, the end of its message. */
  readonly tag: Uint8Array
  /** Hash of the handshake, which no other connection has. */
  readonly hash: Uint8Array
  readonly initiatorKey: Uint8Array
  readonly responderKey: Uint8Array
}

interface SessionParams {
  /** Name and version of the protocol. */
  readonly prologue: Uint8Array
  readonly own: Ephemeral
  readonly other: Uint8Array
  readonly isInitiator: boolean
}

/** Derives keys and hash from the ephemeral keys. Throws when the other key is of small order. */
export const deriveSession = ({ prologue, own, other, isInitiator }: SessionParams): NoiseSession => {
  const [initiator, responder] = isInitiator ? [own.publicKey, other] : [other, own.publicKey]
  const secret = diffieHellman({ privateKey: own.privateKey, publicKey: publicKeyOf(other, 'x25519') })
  const start = concatBytes(PROTOCOL_NAME, new Uint8Array(HASH_BYTES - PROTOCOL_NAME.byteLength))
  // The payload of each message is empty; that of the second is sealed.
  const before = [prologue, initiator, EMPTY_BYTES, responder].reduce(mixHash, start)
  const [chainingKey, key] = deriveTwo(start, secret)
  const tag = seal(key, 0, EMPTY_BYTES, before)
  const [initiatorKey, responderKey] = deriveTwo(chainingKey, EMPTY_BYTES)
  return { tag, hash: mixHash(before, tag), initiatorKey, responderKey }
}

/** Throws when the tag of the responder is another one. */
export const checkTag = ({ tag }: NoiseSession, received: Uint8Array): void => {
  if (!timingSafeEqual(tag, received)) throw new Error('not the tag of this handshake')
}

const mixHash = (hash: Uint8Array, data: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(hash).update(data).digest())

/** HKDF with two outputs. */
const deriveTwo = (chainingKey: Uint8Array, input: Uint8Array): readonly [Uint8Array, Uint8Array] => {
  const output = new Uint8Array(hkdfSync('sha256', input, chainingKey, EMPTY_BYTES, 2 * HASH_BYTES))
  return [output.slice(0, HASH_BYTES), output.slice(HASH_BYTES)]
}

/** Returns the nonce of a message: its number, big-endian, after four zeros. */
export const nonceOf = (number: number | bigint): Uint8Array => {
  const nonce = new Uint8Array(NONCE_BYTES)
  new DataView(nonce.buffer).setBigUint64(NONCE_BYTES - 8, BigInt(number))
  return nonce
}

/** Returns the sealed bytes and their tag. */
const seal = (key: Uint8Array, number: number | bigint, bytes: Uint8Array, bound: Uint8Array): Uint8Array => {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number)).setAAD(bound)
  return concatBytes(cipher.update(bytes), cipher.final(), cipher.getAuthTag())
}

const LAST_NUMBER = 2n ** 64n - 1n

/** Returns the key that follows a key (REKEY). */
export const nextKey = (key: Uint8Array): Uint8Array =>
  seal(key, LAST_NUMBER, new Uint8Array(KEY_BYTES), EMPTY_BYTES).slice(0, KEY_BYTES)
