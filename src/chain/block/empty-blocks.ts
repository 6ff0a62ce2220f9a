import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { DecidedBlock } from '../../consensus/ports.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import { blockFromParts } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { EMPTY_BLOOM } from '../../primitives/receipt/bloom.ts'
import { receiptsRoot, transactionsRoot } from '../../primitives/roots.ts'
import { executionRulesAt } from '../../rules/execution-rules.ts'
import type { StateUpdate } from '../../state/update/state-update.ts'
import type { EvidencePool } from '../council/evidence-pool.ts'
import type { BlockProofs } from '../proof/block-proofs.ts'
import type { ChainBlock } from '../types.ts'
import { type BlockEnvSources, childFields } from './block-env.ts'
import type { BlockToCommit } from './commit-batch.ts'
import { assembleExtraData, assembleHeader } from './header-assembly.ts'

/*
 * Blocks without transactions that change nothing in the state, many at a time: development chains make tens of thousands on request. Each
 * is the block that an ordinary build makes with the same timestamp; what is left out is only what would find nothing to do.
 */

interface EmptyBlockParts {
  readonly pool: { hasExecutable(): boolean }
  readonly sources: BlockEnvSources
  readonly evidence: Pick<EvidencePool, 'select'>
  readonly proofs: Pick<BlockProofs, 'select'>
  readonly vanity?: Uint8Array
}

/** Choices of the validator that makes the blocks alone. */
export interface EmptyBlockMaker {
  readonly proposer: Hex
  /** The head was built of what the pool still holds and took none of it, so that a block with the same base fee takes none either. */
  readonly isPoolIdle: boolean
  /** Returns the timestamp of a block, unix seconds. */
  timestampAfter(parentTimestamp: number): number
  seal(block: DecidedBlock['block']): Certificate
}

const NO_TRANSACTIONS: BlockExecution = {
  transactions: [],
  receipts: [],
  gasUsed: 0n,
  logsBloom: EMPTY_BLOOM,
  fees: { burnt: 0n, proposer: 0n, miner: 0n, foundation: 0n },
  dropped: [],
}
const NO_ROOTS = { transactions: transactionsRoot([]), receipts: receiptsRoot([]) }

/**
 * Returns how many of the next blocks are sure to be empty, at most `limit`: nothing waits that they would take (transactions, proof
 * headers, evidence), and the last block of a cycle, which pays rewards and writes records, is not among them.
 */
export const countEmptyAhead = async (
  { pool, sources, evidence, proofs }: EmptyBlockParts,
  parent: ChainBlock,
  limit: number,
  isPoolIdle: boolean,
): Promise<number> => {
  const { number, timestamp, baseFeePerGas } = parent.header
  const next = childFields(sources, parent, { timestamp, proposer: ZERO_ADDRESS })
  if (pool.hasExecutable() && !(isPoolIdle && next.baseFeePerGas === baseFeePerGas)) return 0
  if (evidence.select(number + 1).items.length > 0) return 0
  if ((await proofs.select(parent)).included.length > 0) return 0
  const { cycleBlocks } = sources.params.rewards
  const count = Math.min(limit, cycleBlocks - 1 - (number % cycleBlocks))
  return executionRulesAt(sources.params, number + count).recordsBlockHashes ? 0 : count
}

/** Builds one block after the other on the head. `update` is that of no changes. */
export const buildEmptyBlocks = (
  { sources, vanity }: EmptyBlockParts,
  head: { readonly block: ChainBlock; readonly certificate: Certificate | null },
  { count, maker, update }: { readonly count: number; readonly maker: EmptyBlockMaker; readonly update: StateUpdate },
): readonly BlockToCommit[] => {
  const { proposer } = maker
  const made: BlockToCommit[] = []
  let { block: parent, certificate } = head
  for (let i = 0; i < count; i++) {
    const fields = childFields(sources, parent, { proposer, timestamp: maker.timestampAfter(parent.header.timestamp) })
    const extra = assembleExtraData(proposer, certificate, { vanity, proofTip: parent.extra.proofTip })
    const header = assembleHeader(fields, parent, extra, NO_TRANSACTIONS, { ...NO_ROOTS, state: update.root })
    const block = blockFromParts(header, { transactions: [], proofHeaders: [], evidence: [] })
    certificate = maker.seal(block)
    parent = { ...block, extra }
    made.push({ block: parent, execution: NO_TRANSACTIONS, update, proofs: [], certificate })
  }
  return made
}
