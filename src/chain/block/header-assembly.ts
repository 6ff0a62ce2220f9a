import { EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import { blockFromParts, hashByteStrings } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { EXTRA_DATA_VERSION, type ExtraData, encodeExtraData } from '../../primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header, ZERO_NONCE } from '../../primitives/header.ts'
import { nativeExtra, nativePrices } from '../store/block-store.ts'
import type { BlockRoots, ChainRules } from '../store/rules-port.ts'
import type { ChainBlock } from '../store/types.ts'
import { type BlockEnvSources, committedEnv, simulatedChildEnv } from './block-env.ts'

/** Rules of this node's own chain. */
export const nativeRules = (sources: BlockEnvSources): ChainRules => ({
  extraOf: nativeExtra,
  pricesOf: nativePrices,
  childEnv: (parent, block) => simulatedChildEnv(sources, parent, block),
  committedEnv: ({ header, extra, hash }) => committedEnv(sources, header, extra.proposer, hash),
  assemble: (env, parent, extra, execution, blockRoots) =>
    blockFromParts(assembleHeader(env, parent, extra, execution, blockRoots), {
      transactions: execution.transactions,
      proofHeaders: [],
      evidence: [],
    }),
})

/** Header of a block after its execution on the parent (docs/design/blocks.md#header). */
export const assembleHeader = (
  env: Pick<BlockEnv, 'miner' | 'number' | 'gasLimit' | 'timestamp' | 'baseFeePerGas'>,
  parent: ChainBlock,
  extra: ExtraData,
  execution: BlockExecution,
  blockRoots: BlockRoots,
): Header => ({
  parentHash: parent.hash,
  sha3Uncles: EMPTY_LIST_HASH,
  miner: env.miner,
  stateRoot: blockRoots.state,
  transactionsRoot: blockRoots.transactions,
  receiptsRoot: blockRoots.receipts,
  logsBloom: execution.logsBloom,
  difficulty: 1n,
  number: env.number,
  gasLimit: env.gasLimit,
  gasUsed: execution.gasUsed,
  timestamp: env.timestamp,
  extraData: encodeExtraData(extra),
  mixHash: ZERO_HASH,
  nonce: ZERO_NONCE,
  baseFeePerGas: env.baseFeePerGas,
})

/** Fields of extraData besides the proposer and the parent certificate; omitted ones are empty. */
interface ExtraDataFields {
  readonly vanity?: Uint8Array | undefined
  readonly evidence?: readonly Uint8Array[]
  /** Final proof tip after the block. */
  readonly proofTip?: Hex
  readonly proofHeaders?: readonly Uint8Array[]
}

/** extraData of a block (docs/design/blocks.md#extra-data). */
export const assembleExtraData = (
  proposer: Hex,
  parentCertificate: Certificate | null,
  { vanity = EMPTY_BYTES, evidence = [], proofTip = ZERO_HASH, proofHeaders = [] }: ExtraDataFields = {},
): ExtraData => ({
  version: EXTRA_DATA_VERSION,
  vanity,
  proposer,
  parentCertificate,
  proofTip,
  proofHeadersHash: proofHeaders.length === 0 ? EMPTY_LIST_HASH : hashByteStrings(proofHeaders),
  evidenceRoot: evidence.length === 0 ? EMPTY_LIST_HASH : hashByteStrings(evidence),
})
