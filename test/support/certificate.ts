import { sign } from 'node:crypto'
import { concatBytes } from '@tandem/base/bytes.ts'
import type { NodeKey } from '../../src/network/transport/node-key.ts'

/**
 * Self-signed X.509 certificate (RFC 5280) for an Ed25519 key (RFC 8410), in DER. It carries only the key: names, times and
 * authorities are ignored, since the key is the node's identity. Node.js can read certificates but not create them; this is the
 * minimum needed.
 */
const selfSigned = (key: NodeKey): Uint8Array => {
  const algorithm = sequence(ED25519)
  const name = sequence(set(sequence(COMMON_NAME, tlv(0x0c, new TextEncoder().encode('node')))))
  const spki = sequence(algorithm, bitString(key.publicKey))
  const body = sequence(
    tlv(0xa0, integer(2)), // version 3
    integer(1), // serial number
    algorithm,
    name,
    sequence(FROM, UNTIL),
    name,
    spki,
  )
  return sequence(body, algorithm, bitString(sign(null, body, key.privateKey)))
}

export const certificatePem = (key: NodeKey): string => {
  const lines =
    Buffer.from(selfSigned(key))
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const tlv = (tag: number, ...parts: readonly Uint8Array[]): Uint8Array => {
  const content = concatBytes(...parts)
  const { byteLength } = content
  const length =
    byteLength < 0x80
      ? [byteLength]
      : byteLength < 0x100
        ? [0x81, byteLength]
        : [0x82, byteLength >> 8, byteLength & 0xff]
  return concatBytes(Uint8Array.of(tag, ...length), content)
}
const sequence = (...parts: readonly Uint8Array[]): Uint8Array => tlv(0x30, ...parts)
const set = (...parts: readonly Uint8Array[]): Uint8Array => tlv(0x31, ...parts)
const integer = (value: number): Uint8Array => tlv(0x02, Uint8Array.of(value))
const bitString = (bytes: Uint8Array): Uint8Array => tlv(0x03, Uint8Array.of(0), bytes)
const time = (text: string): Uint8Array => tlv(0x18, new TextEncoder().encode(text))

/** 1.3.101.112 and 2.5.4.3 */
const ED25519 = tlv(0x06, Uint8Array.of(0x2b, 0x65, 0x70))
const COMMON_NAME = tlv(0x06, Uint8Array.of(0x55, 0x04, 0x03))
/** Validity from before any clock until the value of RFC 5280 4.1.2.5 for no expiration. */
const FROM = tlv(0x17, new TextEncoder().encode('700101000000Z'))
const UNTIL = time('99991231235959Z')
