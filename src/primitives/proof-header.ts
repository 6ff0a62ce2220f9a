import { keccak256Hex } from '../crypto/hash.ts'
import { bigintToBytes, EMPTY_BYTES, type Hex, hexToBytes } from '../util/bytes.ts'
import { decodeOrMalformed, type MalformedError, malformed } from './malformed.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'
import { RlpCursor } from './rlp-cursor.ts'

/**
 * Header of the proof chain: one solved piece of work that names its payee and a committed main block. It has no body and no
 * timestamp: its time is that of the anchor (docs/design/proof-chain.md).
 */
export interface ProofHeader {
  /** Hash function: 1 SHA-256d, 2 nativeHash. */
  readonly version: number
  /** Id of the parent proof header; zero for the first one. */
  readonly parentId: Hex
  readonly height: number
  /** Number and hash of the main block it commits to. */
  readonly anchorNumber: number
  readonly anchorHash: Hex
  /** Payee, 20 bytes. */
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
export const EXTRA_NONCE_BYTES = 32
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

export const encodeProofHeader = (header: ProofHeader): Uint8Array =>
  encodeRlp([...templateItems(header), header.nonce, header.mixHash])

/** keccak256 of the encoded header. */
export const proofHeaderId = (header: ProofHeader): Hex => keccak256Hex(encodeProofHeader(header))

/** Decodes canonical RLP of exactly one header into fresh memory. Throws CodedError<ProofHeaderMalformed>. */
export const decodeProofHeader = (bytes: Uint8Array): ProofHeader =>
  decodeOrMalformed('PROOF_HEADER_MALFORMED', () => {
    if (bytes.byteLength > PROOF_HEADER_BYTES)
      throw malformed('PROOF_HEADER_MALFORMED', `${bytes.byteLength} bytes, want at most ${PROOF_HEADER_BYTES}`)
    const cursor = new RlpCursor(bytes)
    const outer = cursor.openList()
    const header: ProofHeader = {
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
    }
    cursor.closeList(outer)
    cursor.finish()
    return header
  })

const mixHashFrom = (bytes: Uint8Array): Uint8Array => {
  if (bytes.byteLength === 0) return EMPTY_BYTES
  if (bytes.byteLength !== MIX_HASH_BYTES)
    throw malformed('PROOF_HEADER_MALFORMED', `mixHash of ${bytes.byteLength} bytes, want none or ${MIX_HASH_BYTES}`)
  return bytes.slice()
}
