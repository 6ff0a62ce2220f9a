import { bigintToBytes, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { decodeOrMalformed, type MalformedError, malformed } from './rlp/malformed.ts'
import { encodeRlp, type RlpItem, writeRlpHex, writeRlpString } from './rlp/rlp.ts'
import { readWholeList } from './rlp/rlp-cursor.ts'

/** Header of the proof chain: work that names coinbase and committed main block, which gives its time (docs/design/proof-chain.md). */
export interface ProofHeader {
  /** Hash function: 1 SHA-256d, 2 nativeHash. */
  readonly version: number
  /** Id of the parent proof header; zero for the first one. */
  readonly parentId: Hex
  readonly height: number
  /** Number and hash of the main block it commits to. */
  readonly anchorNumber: number
  readonly anchorHash: Hex
  /** Address that the header pays, 20 bytes. */
  readonly coinbase: Hex
  /** Greatest valid hash, read as a big-endian integer. */
  readonly target: bigint
  /** Free bytes of pool and worker, at most 32. */
  readonly extraNonce: Uint8Array
  /** 8 bytes. */
  readonly nonce: Uint8Array
  /** The Argon2id result, 32 bytes; empty under version 1. */
  readonly mixHash: Uint8Array
}

/** Part of a header that is fixed before work on it begins. */
export type ProofTemplate = Omit<ProofHeader, 'nonce' | 'mixHash'>

export type ProofHeaderMalformed = MalformedError<'PROOF_HEADER_MALFORMED'>

/** Cap on an encoded header; the largest valid one has 233 bytes. */
export const PROOF_HEADER_BYTES = 320
const EXTRA_NONCE_BYTES = 32
export const PROOF_NONCE_BYTES = 8
const MIX_HASH_BYTES = 32

const templateItems = (header: ProofTemplate): RlpItem[] => [
  bigintToBytes(BigInt(header.version)),
  hexToBytes(header.parentId),
  bigintToBytes(BigInt(header.height)),
  bigintToBytes(BigInt(header.anchorNumber)),
  hexToBytes(header.anchorHash),
  hexToBytes(header.coinbase),
  bigintToBytes(header.target),
  header.extraNonce,
]

/** Hash for mining. It includes the chain id, so that work cannot be reused on another network. */
export const proofSealHash = (chainId: number, header: ProofTemplate): Hex =>
  keccak256Hex(encodeRlp([bigintToBytes(BigInt(chainId)), ...templateItems(header)]))

/** Writes what the seal hash covers (as proofSealHash) into `out`, the target as a word into `targetWord`; returns the size. */
export const writeSealedFields = (chainId: number, header: ProofTemplate, out: Buffer, targetWord: Buffer): number => {
  targetWord.hexWrite(header.target.toString(16).padStart(64, '0'), 0, 32)
  let zeros = 0
  while (zeros < 32 && targetWord[zeros] === 0) zeros++
  let at = writeUint(out, SEALED_PREFIX_BYTES, chainId)
  at = writeUint(out, at, header.version)
  at = writeRlpHex(header.parentId, 32, out, at)
  at = writeUint(out, at, header.height)
  at = writeUint(out, at, header.anchorNumber)
  at = writeRlpHex(header.anchorHash, 32, out, at)
  at = writeRlpHex(header.coinbase, 20, out, at)
  at = writeRlpString(targetWord.subarray(zeros), out, at)
  at = writeRlpString(header.extraNonce, out, at)
  // The fields have 88 to 181 bytes: a list prefix of two bytes.
  out[0] = 0xf8
  out[1] = at - SEALED_PREFIX_BYTES
  return at
}

const SEALED_PREFIX_BYTES = 2

const writeUint = (out: Buffer, at: number, value: number): number => {
  if (value > 0 && value < 0x80) {
    out[at] = value
    return at + 1
  }
  let size = 0
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) size++
  out[at] = 0x80 + size
  for (let i = size, rest = value; i > 0; i--, rest = Math.floor(rest / 256)) out[at + i] = rest % 256
  return at + 1 + size
}

export const encodeProofHeader = (header: ProofHeader): Uint8Array =>
  encodeRlp([...templateItems(header), header.nonce, header.mixHash])

/** keccak256 of the encoded header. */
export const proofHeaderId = (header: ProofHeader): Hex => keccak256Hex(encodeProofHeader(header))

/** Decodes canonical RLP of exactly one header into fresh memory. Throws CodedError<ProofHeaderMalformed>. */
export const decodeProofHeader = (bytes: Uint8Array): ProofHeader =>
  decodeOrMalformed('PROOF_HEADER_MALFORMED', () => {
    if (bytes.byteLength > PROOF_HEADER_BYTES)
      throw malformed('PROOF_HEADER_MALFORMED', `${bytes.byteLength} bytes, want at most ${PROOF_HEADER_BYTES}`)
    return readWholeList(bytes, cursor => ({
      version: cursor.safeUint(),
      parentId: cursor.hex(32),
      height: cursor.safeUint(),
      anchorNumber: cursor.safeUint(),
      anchorHash: cursor.hex(32),
      coinbase: cursor.hex(20),
      target: cursor.uint(32),
      extraNonce: cursor.boundedBytes(EXTRA_NONCE_BYTES).slice(),
      nonce: hexToBytes(cursor.hex(PROOF_NONCE_BYTES)),
      mixHash: mixHashFrom(cursor.boundedBytes(MIX_HASH_BYTES)),
    }))
  })

const mixHashFrom = (bytes: Uint8Array): Uint8Array => {
  if (bytes.byteLength === 0) return EMPTY_BYTES
  if (bytes.byteLength !== MIX_HASH_BYTES)
    throw malformed('PROOF_HEADER_MALFORMED', `mixHash of ${bytes.byteLength} bytes, want none or ${MIX_HASH_BYTES}`)
  return bytes.slice()
}
