import type { Hex } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import {
  type BlockInternalTransfer,
  type BlockRecord,
  type FailedExecution,
  INTERNAL_KINDS,
  type ProofRecord,
} from '../store/records.ts'
import { invalidResult, type NodeValue } from './node-value.ts'

/* Values from the results of JSON-RPC methods, whose types are those of types.ts. Each read throws NODE_ANSWER_INVALID. */

export const headerFrom = (block: NodeValue) => {
  const hex = (name: string, bytes: number) => block.member(name).hex(bytes)
  const miner = hex('miner', 20)
  return {
    number: block.member('number').integer(),
    hash: hex('hash', 32),
    parentHash: hex('parentHash', 32),
    timestamp: block.member('timestamp').integer(),
    /** Member that proposed the block; the miner on chains without proposers. */
    proposer: block.member('proposer').orNull(value => value.hex(20)) ?? miner,
    miner,
    stateRoot: hex('stateRoot', 32),
    transactionsRoot: hex('transactionsRoot', 32),
    receiptsRoot: hex('receiptsRoot', 32),
    extraData: block.member('extraData').data(),
    gasLimit: block.member('gasLimit').quantity(),
    gasUsed: block.member('gasUsed').quantity(),
    /** 0n before London. */
    baseFeePerGas: block.member('baseFeePerGas').orNull(value => value.quantity()) ?? 0n,
  }
}

/** The block with a number, with whole transactions. */
export const blockFrom = (value: NodeValue, number: number) => {
  const header = headerFrom(value)
  if (header.number !== number) throw invalidResult(`block ${header.number} instead of ${number}`)
  return {
    ...header,
    size: value.member('size').integer(),
    transactions: value.member('transactions').list(transactionFrom),
  }
}

export const transactionFrom = (value: NodeValue) => {
  const type = value.member('type').integer()
  const price = (name: string): bigint => value.member(type >= 2 ? name : 'gasPrice').quantity()
  return {
    hash: value.member('hash').hex(32),
    type,
    from: value.member('from').hex(20),
    to: value.member('to').orNull(address => address.hex(20)),
    nonce: uint64FromBigint(value.member('nonce').quantity()),
    gasLimit: value.member('gas').quantity(),
    /** Legacy and type 1: both are gasPrice. */
    maxFeePerGas: price('maxFeePerGas'),
    maxPriorityFeePerGas: price('maxPriorityFeePerGas'),
    value: value.member('value').quantity(),
    data: value.member('input').bytes(),
    accessList: value.member('accessList').orNull(accessListFrom) ?? [],
    ...(type === 4 && { authorizationList: value.member('authorizationList').list(authorizationFrom) }),
    v: value.member('v').quantity(),
    /** Big-endian, without leading zeros. */
    r: value.member('r').word(),
    s: value.member('s').word(),
  }
}

const accessListFrom = (list: NodeValue) =>
  list.list(entry => ({
    address: entry.member('address').hex(20),
    storageKeys: entry.member('storageKeys').hexes(32),
  }))

/** Authorization to run other code for an account, as signed (EIP-7702). */
export const authorizationFrom = (value: NodeValue) => ({
  /** 0: of any chain. */
  chainId: value.member('chainId').quantity(),
  /** Account whose code runs; the zero address ends the delegation. */
  address: value.member('address').hex(20),
  nonce: value.member('nonce').quantity(),
  yParity: value.member('yParity').integer(),
  r: value.member('r').word(),
  s: value.member('s').word(),
})

export const logFrom = (value: NodeValue) => ({
  address: value.member('address').hex(20),
  topics: value.member('topics').hexes(32),
  data: value.member('data').bytes(),
})

/** Log with its place in the chain. */
export const logEntryFrom = (value: NodeValue) => ({
  ...logFrom(value),
  blockNumber: value.member('blockNumber').integer(),
  blockHash: value.member('blockHash').hex(32),
  transactionHash: value.member('transactionHash').hex(32),
  transactionIndex: value.member('transactionIndex').integer(),
  logIndex: value.member('logIndex').integer(),
})

export const receiptFrom = (value: NodeValue) => {
  const status = value.member('status')
  return {
    // A transaction before Byzantium has none.
    ...(!status.isNull && { status: status.integer() === 1 ? (1 as const) : (0 as const) }),
    cumulativeGasUsed: value.member('cumulativeGasUsed').quantity(),
    gasUsed: value.member('gasUsed').quantity(),
    effectiveGasPrice: value.member('effectiveGasPrice').quantity(),
    contractAddress: value.member('contractAddress').orNull(address => address.hex(20)),
    logs: value.member('logs').list(logFrom),
  }
}

/** Receipts of a block; undefined when they are not those of its transactions. */
export const receiptsFrom = (value: NodeValue, { hash, transactions }: ReturnType<typeof blockFrom>) => {
  const items = value.items()
  // On a development chain the node may have another block at the number by now.
  if (items.length !== transactions.length) return undefined
  if (items.some(item => item.member('blockHash').hex(32) !== hash)) return undefined
  return value.list(receiptFrom)
}

/** Failure in native_getFailedTransactions, behind that of the transaction `before`. */
export const failedFrom = (value: NodeValue, before: number): FailedExecution => {
  const transactionIndex = value.member('transactionIndex').integer()
  if (transactionIndex <= before) throw invalidResult(`the failure of transaction ${transactionIndex} comes too late`)
  return {
    transactionIndex,
    error: value.member('error').text(),
    output: new Uint8Array(value.member('output').bytes().subarray(0, EXPLORER_LIMITS.node.failureBytes)),
  }
}

/** Internal transfer in native_getInternalTransfers, of a block with so many transactions. */
export const internalTransferFrom = (value: NodeValue, transactions: number): BlockInternalTransfer => {
  const type = value.member('type').text()
  const kind = INTERNAL_KINDS.find(known => known === type)
  const transactionIndex = value.member('transactionIndex').integer()
  if (kind === undefined || transactionIndex >= transactions)
    throw invalidResult('an internal transfer of another kind or transaction')
  return {
    transactionIndex,
    kind,
    from: value.member('from').hex(20),
    to: value.member('to').hex(20),
    value: value.member('value').quantity(),
  }
}

const HASHES = 2n ** 256n

/** Proof header in native_getProofHeaderRange. */
export const proofFrom = (header: NodeValue): ProofRecord => ({
  height: header.member('number').integer(),
  id: header.member('id').hex(32),
  miner: header.member('miner').hex(20),
  timestamp: header.member('timestamp').integer(),
  difficulty: HASHES / (BigInt(header.member('target').hex(32)) + 1n),
  nonce: header.member('nonce').data(),
  algorithm: header.member('algorithm').text(),
})

/** Number of the block that made a proof header final; undefined before. */
export const inclusionOf = (header: NodeValue): number | undefined =>
  header.member('includedIn').orNull(number => number.integer()) ?? undefined

/** Division of a block's fees, and its part in what its cycle mints, wei. */
export type BlockShares = Pick<
  BlockRecord,
  'cycle' | 'feesWei' | 'burntWei' | 'mintedWei' | 'proposerWei' | 'minerWei' | 'minerCredits'
>

/** Shares in native_getRewardShares. */
export const sharesFrom = (value: NodeValue): BlockShares => {
  const wei = (name: string) => value.member(name).quantity()
  return {
    cycle: value.member('cycle').integer(),
    feesWei: wei('totalFee'),
    burntWei: wei('burntFee'),
    mintedWei: wei('minted'),
    proposerWei: wei('proposer') + wei('union'),
    minerWei: wei('miner'),
    minerCredits: value
      .member('miners')
      .entries()
      .map(([address, amount]) => ({ address: address as Hex, amountWei: amount.quantity() })),
  }
}
