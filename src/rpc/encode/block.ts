import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { includedTransactionFromBlock } from '../../chain/store/included.ts'
import type { ChainBlock, SyncStatus } from '../../chain/store/types.ts'
import type { Withdrawal } from '../../primitives/ethereum-body.ts'
import { type Header, headerHash } from '../../primitives/header.ts'
import type { ProofHeaderInfo } from '../ports.ts'
import { jsonData, jsonQuantity, toQuantities } from './hex.ts'
import { transactionJson } from './transaction.ts'

/** Stage of a block: committed, or pending without number and hash (docs/interface.md#block). */
type BlockStage = 'final' | 'pending'

/** Every block of this chain adds 1 (docs/design/blocks.md#header); a recorded chain may have proof-of-work blocks. */
const totalDifficulty = ({ header, ethereum }: ChainBlock): bigint | number =>
  ethereum?.totalDifficulty ?? header.number + 1

/** Members of docs/interface.md#block without transactions, uncles and braces. */
const headerMembers = (block: ChainBlock, stage: BlockStage): string => {
  const { header } = block
  const name =
    stage === 'pending' ? '"number":null,"hash":null' : `"number":${jsonQuantity(header.number)},"hash":"${block.hash}"`
  const baseFee = header.baseFeePerGas === undefined ? '' : `"baseFeePerGas":${jsonQuantity(header.baseFeePerGas)},`
  return `${name},"parentHash":"${header.parentHash}","proposer":"${block.extra.proposer}","miner":"${header.miner}","nonce":"${header.nonce}","mixHash":"${header.mixHash}","sha3Uncles":"${header.sha3Uncles}","logsBloom":${jsonData(header.logsBloom)},"transactionsRoot":"${header.transactionsRoot}","stateRoot":"${header.stateRoot}","receiptsRoot":"${header.receiptsRoot}","difficulty":${jsonQuantity(header.difficulty)},"totalDifficulty":${jsonQuantity(totalDifficulty(block))},${baseFee}"extraData":${jsonData(header.extraData)},"size":${jsonQuantity(block.size)},"gasLimit":${jsonQuantity(header.gasLimit)},"gasUsed":${jsonQuantity(header.gasUsed)},"timestamp":${jsonQuantity(header.timestamp)}${laterMembers(header)}`
}

/** Members of the forks that only a custom genesis activates. */
const laterMembers = (header: Header): string => {
  let out = ''
  if (header.withdrawalsRoot !== undefined) out += `,"withdrawalsRoot":"${header.withdrawalsRoot}"`
  if (header.blobGasUsed !== undefined) out += `,"blobGasUsed":${jsonQuantity(header.blobGasUsed)}`
  if (header.excessBlobGas !== undefined) out += `,"excessBlobGas":${jsonQuantity(header.excessBlobGas)}`
  if (header.parentBeaconBlockRoot !== undefined) out += `,"parentBeaconBlockRoot":"${header.parentBeaconBlockRoot}"`
  if (header.requestsHash !== undefined) out += `,"requestsHash":"${header.requestsHash}"`
  return out
}

const fullTransaction = (block: ChainBlock, index: number): string => {
  const placed = includedTransactionFromBlock(block, index)
  return transactionJson(placed.transaction, placed)
}

const transactionsJson = (block: ChainBlock, full: boolean, stage: BlockStage): string => {
  const { transactions } = block
  if (!full) return transactions.length === 0 ? '' : `"${transactions.map(({ hash }) => hash).join('","')}"`
  if (stage === 'pending') return transactions.map(transaction => transactionJson(transaction, null)).join(',')
  return transactions.map((_, index) => fullTransaction(block, index)).join(',')
}

const bodyMembers = ({ ethereum }: ChainBlock): string => {
  if (ethereum === undefined) return '"uncles":[]'
  const { uncles, withdrawals } = ethereum
  const hashes = `"uncles":${JSON.stringify(uncles.map(headerHash))}`
  return withdrawals === undefined ? hashes : `${hashes},"withdrawals":[${withdrawals.map(withdrawalJson).join(',')}]`
}

/** The amount is in gwei (EIP-4895). */
const withdrawalJson = ({ index, validatorIndex, address, amountGwei }: Withdrawal): string =>
  `{"index":${jsonQuantity(index)},"validatorIndex":${jsonQuantity(validatorIndex)},"address":"${address}","amount":${jsonQuantity(amountGwei)}}`

/** Block object of docs/interface.md#block; `more` holds further members, each preceded by a comma. */
export const blockJson = (block: ChainBlock, full: boolean, stage: BlockStage = 'final', more = ''): string =>
  `{${headerMembers(block, stage)},"transactions":[${transactionsJson(block, full, stage)}],${bodyMembers(block)}${more}}`

/** Block object with full transactions, one piece per transaction. */
export function* blockPieces(block: ChainBlock): Generator<string> {
  yield `{${headerMembers(block, 'final')},"transactions":[`
  for (let i = 0; i < block.transactions.length; i++) yield `${i === 0 ? '' : ','}${fullTransaction(block, i)}`
  yield `],${bodyMembers(block)}}`
}

/** Header object of newHeads and eth_getHeaderBy*. */
export const headerJson = (block: ChainBlock, stage: BlockStage = 'final'): string => `{${headerMembers(block, stage)}}`

/** Returns a proof header as clients see it. */
export const encodeProofHeaderInfo = (header: ProofHeaderInfo): object => {
  const { number, anchorNumber, timestamp, includedIn } = header
  const final = includedIn === null ? null : toQuantity(includedIn)
  return { ...header, ...toQuantities({ number, anchorNumber, timestamp }), includedIn: final }
}

/** Sync status of eth_syncing and of the syncing subscription; the last two members are present only during snapshot sync. */
export const encodeSyncStatus = ({ states, ...blocks }: SyncStatus): Record<string, Hex> => ({
  ...toQuantities(blocks),
  ...(states && toQuantities({ pulledStates: states.pulled, knownStates: states.known })),
})
