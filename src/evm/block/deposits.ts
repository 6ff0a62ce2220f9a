import { bytesToBigint, concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'

/** Malformed log of the deposit contract, which makes its block invalid. */
export interface DepositError {
  readonly code: 'DEPOSIT_MALFORMED'
  readonly contract: Hex
}

const DEPOSIT_TYPE = 0
/** keccak256 of `DepositEvent(bytes,bytes,bytes,bytes,bytes)`. */
const DEPOSIT_EVENT: Hex = '0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5'
const LOG_BYTES = 576
/** Offset of each field's length in the log's data, and the length: public key, withdrawal credentials, amount, signature, index. */
const FIELDS: readonly (readonly [offset: number, length: number])[] = [
  [160, 48],
  [256, 32],
  [320, 8],
  [384, 96],
  [512, 8],
]

/** Returns the deposits of a block as one request (EIP-6110): type byte and data; undefined without deposits. */
export const depositRequest = (receipts: readonly Receipt[], contract: Hex): Uint8Array | undefined => {
  const deposits = receipts.flatMap(({ logs }) =>
    logs.filter(log => log.address === contract && log.topics[0] === DEPOSIT_EVENT),
  )
  if (deposits.length === 0) return undefined
  return concatBytes(Uint8Array.of(DEPOSIT_TYPE), ...deposits.map(depositOf))
}

const depositOf = ({ data, address }: Log): Uint8Array => {
  const fields = FIELDS.map(([offset, length], index) => {
    const start = wordAt(data, 32 * index)
    if (data.byteLength !== LOG_BYTES || start !== BigInt(offset) || wordAt(data, offset) !== BigInt(length))
      throw new CodedError<DepositError>({ code: 'DEPOSIT_MALFORMED', contract: address })
    return data.subarray(offset + 32, offset + 32 + length)
  })
  return concatBytes(...fields)
}

const wordAt = (data: Uint8Array, offset: number): bigint => bytesToBigint(data.subarray(offset, offset + 32))
