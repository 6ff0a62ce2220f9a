import type { PlacedReceipt } from '../../chain/types.ts'
import type { Receipt } from '../../primitives/receipt.ts'
import { jsonData, jsonHexOrNull, jsonQuantity } from './hex.ts'
import { logJson } from './log.ts'

/** The receipt object of SPEC 2.5. */
export const receiptJson = ({ receipt, transaction, firstLog, ...place }: PlacedReceipt): string => {
  const { blockHash, blockNumber, index } = place
  const logs = receipt.logs.map((log, i) =>
    logJson(log, {
      blockHash,
      blockNumber,
      transactionHash: transaction.hash,
      transactionIndex: index,
      logIndex: firstLog + i,
    }),
  )
  const outcome =
    receipt.status === undefined ? `"root":${jsonHexOrNull(receipt.root ?? null)}` : `"status":"0x${receipt.status}"`
  return `{"transactionHash":"${transaction.hash}","transactionIndex":${jsonQuantity(index)},"blockHash":"${blockHash}","blockNumber":${jsonQuantity(blockNumber)},"from":"${transaction.from}","to":${jsonHexOrNull(transaction.to)},"cumulativeGasUsed":${jsonQuantity(receipt.cumulativeGasUsed)},"effectiveGasPrice":${jsonQuantity(receipt.effectiveGasPrice)},"gasUsed":${jsonQuantity(receipt.gasUsed)},"contractAddress":${jsonHexOrNull(receipt.contractAddress)},"logs":[${logs.join(',')}],"logsBloom":${jsonData(receipt.logsBloom)},"type":${jsonQuantity(receipt.type)},${outcome}${blobMembers(receipt)}}`
}

const blobMembers = (receipt: Receipt): string =>
  (receipt.blobGasUsed === undefined ? '' : `,"blobGasUsed":${jsonQuantity(receipt.blobGasUsed)}`) +
  (receipt.blobGasPrice === undefined ? '' : `,"blobGasPrice":${jsonQuantity(receipt.blobGasPrice)}`)
