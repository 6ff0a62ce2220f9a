import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { addressFromPrivateKey, sign } from '../../../src/crypto/signature.ts'
import {
  encodeTransaction,
  signingPayload,
  type UnsignedTransaction,
} from '../../../src/primitives/transaction/transaction-encoding.ts'
import { address, CHAIN_ID, GWEI } from './fixtures.ts'

export const privateKey = (n: number): Uint8Array => {
  const key = new Uint8Array(32)
  new DataView(key.buffer).setUint32(28, n)
  return key
}

export const senderOf = (n: number): Hex => addressFromPrivateKey(privateKey(n))

/** A signed transfer by key number `n`, as bytes. */
export const signedTransfer = (
  n: number,
  fields: Partial<UnsignedTransaction> & { readonly nonce: number },
): Uint8Array => {
  const maxFeePerGas = fields.maxFeePerGas ?? 30n * GWEI
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId: CHAIN_ID,
    gasLimit: 21_000n,
    maxFeePerGas,
    maxPriorityFeePerGas: maxFeePerGas,
    to: address(0xffff),
    value: 1n,
    data: EMPTY_BYTES,
    accessList: [],
    ...fields,
  }
  const signature = sign(keccak256(signingPayload(unsigned)), privateKey(n))
  const yParity = signature[64] === 0 ? 0 : 1
  return encodeTransaction(unsigned, { yParity, r: signature.subarray(0, 32), s: signature.subarray(32, 64) }).raw
}
