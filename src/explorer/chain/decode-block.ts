import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import type { ChainBlock, LogEntry } from '../../chain/types.ts'
import { decodeExtraData } from '../../primitives/extra-data.ts'
import { type Header, headerHash } from '../../primitives/header.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { NodeAnswer } from './node-answer.ts'
import { remoteNodeError } from './node-error.ts'

/* Blocks and receipts from the objects of eth_getBlockByNumber and eth_getBlockReceipts. Each read throws NODE_ANSWER_INVALID. */

export const headerFromAnswer = (block: NodeAnswer): Header => {
  const hex = (name: string, bytes: number) => block.member(name).hex(bytes)
  const later = (name: string) => (block.member(name).isNull ? {} : { [name]: hex(name, 32) })
  const gas = (name: string) => (block.member(name).isNull ? {} : { [name]: block.member(name).quantity() })
  return {
    parentHash: hex('parentHash', 32),
    sha3Uncles: hex('sha3Uncles', 32),
    miner: hex('miner', 20),
    stateRoot: hex('stateRoot', 32),
    transactionsRoot: hex('transactionsRoot', 32),
    receiptsRoot: hex('receiptsRoot', 32),
    logsBloom: block.member('logsBloom').bytes(),
    difficulty: block.member('difficulty').quantity(),
    number: block.member('number').integer(),
    gasLimit: block.member('gasLimit').quantity(),
    gasUsed: block.member('gasUsed').quantity(),
    timestamp: block.member('timestamp').integer(),
    extraData: block.member('extraData').bytes(),
    mixHash: hex('mixHash', 32),
    nonce: hex('nonce', 8),
    ...gas('baseFeePerGas'),
    ...later('withdrawalsRoot'),
    ...gas('blobGasUsed'),
    ...gas('excessBlobGas'),
    ...later('parentBeaconBlockRoot'),
    ...later('requestsHash'),
  }
}

/** The block with a number, with whole transactions. Its hash must be that of its header. */
export const blockFromAnswer = (answer: NodeAnswer, number: number): ChainBlock => {
  const header = headerFromAnswer(answer)
  if (header.number !== number)
    throw remoteNodeError({ code: 'NODE_ANSWER_INVALID', reason: `block ${header.number} instead of ${number}` })
  const hash = answer.member('hash').hex(32)
  if (headerHash(header) !== hash)
    throw remoteNodeError({
      code: 'NODE_ANSWER_INVALID',
      reason: `block ${header.number} has another hash than its header`,
    })
  return {
    header,
    hash,
    extra: decodeExtraData(header.extraData),
    transactions: answer.member('transactions').items().map(transactionFromAnswer),
    proofHeaders: [],
    evidence: [],
    size: answer.member('size').integer(),
  }
}

const transactionFromAnswer = (answer: NodeAnswer): Transaction => {
  const type = answer.member('type').integer() as Transaction['type']
  const chainId = answer.member('chainId')
  const to = answer.member('to')
  const fee = (name: string): bigint => answer.member(type >= 2 ? name : 'gasPrice').quantity()
  const lists = answer.member('accessList')
  return {
    type,
    chainId: chainId.isNull ? undefined : chainId.integer(),
    nonce: uint64FromBigint(answer.member('nonce').quantity()),
    gasLimit: answer.member('gas').quantity(),
    maxFeePerGas: fee('maxFeePerGas'),
    maxPriorityFeePerGas: fee('maxPriorityFeePerGas'),
    to: to.isNull ? null : to.hex(20),
    value: answer.member('value').quantity(),
    data: answer.member('input').bytes(),
    accessList: lists.isNull
      ? []
      : lists.items().map(entry => ({
          address: entry.member('address').hex(20),
          storageKeys: entry
            .member('storageKeys')
            .items()
            .map(key => key.hex(32)),
        })),
    v: answer.member('v').quantity(),
    r: answer.member('r').word(),
    s: answer.member('s').word(),
    // Nothing of the explorer reads the serialised form.
    raw: EMPTY_BYTES,
    hash: answer.member('hash').hex(32),
    from: answer.member('from').hex(20),
  }
}

const logFromAnswer = (answer: NodeAnswer): Log => ({
  address: answer.member('address').hex(20),
  topics: answer
    .member('topics')
    .items()
    .map(topic => topic.hex(32)),
  data: answer.member('data').bytes(),
})

export const logEntryFromAnswer = (answer: NodeAnswer): LogEntry => ({
  ...logFromAnswer(answer),
  blockNumber: answer.member('blockNumber').integer(),
  blockHash: answer.member('blockHash').hex(32),
  transactionHash: answer.member('transactionHash').hex(32),
  transactionIndex: answer.member('transactionIndex').integer(),
  logIndex: answer.member('logIndex').integer(),
})

const receiptFromAnswer = (answer: NodeAnswer): Receipt => {
  const contract = answer.member('contractAddress')
  const status = answer.member('status')
  return {
    type: answer.member('type').integer(),
    ...(status.isNull ? {} : { status: status.integer() === 1 ? 1 : 0 }),
    cumulativeGasUsed: answer.member('cumulativeGasUsed').quantity(),
    gasUsed: answer.member('gasUsed').quantity(),
    effectiveGasPrice: answer.member('effectiveGasPrice').quantity(),
    contractAddress: contract.isNull ? null : contract.hex(20),
    logsBloom: answer.member('logsBloom').bytes(),
    logs: answer.member('logs').items().map(logFromAnswer),
  }
}

/** Receipts of a block, which must be of its transactions. */
export const receiptsFromAnswer = (
  answer: NodeAnswer,
  { hash, transactions }: ChainBlock,
): readonly Receipt[] | undefined => {
  const items = answer.items()
  // On a development chain the node may have another block at the number by now.
  if (items.length !== transactions.length) return undefined
  if (items.some(item => item.member('blockHash').hex(32) !== hash)) return undefined
  return items.map(receiptFromAnswer)
}
