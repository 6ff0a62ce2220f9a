import type { ChainBlock } from '../../chain/types.ts'
import type { ChainParams, RewardParams } from '../../config/networks.ts'
import { type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../primitives/receipt/internal-transfer.ts'
import type { ReceiptWithoutBloom } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { cycleOf, lastOfCycle } from '../../rules/council/cycle.ts'
import { assignFees } from '../../rules/money/fees.ts'
import { mintedAt, splitReward } from '../../rules/money/rewards.ts'
import { proofAlgorithmAt } from '../../rules/proof/proof-target.ts'
import { bytesToHex, type Hex, ZERO_ADDRESS } from '../../util/bytes.ts'
import type {
  BlockRecord,
  InternalRecord,
  ProofRecord,
  TransactionKind,
  TransactionRecord,
  TransferRecord,
} from '../store/records.ts'
import { transfersFromLogs } from './token-logs.ts'

/** Data of a block besides its own bytes and receipts. */
interface BlockAdditions {
  readonly internal: readonly BlockInternalTransfer[]
  readonly failed: readonly FailedExecution[]
  readonly proofs: readonly ProofRecord[]
}

/** Index record of a committed block. */
export const recordOfBlock = (
  { header, hash, size, extra, transactions }: ChainBlock,
  receipts: readonly ReceiptWithoutBloom[],
  { internal, failed, proofs }: BlockAdditions,
  params: Pick<ChainParams, 'feeShares' | 'rewards'>,
): BlockRecord => {
  const feesWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const fees = assignFees(feesWei, params.feeShares, header.miner)
  const minted = mintedShareOf(header.number, params.rewards)
  const transfers = transfersOf(receipts)
  const moving = new Set(transfers.map(({ transactionIndex }) => transactionIndex))
  return {
    number: header.number,
    hash,
    parentHash: header.parentHash,
    timestamp: header.timestamp,
    proposer: extra.proposer,
    miner: header.miner,
    gasUsed: header.gasUsed,
    gasLimit: header.gasLimit,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    size,
    feesWei,
    burntWei: fees.burnt,
    mintedWei: mintedAt(header.number, params.rewards),
    proposerWei: fees.proposer + minted.union,
    minerWei: header.miner === ZERO_ADDRESS ? 0n : fees.miner + minted.miners,
    cycle: cycleOf(header.number, params.rewards.cycleBlocks),
    transactions: transactions.map((transaction, index) =>
      recordOfTransaction(transaction, index, receipts[index] as ReceiptWithoutBloom, moving.has(index)),
    ),
    transfers,
    internal: withPositions(internal),
    failed,
    proofs,
  }
}

/** Numbers the transfers of each transaction. */
const withPositions = (transfers: readonly BlockInternalTransfer[]): readonly InternalRecord[] => {
  const counts = new Map<number, number>()
  return transfers.map(transfer => {
    const position = counts.get(transfer.transactionIndex) ?? 0
    counts.set(transfer.transactionIndex, position + 1)
    return { ...transfer, position }
  })
}

export const HASHES = 2n ** 256n

/** Index record of a proof header whose anchor has the timestamp. */
export const recordOfProof = (header: ProofHeader, timestamp: number, params: ChainParams): ProofRecord => ({
  height: header.height,
  id: proofHeaderId(header),
  miner: header.coinbase,
  timestamp,
  difficulty: HASHES / (header.target + 1n),
  nonce: bytesToHex(header.nonce),
  algorithm: proofAlgorithmAt(params, header.height),
})

/** Share of a block in what its cycle mints for miners and union; the block that ends the cycle has the remainders. */
const mintedShareOf = (number: number, rewards: RewardParams): { readonly miners: bigint; readonly union: bigint } => {
  if (number === 0) return { miners: 0n, union: 0n }
  const last = lastOfCycle(cycleOf(number, rewards.cycleBlocks), rewards.cycleBlocks)
  const { miners, union } = splitReward(mintedAt(last, rewards), rewards)
  const blocks = BigInt(rewards.cycleBlocks)
  const part = (wei: bigint): bigint => wei / blocks + (number === last ? wei % blocks : 0n)
  return { miners: part(miners), union: part(union) }
}

export const recordOfTransaction = (
  transaction: Transaction,
  index: number,
  receipt: ReceiptWithoutBloom,
  movesTokens: boolean,
): TransactionRecord => {
  const { to, nonce } = transaction
  const status = receipt.status ?? 1
  return {
    index,
    hash: transaction.hash,
    from: transaction.from,
    to,
    created: status === 1 ? receipt.contractAddress : null,
    value: transaction.value,
    gas: transaction.gasLimit,
    gasUsed: receipt.gasUsed,
    gasPrice: receipt.effectiveGasPrice,
    // Only a genesis puts an account beyond what numbers count exactly.
    nonce: typeof nonce === 'number' ? nonce : Number.MAX_SAFE_INTEGER,
    type: transaction.type,
    status,
    kind: kindOf(transaction, movesTokens),
    methodId: methodIdOf(transaction),
  }
}

const kindOf = ({ to, data }: Transaction, movesTokens: boolean): TransactionKind => {
  if (to === null) return 'create'
  if (movesTokens) return 'token'
  return data.byteLength > 0 ? 'call' : 'transfer'
}

const METHOD_BYTES = 4

const methodIdOf = ({ to, data }: Transaction): Hex | null =>
  to === null || data.byteLength < METHOD_BYTES ? null : bytesToHex(data.subarray(0, METHOD_BYTES))

const transfersOf = (receipts: readonly ReceiptWithoutBloom[]): readonly TransferRecord[] => {
  const transfers: TransferRecord[] = []
  let logIndex = 0
  receipts.forEach(({ logs }, transactionIndex) => {
    for (const log of logs) {
      transfersFromLogs(log).forEach((movement, position) => {
        transfers.push({ ...movement, token: log.address, logIndex, position, transactionIndex })
      })
      logIndex++
    }
  })
  return transfers
}
