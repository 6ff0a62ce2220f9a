import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import { serializeTransaction, type UnsignedTransaction } from '../../../primitives/transaction/transaction-encoding.ts'
import type { CallMessage } from '../message/call-args.ts'

/** Defaults for absent members of a call. */
interface TransactionDefaults {
  readonly chainId: number
  readonly nonce: Transaction['nonce']
  readonly gasLimit: bigint
}

const typeOf = ({ gasPrice, accessList, authorizationList }: CallMessage): 0 | 1 | 2 | 4 => {
  if (authorizationList !== undefined) return 4
  if (gasPrice === undefined) return 2
  return accessList === undefined ? 0 : 1
}

/**
 * Returns the transaction of a call in a simulated block: a plain object with a zero signature, and a hash computed from its
 * content as usual. Without fees it offers none; a legacy price makes it a legacy transaction.
 */
export const simulatedTransaction = (message: CallMessage, defaults: TransactionDefaults): Transaction => {
  const { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = message
  const unsigned: UnsignedTransaction = {
    type: typeOf(message),
    ...defaults,
    maxFeePerGas: gasPrice ?? maxFeePerGas,
    maxPriorityFeePerGas: gasPrice ?? maxPriorityFeePerGas,
    to: message.to,
    value: message.value,
    data: message.data,
    accessList: message.accessList ?? [],
    ...(message.authorizationList !== undefined && { authorizationList: message.authorizationList }),
  }
  const raw = serializeTransaction(unsigned, { yParity: 0, r: EMPTY_BYTES, s: EMPTY_BYTES })
  return { ...unsigned, v: 0n, r: EMPTY_BYTES, s: EMPTY_BYTES, raw, hash: keccak256Hex(raw), from: message.from }
}
