import type { IncludedReceipt, IncludedTransaction, StreamedReceipt } from '../../chain/store/types.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import { jsonData, jsonHexOrNull, jsonQuantity } from './hex.ts'
import { logJson, logPieces } from './log.ts'

/** Receipt object of docs/interface.md#receipt. */
export const receiptJson = (placed: IncludedReceipt): string => {
  const at = placeOf(placed)
  const logs = placed.receipt.logs.map((log, i) => logJson(log, { ...at, logIndex: placed.firstLog + i }))
  return `${beforeLogs(placed)}${logs.join(',')}${afterLogs(placed.receipt)}`
}

/** Receipt object in pieces of bounded length, while its logs are read. */
export function* receiptPieces(placed: StreamedReceipt): Generator<string> {
  const at = placeOf(placed)
  yield beforeLogs(placed)
  let logIndex = placed.firstLog
  for (const log of placed.logs) {
    if (logIndex > placed.firstLog) yield ','
    yield* logPieces(log, { ...at, logIndex: logIndex++ })
  }
  yield afterLogs({ ...placed.receipt, logsBloom: placed.bloom() })
}

const placeOf = ({ blockHash, blockNumber, blockTimestamp, transaction, index }: IncludedTransaction) => ({
  blockHash,
  blockNumber,
  blockTimestamp,
  transactionHash: transaction.hash,
  transactionIndex: index,
})

type Outcome = StreamedReceipt['receipt']

const beforeLogs = ({
  receipt,
  transaction,
  blockHash,
  blockNumber,
  index,
}: IncludedTransaction & { readonly receipt: Outcome }): string =>
  `{"transactionHash":"${transaction.hash}","transactionIndex":${jsonQuantity(index)},"blockHash":"${blockHash}","blockNumber":${jsonQuantity(blockNumber)},"from":"${transaction.from}","to":${jsonHexOrNull(transaction.to)},"cumulativeGasUsed":${jsonQuantity(receipt.cumulativeGasUsed)},"effectiveGasPrice":${jsonQuantity(receipt.effectiveGasPrice)},"gasUsed":${jsonQuantity(receipt.gasUsed)},"contractAddress":${jsonHexOrNull(receipt.contractAddress)},"logs":[`

const afterLogs = (receipt: Outcome & Pick<Receipt, 'logsBloom'>): string =>
  `],"logsBloom":${jsonData(receipt.logsBloom)},"type":${jsonQuantity(receipt.type)},${outcomeMember(receipt)}${blobMembers(receipt)}}`

const outcomeMember = (receipt: Outcome): string =>
  receipt.status === undefined ? `"root":${jsonHexOrNull(receipt.root ?? null)}` : `"status":"0x${receipt.status}"`

const blobMembers = (receipt: Outcome): string =>
  (receipt.blobGasUsed === undefined ? '' : `,"blobGasUsed":${jsonQuantity(receipt.blobGasUsed)}`) +
  (receipt.blobGasPrice === undefined ? '' : `,"blobGasPrice":${jsonQuantity(receipt.blobGasPrice)}`)
