import { bigintToBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { type EvmFork, isForkSince } from '../../src/config/forks.ts'
import { keccak256, keccak256Hex } from '../../src/crypto/hash.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import {
  type AccessListEntry,
  type Authorization,
  type DecodedTransaction,
  decodeTransaction,
  type Transaction,
  withSender,
} from '../../src/primitives/transaction/transaction.ts'
import {
  encodeTransaction,
  signatureParts,
  signingPayload,
  type UnsignedTransaction,
} from '../../src/primitives/transaction/transaction-encoding.ts'
import { invalidTest } from './field-readers.ts'
import type { Fixture, FixtureAuthorization, FixturePost, FixtureTransaction } from './fixture.ts'
import { recoverTransaction } from './transaction-sender.ts'

const lower = (hex: Hex): Hex => hex.toLowerCase() as Hex

const typeOf = (tx: FixtureTransaction, hasList: boolean): DecodedTransaction['type'] => {
  if (tx.authorizationList !== undefined) return 4
  if (tx.maxFeePerBlobGas !== undefined || tx.blobVersionedHashes !== undefined) return 3
  if (tx.maxFeePerGas !== undefined) return 2
  return hasList ? 1 : 0
}

const authorizationOf = (item: FixtureAuthorization): Authorization => ({
  chainId: BigInt(item.chainId),
  address: lower(item.address),
  nonce: BigInt(item.nonce),
  yParity: Number(BigInt(item.yParity ?? item.v ?? 0)),
  r: bigintToBytes(BigInt(item.r)),
  s: bigintToBytes(BigInt(item.s)),
})

const accessListOf = (list: readonly AccessListEntry[]): AccessListEntry[] =>
  list.map(({ address, storageKeys }) => ({
    address: lower(address),
    storageKeys: storageKeys.map(key => toWord(BigInt(key))),
  }))

/** Picks an item of one of the test's lists by the entry's index. */
const pick = (list: readonly Hex[], at: number, name: string): Hex => {
  const found = list[at]
  if (found === undefined) throw invalidTest(`transaction.${name}`, `has no place ${at}, which an entry names`)
  return found.replace('0x:bigint ', '') as Hex
}

const fieldsOf = ({ transaction }: Fixture, { indexes }: FixturePost, fork: EvmFork): UnsignedTransaction => {
  const { gasPrice = '0x0', maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice, to } = transaction
  const accessList = transaction.accessLists?.[indexes.data]
  const type = typeOf(transaction, Boolean(accessList))
  return {
    type,
    // EIP-155 came with Spurious Dragon.
    chainId: isForkSince(fork, 'spuriousDragon') ? 1 : undefined,
    nonce: uint64FromBigint(BigInt(transaction.nonce)),
    gasLimit: BigInt(pick(transaction.gasLimit, indexes.gas, 'gasLimit')),
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
    to: to === '' ? null : lower(to),
    value: BigInt(pick(transaction.value, indexes.value, 'value')),
    data: hexToBytes(pick(transaction.data, indexes.data, 'data')),
    accessList: accessListOf(accessList ?? []),
    ...(type === 4 && { authorizationList: (transaction.authorizationList ?? []).map(authorizationOf) }),
    ...(type === 3 && {
      maxFeePerBlobGas: BigInt(transaction.maxFeePerBlobGas ?? 0),
      blobVersionedHashes: (transaction.blobVersionedHashes ?? []).map(lower),
    }),
  }
}

/**
 * Returns the transaction of one entry: from its bytes, or from the fields, signed. Throws CodedError where no encoding can hold the
 * fields or the signature is invalid: the transaction is refused. Throws STATE_TEST_INVALID where the entry refers to missing items.
 */
export const transactionFromTest = (fixture: Fixture, post: FixturePost, fork: EvmFork): Transaction => {
  if (post.txbytes !== undefined) return recoverTransaction(decodeTransaction(hexToBytes(post.txbytes)))
  const unsigned = fieldsOf(fixture, post, fork)
  const secret = hexToBytes(fixture.transaction.secretKey)
  const signature = sign(keccak256(signingPayload(unsigned)), secret)
  const decoded = encodeTransaction(unsigned, signatureParts(signature))
  return withSender(decoded, { hash: keccak256Hex(decoded.raw), from: addressFromPrivateKey(secret) })
}
