import { keccak256 } from '../../src/crypto/hash.ts'
import { sign } from '../../src/crypto/signature.ts'
import type { DecodedTransaction } from '../../src/primitives/transaction/transaction.ts'
import {
  encodeTransaction,
  signatureParts,
  signingPayload,
  type UnsignedTransaction,
} from '../../src/primitives/transaction/transaction-encoding.ts'

/** A transaction signed with a private key. */
export const signedBy = (unsigned: UnsignedTransaction, key: Uint8Array): DecodedTransaction =>
  encodeTransaction(unsigned, signatureParts(sign(keccak256(signingPayload(unsigned)), key)))
