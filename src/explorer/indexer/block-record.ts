import { bytesToHex, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { ChainBlock } from '../../chain/types.ts'
import type { ChainParams, RewardParams } from '../../config/networks.ts'
import { type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../primitives/receipt/internal-transfer.ts'
import type { ReceiptWithoutBloom } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { cycleOf, endsCycle, lastOfCycle } from '../../rules/council/cycle.ts'
import { assignFees } from '../../rules/money/fees.ts'
import { mintedAt, rewardCredits, splitReward } from '../../rules/money/rewards.ts'
import { proofAlgorithmAt } from '../../rules/proof/proof-target.ts'
import type {
  BlockRecord,
  InternalRecord,
  MinerCredit,
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
  /** Coinbases of the newest proof headers after the block; used where it ends a cycle. */
  readonly coinbases: readonly Hex[]
}

/** Index record of a committed block. */
export const recordOfBlock = (
  { header, hash, size, extra, transactions }: ChainBlock,
  receipts: readonly ReceiptWithoutBloom[],
  { internal, failed, proofs, coinbases }: BlockAdditions,
  params: Pick<ChainParams, 'feeShares' | 'rewards'>,
): BlockRecord => {
  const feesWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const fees = assignFees(feesWei, params.feeShares, header.miner)
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
    proposerWei: fees.proposer + unionShareOf(header.number, params.rewards),
    minerWei: header.miner === ZERO_ADDRESS ? 0n : fees.miner,
    minerCredits: minerCreditsOf(header.number, params.rewards, coinbases),
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

/** Share of a block in what its cycle mints for the union; the block that ends the cycle has the remainder. */
const unionShareOf = (number: number, rewards: RewardParams): bigint => {
  if (number === 0) return 0n
  const last = lastOfCycle(cycleOf(number, rewards.cycleBlocks), rewards.cycleBlocks)
  const { union } = splitReward(mintedAt(last, rewards), rewards)
  const blocks = BigInt(rewards.cycleBlocks)
  return union / blocks + (number === last ? union % blocks : 0n)
}

const minerCreditsOf = (number: number, rewards: RewardParams, coinbases: readonly Hex[]): readonly MinerCredit[] => {
  if (!endsCycle(number, rewards.cycleBlocks)) return []
  const proposers = Array<Hex>(rewards.cycleBlocks).fill(ZERO_ADDRESS)
  return rewardCredits(number, rewards, { proposers, coinbases, foundation: ZERO_ADDRESS })
    .filter(({ role }) => role === 'miner')
    .map(({ address, amountWei }) => ({ address, amountWei }))
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
