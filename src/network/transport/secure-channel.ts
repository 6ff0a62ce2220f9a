import { createCipheriv, createDecipheriv, sign, verify } from 'node:crypto'
import type { Socket } from 'node:net'
import { bytesToHex, concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { ProtocolError } from '../core/errors.ts'
import type { ChainDomain } from '../messages/control-messages.ts'
import { FRAGMENT_BYTES, FRAME_HEADER_BYTES } from '../wire/frames.ts'
import { type NodeKey, publicKeyOf } from './node-key.ts'
import {
  checkTag,
  createEphemeral,
  deriveSession,
  KEY_BYTES,
  type NoiseSession,
  nextKey,
  nonceOf,
  TAG_BYTES,
} from './noise.ts'

/* Record: length of what follows (4 bytes, big-endian), sealed frame, tag. One frame each, so that tiny ones count in quotas. */
const LENGTH_BYTES = 4
const RECORD_OVERHEAD_BYTES = LENGTH_BYTES + TAG_BYTES
/** The last frame of a long message may hold a single byte. */
const LEAST_BYTES = FRAME_HEADER_BYTES + 1 + TAG_BYTES
const MOST_BYTES = FRAME_HEADER_BYTES + FRAGMENT_BYTES + TAG_BYTES
/** Records until the next key: four gigabytes at most, far below what AES-GCM bears. */
const RECORDS_PER_KEY = 2 ** 16

const damaged = (reason: string, cause?: unknown) =>
  new CodedError<ProtocolError>({ code: 'RECORD_DAMAGED', reason }, { cause })

/** Records of both directions of one connection. */
export class Records {
  readonly #sending: ReturnType<typeof recordKeys>
  readonly #receiving: ReturnType<typeof recordKeys>
  readonly #length = new Uint8Array(LENGTH_BYTES)
  #lengthBytes = 0
  /** Record that is being received; undefined: its length is. */
  #record: Uint8Array | undefined
  #recordBytes = 0
  /** Time since when a record is incomplete; null: none is. */
  unfinishedSinceMs: number | null = null

  constructor(sendKey: Uint8Array, receiveKey: Uint8Array) {
    this.#sending = recordKeys(sendKey)
    this.#receiving = recordKeys(receiveKey)
  }

  seal(frame: Uint8Array): Uint8Array {
    const record = Buffer.allocUnsafe(LENGTH_BYTES + frame.byteLength + TAG_BYTES)
    record.writeUInt32BE(frame.byteLength + TAG_BYTES)
    const { key, nonce } = this.#sending()
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    record.set(cipher.update(frame), LENGTH_BYTES)
    cipher.final()
    record.set(cipher.getAuthTag(), LENGTH_BYTES + frame.byteLength)
    return record
  }

  /** Opens the records that are complete, in order. Throws RECORD_DAMAGED; nothing may be pushed after that. */
  push(bytes: Uint8Array, nowMs: number, take: (frame: Uint8Array) => void): void {
    let at = 0
    while (at < bytes.byteLength) {
      this.unfinishedSinceMs ??= nowMs
      at = this.#record === undefined ? this.#readLength(bytes, at) : this.#readRecord(bytes, at, this.#record, take)
    }
  }

  #readLength(bytes: Uint8Array, at: number): number {
    const part = bytes.subarray(at, at + LENGTH_BYTES - this.#lengthBytes)
    this.#length.set(part, this.#lengthBytes)
    this.#lengthBytes += part.byteLength
    if (this.#lengthBytes === LENGTH_BYTES) {
      const length = new DataView(this.#length.buffer).getUint32(0)
      if (length < LEAST_BYTES || length > MOST_BYTES) throw damaged(`a record of ${length} bytes`)
      this.#lengthBytes = 0
      this.#record = new Uint8Array(length)
      this.#recordBytes = 0
    }
    return at + part.byteLength
  }

  #readRecord(bytes: Uint8Array, at: number, record: Uint8Array, take: (frame: Uint8Array) => void): number {
    const part = bytes.subarray(at, at + record.byteLength - this.#recordBytes)
    record.set(part, this.#recordBytes)
    this.#recordBytes += part.byteLength
    if (this.#recordBytes === record.byteLength) {
      this.#record = undefined
      this.unfinishedSinceMs = null
      take(this.#open(record))
    }
    return at + part.byteLength
  }

  #open(record: Uint8Array): Uint8Array {
    const { key, nonce } = this.#receiving()
    const end = record.byteLength - TAG_BYTES
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAuthTag(record.subarray(end))
    const frame = decipher.update(record.subarray(0, end))
    try {
      decipher.final()
    } catch (error) {
      throw damaged('a record that does not open', error)
    }
    return frame
  }
}

/** Returns key and nonce of each record of one direction in turn. */
const recordKeys = (first: Uint8Array) => {
  let key: Uint8Array = first.slice(0, KEY_BYTES)
  let number = 0
  return () => {
    if (number > 0 && number % RECORDS_PER_KEY === 0) key = nextKey(key)
    return { key, nonce: nonceOf(number++) }
  }
}

/** Connection whose other end proved a node key; no message has been sent yet. */
export interface SecureChannel {
  readonly socket: Socket
  readonly nodeId: string
  /** Hash of the handshake, 32 bytes that no other connection has. */
  readonly binding: Uint8Array
  readonly records: Records
}

/** Names this handshake. The version of the messages is that of the hello: nodes of two versions get that far, and are told why. */
export const PROLOGUE = 'tandem/4'
const PROLOGUE_BYTES = Buffer.from(PROLOGUE)
const IDENTITY = 'tandem-identity/1'
const SIGNATURE_BYTES = 64
const RESPONSE_BYTES = KEY_BYTES + TAG_BYTES
/** Node id, chain id, genesis hash, signature. */
const CHAIN_BYTES = 8 + 32
const IDENTITY_BYTES = KEY_BYTES + CHAIN_BYTES + SIGNATURE_BYTES

/** Key and chain of this node. */
export interface ChannelIdentity {
  readonly key: NodeKey
  readonly domain: ChainDomain
}

/**
 * Opens the dialed side of a channel. Both sides read messages of fixed size, 204 bytes at most, until the other one is known: nothing
 * that a stranger sends is longer, and no chain of certificates exists. Rejects when the other end is no node of this protocol.
 */
export const openChannel = async (socket: Socket, identity: ChannelIdentity): Promise<SecureChannel> => {
  const own = createEphemeral()
  socket.write(own.publicKey)
  const response = await readExactly(socket, RESPONSE_BYTES)
  const other = response.slice(0, KEY_BYTES)
  const session = deriveSession({ prologue: PROLOGUE_BYTES, own, other, isInitiator: true })
  checkTag(session, response.slice(KEY_BYTES))
  const records = new Records(session.initiatorKey, session.responderKey)
  socket.write(records.seal(encodeIdentity(identity, session, 'initiator')))
  return identify(socket, session, records, 'responder')
}

/** Accepts the other side of a channel. */
export const acceptChannel = async (socket: Socket, identity: ChannelIdentity): Promise<SecureChannel> => {
  const other = await readExactly(socket, KEY_BYTES)
  // The other side sends nothing before the response.
  if (socket.readableLength > 0) throw new Error('more than a key')
  const own = createEphemeral()
  const session = deriveSession({ prologue: PROLOGUE_BYTES, own, other, isInitiator: false })
  const records = new Records(session.responderKey, session.initiatorKey)
  socket.write(concatBytes(own.publicKey, session.tag, records.seal(encodeIdentity(identity, session, 'responder'))))
  return identify(socket, session, records, 'initiator')
}

type Role = 'initiator' | 'responder'

/** Bytes that a node signs: useless on any other connection, in the other direction, and on another chain. */
const statementOf = ({ hash }: NoiseSession, role: Role, idAndChain: Uint8Array): Uint8Array =>
  concatBytes(Buffer.from(`${IDENTITY} ${role} `), hash, idAndChain)

const encodeIdentity = ({ key, domain }: ChannelIdentity, session: NoiseSession, role: Role): Uint8Array => {
  const chain = new Uint8Array(CHAIN_BYTES)
  new DataView(chain.buffer).setBigUint64(0, BigInt(domain.chainId))
  chain.set(hexToBytes(domain.genesisHash), 8)
  const idAndChain = concatBytes(key.publicKey, chain)
  return concatBytes(idAndChain, sign(null, statementOf(session, role, idAndChain), key.privateKey))
}

/** Verifies the identity of the other side. A different chain is left to the hello, which can give that reason. */
const identify = async (
  socket: Socket,
  session: NoiseSession,
  records: Records,
  role: Role,
): Promise<SecureChannel> => {
  const identities: Uint8Array[] = []
  records.push(await readExactly(socket, RECORD_OVERHEAD_BYTES + IDENTITY_BYTES), 0, bytes => identities.push(bytes))
  const [identity] = identities
  if (identity?.byteLength !== IDENTITY_BYTES) throw new Error('no identity')
  const idAndChain = identity.slice(0, KEY_BYTES + CHAIN_BYTES)
  const id = idAndChain.slice(0, KEY_BYTES)
  const signature = identity.slice(idAndChain.byteLength)
  if (!verify(null, statementOf(session, role, idAndChain), publicKeyOf(id), signature))
    throw new Error('an identity that its key did not sign')
  return { socket, nodeId: bytesToHex(id).slice(2), binding: session.hash, records }
}

/** Reads so many bytes and leaves the rest in the socket, which is not read further meanwhile. */
const readExactly = (socket: Socket, count: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const read = (): void => {
      const bytes: Buffer | null = socket.read(count)
      // After the end of the stream there may be fewer.
      if (bytes === null || bytes.byteLength < count) return
      settle()
      resolve(new Uint8Array(bytes))
    }
    const fail = (): void => {
      settle()
      reject(new Error('the other side closed the connection'))
    }
    const settle = (): void => {
      socket.off('readable', read).off('close', fail).off('end', fail)
    }
    if (socket.destroyed || socket.readableEnded) fail()
    else {
      socket.on('readable', read).on('close', fail).on('end', fail)
      read()
    }
  })
