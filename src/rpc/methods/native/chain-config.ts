import { EVM_FORKS, evmForkAt, isActive } from '../../../config/forks.ts'
import type { ChainParams } from '../../../config/networks.ts'

/** Height of the fork of the proof chain's hash; null on networks without it. */
const nativeHashHeight = (params: ChainParams): number | null =>
  params.forks.find(({ name }) => name === 'nativeHash')?.height ?? null

/**
 * Result of docs/interface.md#chain-configuration; `proofHeight` is the height of the newest proof header, and the algorithm is that of
 * the next one (docs/design/proof-chain.md#fork-height).
 */
export const chainConfig = (params: ChainParams, proofHeight: number): object => ({
  chainId: params.chainId,
  nativeHashForkBlock: nativeHashHeight(params) ?? Number.MAX_SAFE_INTEGER,
  blockTime: params.blockTimeMs / 1_000,
  consensus: 'PBFT',
  proofChain: {
    algorithm: isActive(params.forks, 'nativeHash', proofHeight + 1)
      ? params.proofChain.after
      : params.proofChain.before,
  },
})

/** Every known fork with its height and whether it is active: `nativeHash` by proof height, the others by block number. */
export const forkStatus = (params: ChainParams, number: number, proofHeight: number): object => {
  const current = EVM_FORKS.indexOf(evmForkAt(params.forks, number))
  return Object.fromEntries(
    params.forks.map(({ name, height }) => {
      const active =
        name === 'nativeHash' ? isActive(params.forks, name, proofHeight) : EVM_FORKS.indexOf(name) <= current
      return [name, { height, active }]
    }),
  )
}
