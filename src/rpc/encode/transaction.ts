import type { IncludedTransaction } from '../../chain/types.ts'
import {
  type AccessListEntry,
  type Authorization,
  effectiveGasPrice,
  type Transaction,
} from '../../primitives/transaction/transaction.ts'
import { jsonData, jsonHexOrNull, jsonQuantity, quantityOfBytes } from './hex.ts'

/** Position of a transaction in a block; null while it is pending. */
export type Position = Omit<IncludedTransaction, 'transaction'>

/** Transaction object of docs/interface.md#transaction; typed transactions add members (docs/design/rpc.md#objects). */
export const transactionJson = (transaction: Transaction, position: Position | null): string => {
  const typed = transaction.type === 0 ? protection(transaction) : typedMembers(transaction)
  const place =
    position === null
      ? '"blockHash":null,"blockNumber":null,"transactionIndex":null'
      : `"blockHash":"${position.blockHash}","blockNumber":${jsonQuantity(position.blockNumber)},"transactionIndex":${jsonQuantity(position.index)}`
  const price = position === null ? transaction.maxFeePerGas : effectiveGasPrice(transaction, position.baseFeePerGas)
  return `{${place},"from":"${transaction.from}","gas":${jsonQuantity(transaction.gasLimit)},"gasPrice":${jsonQuantity(price)}${typed},"hash":"${transaction.hash}","input":${jsonData(transaction.data)},"nonce":${jsonQuantity(transaction.nonce)},"to":${jsonHexOrNull(transaction.to)},"value":${jsonQuantity(transaction.value)},"type":"0x${transaction.type}","v":${jsonQuantity(transaction.v)},"r":"${quantityOfBytes(transaction.r)}","s":"${quantityOfBytes(transaction.s)}"}`
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
    return `${base}${fees},"authorizationList":[${(transaction.authorizationList ?? []).map(authorizationJson).join(',')}]`
  return base + fees
}

const accessListJson = (list: readonly AccessListEntry[]): string =>
  `[${list.map(({ address, storageKeys }) => `{"address":"${address}","storageKeys":${JSON.stringify(storageKeys)}}`).join(',')}]`

const authorizationJson = (item: Authorization): string =>
  `{"chainId":${jsonQuantity(item.chainId)},"address":"${item.address}","nonce":${jsonQuantity(item.nonce)},"yParity":${jsonQuantity(item.yParity)},"r":"${quantityOfBytes(item.r)}","s":"${quantityOfBytes(item.s)}"}`
