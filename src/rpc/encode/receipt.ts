import type { Block } from '../../primitives/block.ts'
import type { Receipt } from '../../primitives/receipt.ts'
import { assert } from '../../util/assert.ts'
import { jsonData, jsonHexOrNull, jsonQuantity } from './hex.ts'
import { logJson } from './log.ts'

/** The receipt object of SPEC 2.5; `firstLog` is the block-wide index of its first log. */
export const receiptJson = (block: Block, receipt: Receipt, index: number, firstLog: number): string => {
  const transaction = block.transactions[index]
  assert(transaction !== undefined, 'a receipt has its transaction')
  const { hash, header } = block
  const logs = receipt.logs.map((log, i) =>
    logJson(log, {
      blockHash: hash,
      blockNumber: header.number,
      transactionHash: transaction.hash,
      transactionIndex: index,
      logIndex: firstLog + i,
    }),
  )
  const outcome =
    receipt.status === undefined ? `"root":${jsonHexOrNull(receipt.root ?? null)}` : `"status":"0x${receipt.status}"`
  return `{"transactionHash":"${transaction.hash}","transactionIndex":${jsonQuantity(index)},"blockHash":"${hash}","blockNumber":${jsonQuantity(header.number)},"from":"${transaction.from}","to":${jsonHexOrNull(transaction.to)},"cumulativeGasUsed":${jsonQuantity(receipt.cumulativeGasUsed)},"effectiveGasPrice":${jsonQuantity(receipt.effectiveGasPrice)},"gasUsed":${jsonQuantity(receipt.gasUsed)},"contractAddress":${jsonHexOrNull(receipt.contractAddress)},"logs":[${logs.join(',')}],"logsBloom":${jsonData(receipt.logsBloom)},"type":${jsonQuantity(receipt.type)},${outcome}${blobMembers(receipt)}}`
}

const blobMembers = (receipt: Receipt): string =>
  (receipt.blobGasUsed === undefined ? '' : `,"blobGasUsed":${jsonQuantity(receipt.blobGasUsed)}`) +
  (receipt.blobGasPrice === undefined ? '' : `,"blobGasPrice":${jsonQuantity(receipt.blobGasPrice)}`)

/** One receipt per transaction, in order. */
export const receiptsOf = (block: Block, receipts: readonly Receipt[]): string[] => {
  let firstLog = 0
  return receipts.map((receipt, index) => {
    const json = receiptJson(block, receipt, index, firstLog)
    firstLog += receipt.logs.length
    return json
  })
}
