import { EVM_FORKS, evmForkAt, forkHeight, isActive, isEvmFork } from '../../../config/forks.ts'
import type { ChainParams } from '../../../config/networks.ts'

/**
 * Result of docs/interface.md#chain-configuration; `proofHeight` is the height of the newest proof header, and the algorithm is that of
 * the next one (docs/design/proof-chain.md#fork-height).
 */
export const chainConfig = (params: ChainParams, proofHeight: number): object => ({
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
export const forkStatus = (params: ChainParams, number: number, proofHeight: number): object => {
  const current = EVM_FORKS.indexOf(evmForkAt(params.forks, number))
  return Object.fromEntries(
    params.forks.map(({ name, height }) => {
      const active = isEvmFork(name) ? EVM_FORKS.indexOf(name) <= current : isActive(params.forks, name, proofHeight)
      return [name, { height, active }]
    }),
  )
}
