import { asBuffer, bytesToHex, type Hex, hexToBytes } from '../util/bytes.ts'
import { type DecodedTransaction, decodeTransaction } from './transaction.ts'
import type { TransactionSignature } from './transaction-encoding.ts'

/*
 * A transaction of an account whose key nobody here has, for development chains. In the place of s it carries 12 bytes of text and
 * the sender. Clients read it as a signature: r is within the order of the group, and s in its lower half (EIP-2). No key can have
 * made it: r would be the x of a point, and neither 5 nor 5 + order is one on secp256k1, so that a node that knows nothing of this form
 * refuses the transaction. The bytes alone name the sender, and the hash differs from sender to sender.
 */

const MARK = Buffer.from('impersonated')
const R = Uint8Array.of(5)

export const impersonationSignature = (sender: Hex): TransactionSignature => ({
  yParity: 0,
  r: R,
  s: Buffer.concat([MARK, hexToBytes(sender)]),
})

/** The sender that the form names; undefined: an ordinary transaction. */
export const impersonatedSender = ({ r, s }: Pick<DecodedTransaction, 'r' | 's'>): Hex | undefined => {
  if (s.byteLength !== 32 || r.byteLength !== 1 || r[0] !== R[0]) return undefined
  return asBuffer(s).subarray(0, MARK.byteLength).equals(MARK) ? bytesToHex(s.subarray(MARK.byteLength)) : undefined
}

/** The same from the serialised transaction, whose last 32 bytes are s. Throws TRANSACTION_MALFORMED. */
export const impersonatedSenderOf = (raw: Uint8Array): Hex | undefined => {
  const end = raw.byteLength - 20
  const isMarked =
    end >= MARK.byteLength &&
    asBuffer(raw)
      .subarray(end - MARK.byteLength, end)
      .equals(MARK)
  return isMarked ? impersonatedSender(decodeTransaction(raw)) : undefined
}
