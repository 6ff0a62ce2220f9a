import type { EngineEnv } from '../../../src/evm/block-env.ts'

/** Block values as the opcodes return them. */
export interface BlockWords {
  readonly coinbase: bigint
  readonly timestamp: bigint
  readonly number: bigint
  /** DIFFICULTY and PREVRANDAO return the same (docs/design/evm-rules.md#limits). */
  readonly prevRandao: bigint
  readonly gasLimit: bigint
  readonly chainId: bigint
  readonly baseFee: bigint
  readonly blobBaseFee: bigint
}

const wordsFrom = (env: EngineEnv): BlockWords => ({
  coinbase: BigInt(env.miner),
  timestamp: BigInt(env.timestamp),
  number: BigInt(env.number),
  prevRandao: BigInt(env.prevRandao),
  gasLimit: env.gasLimit,
  chainId: BigInt(env.params.chainId),
  baseFee: env.baseFeePerGas,
  blobBaseFee: env.blobs?.baseFeePerGas ?? 0n,
})

const known = new WeakMap<EngineEnv, BlockWords>()

export const blockWords = (env: EngineEnv): BlockWords => {
  let words = known.get(env)
  if (words === undefined) {
    words = wordsFrom(env)
    known.set(env, words)
  }
  return words
}
