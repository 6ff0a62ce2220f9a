import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { NetworkParams } from '../../config/networks.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { Header } from '../../primitives/header.ts'
import { cycleOf, prevRandao } from '../../rules/council/cycle.ts'
import { nextBaseFee } from '../../rules/money/base-fee.ts'
import type { Council } from '../council/council.ts'
import type { ProofRows } from '../proof/proof-rows.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { ChainBlock } from '../store/types.ts'

/** Overrides of the next block on a development chain (`params.devHelpers`). */
export interface NextBlockFields {
  readonly baseFeePerGas?: bigint
  readonly miner?: Hex
  readonly gasLimit?: bigint
}

/** Sources of block environments, for blocks under construction and for calls on committed ones. */
export interface BlockEnvSources {
  readonly params: NetworkParams
  readonly foundation: Hex
  readonly council: Council
  readonly blocks: BlockStore
  readonly proofs: Pick<ProofRows, 'stateAt'>
  /** Present on development chains. */
  readonly choices?: () => NextBlockFields
}

type ParentBlock = Pick<ChainBlock, 'header' | 'hash' | 'extra'>
type ProposedBlock = { readonly timestamp: number; readonly proposer: Hex }

/** Environment of a simulated child of `parent`, which may lie beyond the cycles whose council is known. */
export const simulatedChildEnv = (sources: BlockEnvSources, parent: ParentBlock, block: ProposedBlock): BlockEnv =>
  childEnv(sources, parent, block, cycle => sources.council.latestSeedUpTo(cycle))

/** Environment of the child of `parent` proposed by `proposer`. */
export const childEnv = (
  sources: BlockEnvSources,
  parent: ParentBlock,
  block: ProposedBlock,
  seedOf?: (cycle: number) => Hex,
): BlockEnv => {
  const { params } = sources
  const choices = (params.devHelpers && sources.choices?.()) || {}
  const fields = {
    number: parent.header.number + 1,
    timestamp: block.timestamp,
    proposer: block.proposer,
    // Final data that the proposer does not choose (docs/design/blocks.md#miner).
    miner: choices.miner ?? sources.proofs.stateAt(parent.extra.proofTip).coinbase,
    gasLimit: choices.gasLimit ?? params.blockGasLimit,
    baseFeePerGas: choices.baseFeePerGas ?? nextBaseFee(parent.header, params.baseFee),
    parentHash: parent.hash,
  }
  return envOf(sources, fields, seedOf)
}

/** Environment of a committed block, as its own transactions saw it. */
export const committedEnv = (sources: BlockEnvSources, header: Header, proposer: Hex, hash?: Hex): BlockEnv =>
  envOf(sources, {
    hash,
    number: header.number,
    timestamp: header.timestamp,
    proposer,
    miner: header.miner,
    gasLimit: header.gasLimit,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    parentHash: header.parentHash,
  })

interface EnvFields {
  readonly number: number
  readonly timestamp: number
  readonly proposer: Hex
  readonly miner: Hex
  readonly gasLimit: bigint
  readonly baseFeePerGas: bigint
  readonly parentHash: Hex
  /** Hash of the block itself, once it has one. */
  readonly hash?: Hex | undefined
}

const envOf = (
  { params, foundation, council, blocks }: BlockEnvSources,
  fields: EnvFields,
  seedOf = (cycle: number): Hex => council.seedOf(cycle),
): BlockEnv => {
  const { number, timestamp, miner, gasLimit, baseFeePerGas } = fields
  return {
    params,
    number,
    timestamp,
    gasLimit,
    baseFeePerGas,
    miner,
    proposerReward: council.payeeOf(fields.proposer, number),
    foundation,
    prevRandao: prevRandao(seedOf(cycleOf(number, params.rewards.cycleBlocks)), number),
    blockHash(wanted) {
      if (wanted >= number - 1) return [fields.parentHash, fields.hash][wanted - number + 1] ?? ZERO_HASH
      return blocks.hashOf(wanted) ?? ZERO_HASH
    },
  }
}
