import { asBuffer, bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { type DecodedTransaction, decodeTransaction } from './transaction.ts'
import type { TransactionSignature } from './transaction-encoding.ts'

/*
 * Transaction of an account without a key, for development chains. In place of s it has 12 bytes of text and the sender. Clients parse
 * it as a signature: r is within the order of the group, and s in its lower half (EIP-2). No key can produce it: r would be the x of a
 * point, and neither 5 nor 5 + order is one on secp256k1, so that a node without this feature rejects the transaction. The bytes name
 * the sender, and the hash differs from sender to sender.
 */

const MARK = Buffer.from('impersonated')
const R = Uint8Array.of(5)

export const impersonationSignature = (sender: Hex): TransactionSignature => ({
  yParity: 0,
  r: R,
  s: Buffer.concat([MARK, hexToBytes(sender)]),
})

/** Returns the sender named by an unsigned transaction; undefined: an ordinary transaction. */
export const impersonatedSender = ({ r, s }: Pick<DecodedTransaction, 'r' | 's'>): Hex | undefined => {
  if (s.byteLength !== 32 || r.byteLength !== 1 || r[0] !== R[0]) return undefined
  return asBuffer(s).subarray(0, MARK.byteLength).equals(MARK) ? bytesToHex(s.subarray(MARK.byteLength)) : undefined
}

/** Returns the same from the serialised transaction, whose last 32 bytes are s. Throws TRANSACTION_MALFORMED. */
export const impersonatedSenderOf = (raw: Uint8Array): Hex | undefined => {
  const end = raw.byteLength - 20
  const isMarked =
    end >= MARK.byteLength &&
    asBuffer(raw)
      .subarray(end - MARK.byteLength, end)
      .equals(MARK)
  return isMarked ? impersonatedSender(decodeTransaction(raw)) : undefined
}
