import type { IncludedReceipt } from '../../chain/types.ts'
import type { Receipt } from '../../primitives/receipt.ts'
import { jsonData, jsonHexOrNull, jsonQuantity } from './hex.ts'
import { type LogPosition, logJson } from './log.ts'

/** Receipt object of docs/interface.md#receipt. */
export const receiptJson = (placed: IncludedReceipt): string => {
  const at = placeOf(placed)
  const logs = placed.receipt.logs.map((log, i) => logJson(log, { ...at, logIndex: placed.firstLog + i }))
  return `${beforeLogs(placed)}${logs.join(',')}${afterLogs(placed)}`
}

/** Receipt object in pieces, one per log. */
export function* receiptPieces(placed: IncludedReceipt): Generator<string> {
  const at = placeOf(placed)
  yield beforeLogs(placed)
  for (const [i, log] of placed.receipt.logs.entries())
    yield `${i === 0 ? '' : ','}${logJson(log, { ...at, logIndex: placed.firstLog + i })}`
  yield afterLogs(placed)
}

const placeOf = ({ blockHash, blockNumber, transaction, index }: IncludedReceipt): Omit<LogPosition, 'logIndex'> => ({
  blockHash,
  blockNumber,
  transactionHash: transaction.hash,
  transactionIndex: index,
})

const beforeLogs = ({ receipt, transaction, blockHash, blockNumber, index }: IncludedReceipt): string =>
  `{"transactionHash":"${transaction.hash}","transactionIndex":${jsonQuantity(index)},"blockHash":"${blockHash}","blockNumber":${jsonQuantity(blockNumber)},"from":"${transaction.from}","to":${jsonHexOrNull(transaction.to)},"cumulativeGasUsed":${jsonQuantity(receipt.cumulativeGasUsed)},"effectiveGasPrice":${jsonQuantity(receipt.effectiveGasPrice)},"gasUsed":${jsonQuantity(receipt.gasUsed)},"contractAddress":${jsonHexOrNull(receipt.contractAddress)},"logs":[`

const afterLogs = ({ receipt }: IncludedReceipt): string =>
  `],"logsBloom":${jsonData(receipt.logsBloom)},"type":${jsonQuantity(receipt.type)},${outcomeMember(receipt)}${blobMembers(receipt)}}`

const outcomeMember = (receipt: Receipt): string =>
  receipt.status === undefined ? `"root":${jsonHexOrNull(receipt.root ?? null)}` : `"status":"0x${receipt.status}"`

const blobMembers = (receipt: Receipt): string =>
  (receipt.blobGasUsed === undefined ? '' : `,"blobGasUsed":${jsonQuantity(receipt.blobGasUsed)}`) +
  (receipt.blobGasPrice === undefined ? '' : `,"blobGasPrice":${jsonQuantity(receipt.blobGasPrice)}`)
