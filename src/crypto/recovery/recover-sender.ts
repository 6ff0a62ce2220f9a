import { asBuffer, bigintToBytes, concatBytes, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { keccak256Hex, keccak256PartsInto } from '../hash.ts'
import { isLowS, isScalar, publicKeyToAddress, signatures } from '../signature.ts'

/* Recovers hash and sender of a raw transaction from its bytes alone, a range of which is signed; the codec checks the fields. */

/** Reasons why a transaction has no sender; a worker returns the index in this list. */
export const SENDER_REASONS = [
  'malformed RLP',
  'unknown transaction type',
  'wrong number of fields',
  'signature value out of range',
  's above half the group order',
  'y parity is neither 0 nor 1',
  'v fits no signature scheme',
  'no public key has this signature',
] as const
export type SenderReason = (typeof SENDER_REASONS)[number]

export type SenderError = { readonly code: 'INVALID_SENDER'; readonly reason: SenderReason }

export interface RecoveredSender {
  /** Hash of the transaction. */
  readonly hash: Hex
  readonly from: Hex
}

/** EIP-2930, 1559, 4844, 7702, and an authorization of the latter (type 5): number of fields before the three of the signature. */
const SIGNED_FIELDS: Readonly<Record<number, number>> = { 1: 8, 2: 9, 3: 11, 4: 10, 5: 3 }
const LEGACY_FIELDS = 6
const MAX_FIELDS = 14
/** EIP-155: v = 35 + 2 * chain id + parity; the signed fields end with the chain id and two empty strings. */
const FIRST_PROTECTED_V = 35

/** Throws CodedError<SenderError>. The bytes are the canonical form: RLP, or the type byte and RLP, without blobs. */
export const recoverSender = (raw: Uint8Array): RecoveredSender => {
  const recoveryId = readSigned(raw)
  const key = signatures().recover(digest, signature, recoveryId)
  if (key === undefined) throw invalid('no public key has this signature')
  return { hash: keccak256Hex(raw), from: publicKeyToAddress(key) }
}

const invalid = (reason: SenderReason) => new CodedError<SenderError>({ code: 'INVALID_SENDER', reason })

// Start and size of each field's content and the start of its header; one transaction is read at a time.
const starts = new Uint32Array(MAX_FIELDS)
const sizes = new Uint32Array(MAX_FIELDS)
const headers = new Uint32Array(MAX_FIELDS)

// Signed digest and signature r || s of the transaction that is read. Memory outside of V8's heap: what lies within is moved out of it for
// each native call.
const digest = Buffer.allocUnsafeSlow(32)
const signature = Buffer.allocUnsafeSlow(64)
const r = signature.subarray(0, 32)
const s = signature.subarray(32)

/** Sets digest and signature; returns the recovery id. */
const readSigned = (raw: Uint8Array): number => {
  const first = raw[0]
  if (first === undefined) throw invalid('malformed RLP')
  const legacy = first >= 0xc0
  const signed = legacy ? LEGACY_FIELDS : SIGNED_FIELDS[first]
  if (signed === undefined) throw invalid('unknown transaction type')
  if (readFields(raw, legacy ? 0 : 1) !== signed + 3) throw invalid('wrong number of fields')

  readScalar(raw, signed + 1, r)
  readScalar(raw, signed + 2, s)
  if (!isLowS(s)) throw invalid('s above half the group order')

  const fields = raw.subarray(headers[0]!, headers[signed]!)
  const v = readV(raw, signed)
  if (!legacy) {
    if (v > 1) throw invalid('y parity is neither 0 nor 1')
    keccak256PartsInto([raw.subarray(0, 1), listHeader(fields.byteLength), fields], digest)
    return v
  }
  if (v === 27 || v === 28) {
    keccak256PartsInto([listHeader(fields.byteLength), fields], digest)
    return v - 27
  }
  if (v < FIRST_PROTECTED_V) throw invalid('v fits no signature scheme')
  const tail = protection(Math.floor((v - FIRST_PROTECTED_V) / 2))
  keccak256PartsInto([listHeader(fields.byteLength + tail.byteLength), fields, tail], digest)
  return (v - FIRST_PROTECTED_V) % 2
}

/** Fills starts, sizes and headers; returns the number of fields. Every header must be canonical and end inside the list. */
const readFields = (raw: Uint8Array, at: number): number => {
  const end = raw.byteLength
  let next = readHeader(raw, at, end)
  if ((raw[at] ?? 0) < 0xc0 || next + size !== end) throw invalid('malformed RLP')
  let count = 0
  while (next < end) {
    if (count === MAX_FIELDS) throw invalid('wrong number of fields')
    headers[count] = next
    const start = readHeader(raw, next, end)
    starts[count] = start
    sizes[count] = size
    next = start + size
    if (next > end) throw invalid('malformed RLP')
    count++
  }
  return count
}

/** Size of the content of the last item read. */
let size = 0

/** Returns the start of the content of the item at `at`, and sets its size. */
const readHeader = (raw: Uint8Array, at: number, end: number): number => {
  const head = raw[at]
  if (head === undefined) throw invalid('malformed RLP')
  if (head < 0x80) {
    size = 1
    return at
  }
  const short = head < 0xc0 ? head - 0x80 : head - 0xc0
  if (short < 56) {
    size = short
    if (head === 0x81 && raw[at + 1]! < 0x80) throw invalid('malformed RLP')
    return at + 1
  }
  const digits = short - 55
  const start = at + 1 + digits
  // A length of more than four bytes exceeds any transaction.
  if (digits > 4 || start > end || raw[at + 1] === 0) throw invalid('malformed RLP')
  size = asBuffer(raw).readUIntBE(at + 1, digits)
  if (size < 56) throw invalid('malformed RLP')
  return start
}

const readScalar = (raw: Uint8Array, field: number, out: Uint8Array): void => {
  const length = sizes[field]!
  const start = starts[field]!
  if (length > 32 || raw[headers[field]!]! >= 0xc0 || raw[start] === 0) throw invalid('signature value out of range')
  out.fill(0)
  out.set(raw.subarray(start, start + length), 32 - length)
  if (!isScalar(out)) throw invalid('signature value out of range')
}

const readV = (raw: Uint8Array, field: number): number => {
  const length = sizes[field]!
  const start = starts[field]!
  if (length === 0) return 0
  if (length > 7 || raw[headers[field]!]! >= 0xc0 || raw[start] === 0) throw invalid('v fits no signature scheme')
  let v = 0
  for (let at = start; at < start + length; at++) v = v * 256 + raw[at]!
  // Chain ids are numbers here, and v must be exact.
  if (v > Number.MAX_SAFE_INTEGER) throw invalid('v fits no signature scheme')
  return v
}

const listHeader = (length: number): Uint8Array => {
  if (length < 56) return Uint8Array.of(0xc0 + length)
  const digits = length < 0x100 ? 1 : length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 4
  const header = Buffer.allocUnsafe(1 + digits)
  header[0] = 0xf7 + digits
  header.writeUIntBE(length, 1, digits)
  return header
}

/** RLP of chain id, empty, empty; cached per chain id. */
const protection = (chainId: number): Uint8Array => {
  const kept = protections.get(chainId)
  if (kept !== undefined) return kept
  const digits = bigintToBytes(BigInt(chainId))
  const isSingle = digits.byteLength === 1 && digits[0]! < 0x80
  const prefix = isSingle ? EMPTY_BYTES : Uint8Array.of(0x80 + digits.byteLength)
  const tail = concatBytes(prefix, digits, Uint8Array.of(0x80, 0x80))
  if (protections.size < KEPT_PROTECTIONS) protections.set(chainId, tail)
  return tail
}
const KEPT_PROTECTIONS = 16
const protections = new Map<number, Uint8Array>()
