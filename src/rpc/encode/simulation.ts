import { assert } from '@tandem/base/assert.ts'
import type { SimulatedChainBlock } from '../../chain/simulation-service.ts'
import type { SimulatedCall } from '../../evm/calls/simulate/types.ts'
import type { Block } from '../../primitives/block.ts'
import { CODES, revertError } from '../errors.ts'
import { blockJson } from './block.ts'
import { jsonData, jsonQuantity } from './hex.ts'
import { logJson } from './log.ts'

const errorMember = ({ failure, output }: SimulatedCall): string => {
  if (failure === null) return ''
  const { code, message, data } =
    failure.kind === 'revert' ? revertError(output) : { code: CODES.execution, message: failure.reason }
  return `,"error":${JSON.stringify({ code, message, data })}`
}

const callJson = (block: Block, call: SimulatedCall, index: number, firstLog: number): string => {
  const transaction = block.transactions[index]
  assert(transaction !== undefined, 'a simulated call has its transaction')
  const logs = call.logs.map((log, i) =>
    logJson(log, {
      blockHash: block.hash,
      blockNumber: block.header.number,
      transactionHash: transaction.hash,
      transactionIndex: index,
      logIndex: firstLog + i,
    }),
  )
  const returned = call.failure === null ? jsonData(call.output) : '"0x"'
  return `{"returnData":${returned},"logs":[${logs.join(',')}],"gasUsed":${jsonQuantity(call.gasUsed)},"maxUsedGas":${jsonQuantity(call.peakGas)},"status":"${call.failure === null ? '0x1' : '0x0'}"${errorMember(call)}}`
}

/** Simulated block: the block object, with the results of its transactions in `calls` (execution APIs, eth_simulateV1). */
export const simulatedBlockJson = ({ block, calls }: SimulatedChainBlock, full: boolean): string => {
  let firstLog = 0
  const answers = calls.map((call, index) => {
    const json = callJson(block, call, index, firstLog)
    firstLog += call.logs.length
    return json
  })
  return blockJson(block, full, 'final', `,"calls":[${answers.join(',')}]`)
}
