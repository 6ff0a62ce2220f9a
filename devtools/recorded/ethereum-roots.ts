import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { sha256 } from '../../src/crypto/sha256.ts'
import { type Withdrawal, withdrawalItem } from '../../src/primitives/ethereum-body.ts'
import { encodeHeader, type Header } from '../../src/primitives/header.ts'
import { encodeRlp, encodeRlpList } from '../../src/primitives/rlp/rlp.ts'
import { orderedRoot } from '../../src/primitives/roots.ts'

/* Commitments of a header with Ethereum's rules besides transactions and receipts. */

/** `sha3Uncles`. */
export const unclesHash = (uncles: readonly Header[]): Hex => keccak256Hex(encodeRlpList(uncles.map(encodeHeader)))

/** Root of the trie of withdrawals by index in the block (EIP-4895). */
export const withdrawalsRoot = (withdrawals: readonly Withdrawal[]): Hex =>
  orderedRoot(withdrawals.map(withdrawal => encodeRlp(withdrawalItem(withdrawal))))

/** SHA-256 of the hashes of the non-empty requests, each its type byte and data (EIP-7685). */
export const requestsHash = (requests: readonly Uint8Array[]): Hex =>
  bytesToHex(sha256(...requests.filter(({ byteLength }) => byteLength > 1).map(request => sha256(request))))
