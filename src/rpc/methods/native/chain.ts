import { toQuantity } from '@tandem/base/bytes.ts'
import { EVM_FORKS, evmForkAt, forkHeight, isActive, isEvmFork } from '../../../config/forks.ts'
import { type ChainParams, NETWORKS } from '../../../config/networks.ts'
import { block, blockNumber } from '../../codecs/block.ts'
import { address, BOOLEAN_SCHEMA, full, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { BLOCK_SCHEMA, INTEGER_SCHEMA, NUMBER_SCHEMA, objectOf, orNull, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { andThen, blockNumberOf, isHash, type MaybePromise, readState } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import type { RawJson, StreamedJson } from '../../router/raw-json.ts'
import { blockByNumberRef, ethBlocks } from '../eth/blocks.ts'
import { ethChain } from '../eth/chain.ts'
import { flatParams, flatParamsSchema } from './flat-params.ts'

/**
 * Result of docs/interface.md#chain-configuration; `proofHeight` is the height of the newest proof header, and the algorithm is that of
 * the next one (docs/design/proof-chain.md#fork-height).
 */
const chainConfig = (params: ChainParams, proofHeight: number): object => ({
  chainId: params.chainId,
  nativeHashForkBlock: forkHeight(params.forks, 'nativeHash') ?? Number.MAX_SAFE_INTEGER,
  blockTime: params.blockTimeMs / 1_000,
  consensus: 'PBFT',
  proofChain: {
    algorithm: isActive(params.forks, 'nativeHash', proofHeight + 1)
      ? params.proofChain.after
      : params.proofChain.before,
  },
})

/** Every known fork with its height and whether it is active: those of the proof chain by proof height, the others by block number. */
const forkStatus = (params: ChainParams, number: number, proofHeight: number): object => {
  const current = EVM_FORKS.indexOf(evmForkAt(params.forks, number))
  return Object.fromEntries(
    params.forks.map(({ name, height }) => {
      const active = isEvmFork(name) ? EVM_FORKS.indexOf(name) <= current : isActive(params.forks, name, proofHeight)
      return [name, { height, active }]
    }),
  )
}

/** Height of the newest proof header; 0, the genesis, without a proof chain. */
const proofHeight = ({ proofChain }: Context): number => proofChain?.height() ?? 0

/**
 * Chain and node methods of the network's own namespace (docs/interface.md#native-methods); rpc/methods/methods.ts holds the aliases of
 * eth methods.
 */
export const nativeChain = {
  native_clientVersion: method({
    summary: 'Name, version, platform and runtime of the node',
    params: [],
    result: STRING_SCHEMA,
    handler: ({ info }) => info.clientVersion,
  }),
  native_protocolVersion: method({
    summary: 'Version of the peer protocol',
    params: [],
    result: QUANTITY_SCHEMA,
    handler: ({ info }) => toQuantity(info.protocolVersion),
  }),
  native_nodeAddress: { ...ethChain.eth_coinbase, notes: 'Same as eth_coinbase.' },
  native_chainID: { ...ethChain.eth_chainId },
  native_getBlockNumber: { ...ethChain.eth_blockNumber },
  native_getBlock: method({
    summary: 'A block by number, tag or hash',
    params: [block, full],
    result: orNull(BLOCK_SCHEMA),
    handler: (context, ref, full): MaybePromise<RawJson | StreamedJson> =>
      isHash(ref) ? context.responseCache.blockByHash(ref, full) : blockByNumberRef(context, ref as number, full),
  }),
  native_getBlockTransactionCount: { ...ethBlocks.eth_getBlockTransactionCountByNumber, params: [block] },
  native_isContractAccount: method({
    summary: 'Whether an address has code',
    params: [address, block],
    result: BOOLEAN_SCHEMA,
    handler: ({ view }, who, at) => readState(view, at, state => andThen(state.code(who), code => code.byteLength > 0)),
  }),
  native_getChainConfig: method({
    summary: 'Configuration of the chain',
    params: [],
    result: objectOf('ChainConfig', {
      chainId: INTEGER_SCHEMA,
      nativeHashForkBlock: INTEGER_SCHEMA,
      blockTime: NUMBER_SCHEMA,
      consensus: STRING_SCHEMA,
      proofChain: objectOf('ProofChain', { algorithm: STRING_SCHEMA }),
    }),
    notes:
      '`nativeHashForkBlock` is a height of the proof chain, `blockTime` seconds, `algorithm` that of the next proof header.',
    handler: context => chainConfig(context.view.params, proofHeight(context)),
  }),
  native_getParams: method({
    summary: 'All rules of the chain at a block as one flat object',
    params: [optional(blockNumber)],
    result: flatParamsSchema(NETWORKS.mainnet),
    notes:
      'Without a block: the latest. `evmFork`, `maxBlobs` and `rewards.cycleReward` change with the block; `forks` has the heights of all forks.',
    handler: ({ view }, ref = 'latest') =>
      andThen(blockNumberOf(view, ref), number => flatParams(view.params, view.foundation, number)),
  }),
  native_forkStatus: method({
    summary: 'Known forks, their heights, and whether they are in force at a block',
    params: [optional(blockNumber)],
    result: {
      type: 'object',
      additionalProperties: objectOf('Fork', { height: orNull(INTEGER_SCHEMA), active: BOOLEAN_SCHEMA }),
    },
    handler: (context, ref = 'latest') =>
      andThen(blockNumberOf(context.view, ref), number =>
        forkStatus(context.view.params, number, proofHeight(context)),
      ),
  }),
} satisfies MethodTable
