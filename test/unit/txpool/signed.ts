import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { signedBy } from '../../support/signed-by.ts'
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
  return signedBy(unsigned, privateKey(n)).raw
}
