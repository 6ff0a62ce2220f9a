import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { IncludedTransaction } from '../../chain/store/types.ts'
import {
  type AccessListEntry,
  type Authorization,
  effectiveGasPrice,
  type Transaction,
} from '../../primitives/transaction/transaction.ts'
import type { UnsignedTransaction } from '../../primitives/transaction/transaction-encoding.ts'
import { jsonData, jsonHexOrNull, jsonQuantity, quantityOfBytes, toQuantities } from './hex.ts'

/** Position of a transaction in a block; null while it is pending. */
type Position = Omit<IncludedTransaction, 'transaction'>

/** Transaction object of docs/interface.md#transaction. */
export const transactionJson = (transaction: Transaction, position: Position | null): string => {
  const typed = transaction.type === 0 ? protection(transaction) : typedMembers(transaction)
  const place =
    position === null
      ? '"blockHash":null,"blockNumber":null,"blockTimestamp":null,"transactionIndex":null'
      : `"blockHash":"${position.blockHash}","blockNumber":${jsonQuantity(position.blockNumber)},"blockTimestamp":${jsonQuantity(position.blockTimestamp)},"transactionIndex":${jsonQuantity(position.index)}`
  const price = position === null ? transaction.maxFeePerGas : effectiveGasPrice(transaction, position.baseFeePerGas)
  return `{${place},"from":"${transaction.from}","gas":${jsonQuantity(transaction.gasLimit)},"gasPrice":${jsonQuantity(price)}${typed},"hash":"${transaction.hash}","input":${jsonData(transaction.data)},"nonce":${jsonQuantity(transaction.nonce)},"to":${jsonHexOrNull(transaction.to)},"value":${jsonQuantity(transaction.value)},"type":"0x${transaction.type}","v":${jsonQuantity(transaction.v)},"r":"${quantityOfBytes(transaction.r)}","s":"${quantityOfBytes(transaction.s)}"}`
}

/** Members of a transaction that is to be signed, as a call names them. */
export const encodeUnsigned = (transaction: UnsignedTransaction, from: Hex): object => {
  const { type, chainId, gasLimit, maxFeePerGas, accessList, authorizationList } = transaction
  return {
    from,
    to: transaction.to,
    ...toQuantities({ type, nonce: transaction.nonce, gas: gasLimit, value: transaction.value }),
    input: bytesToHex(transaction.data),
    ...(chainId !== undefined && { chainId: toQuantity(chainId) }),
    ...(type < 2
      ? { gasPrice: toQuantity(maxFeePerGas) }
      : toQuantities({ maxFeePerGas, maxPriorityFeePerGas: transaction.maxPriorityFeePerGas })),
    ...(type > 0 && { accessList }),
    ...(authorizationList && { authorizationList: JSON.parse(authorizationsJson(authorizationList)) }),
  }
}

/** chainId of a legacy transaction with replay protection (EIP-155), as other clients return it. */
const protection = ({ chainId }: Transaction): string =>
  chainId === undefined ? '' : `,"chainId":${jsonQuantity(chainId)}`

const typedMembers = (transaction: Transaction): string => {
  const base = `,"chainId":${jsonQuantity(transaction.chainId ?? 0)},"accessList":${accessListJson(transaction.accessList)},"yParity":${jsonQuantity(transaction.v)}`
  if (transaction.type === 1) return base
  const fees = `,"maxFeePerGas":${jsonQuantity(transaction.maxFeePerGas)},"maxPriorityFeePerGas":${jsonQuantity(transaction.maxPriorityFeePerGas)}`
  if (transaction.type === 3)
    return `${base}${fees},"maxFeePerBlobGas":${jsonQuantity(transaction.maxFeePerBlobGas ?? 0n)},"blobVersionedHashes":${JSON.stringify(transaction.blobVersionedHashes ?? [])}`
  if (transaction.type === 4)
    return `${base}${fees},"authorizationList":${authorizationsJson(transaction.authorizationList ?? [])}`
  return base + fees
}

const accessListJson = (list: readonly AccessListEntry[]): string =>
  `[${list.map(({ address, storageKeys }) => `{"address":"${address}","storageKeys":${JSON.stringify(storageKeys)}}`).join(',')}]`

const authorizationsJson = (list: readonly Authorization[]): string => `[${list.map(authorizationJson).join(',')}]`

const authorizationJson = (item: Authorization): string =>
  `{"chainId":${jsonQuantity(item.chainId)},"address":"${item.address}","nonce":${jsonQuantity(item.nonce)},"yParity":${jsonQuantity(item.yParity)},"r":"${quantityOfBytes(item.r)}","s":"${quantityOfBytes(item.s)}"}`
