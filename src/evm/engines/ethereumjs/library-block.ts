import type { Block } from '@ethereumjs/block'
import type { Common } from '@ethereumjs/common'
import { Address } from '@ethereumjs/util'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { EngineEnv } from '../../block-env.ts'
import type { EngineOptions } from '../../engine.ts'
import type { EvmParts } from './deviations.ts'

/** Converts an address to the library's form. */
export const libraryAddress = (hex: Hex): Address => new Address(hexToBytes(hex))

/** The part of a block that the library reads; a real one would require a blob base fee of at least 1. */
export const libraryBlock = (env: EngineEnv, common: Common): Block =>
  ({
    common,
    header: {
      number: BigInt(env.number),
      coinbase: libraryAddress(env.miner),
      timestamp: BigInt(env.timestamp),
      difficulty: BigInt(env.prevRandao),
      prevRandao: hexToBytes(env.prevRandao),
      gasLimit: env.gasLimit,
      gasUsed: 0n,
      baseFeePerGas: env.baseFeePerGas,
      getBlobGasPrice: () => env.blobs?.baseFeePerGas ?? 0n,
    },
    errorStr: () => `block ${env.number}`,
  }) as unknown as Block

/** Source of block hashes for the library. */
export const libraryBlockchain = (
  env: EngineEnv,
  computed: EngineOptions['blockHash'] = () => undefined,
): EvmParts['blockchain'] => {
  const blockchain: EvmParts['blockchain'] = {
    getBlock: async number => {
      const hash = (await computed(Number(number))) ?? env.blockHash(Number(number))
      return { hash: () => hexToBytes(hash) }
    },
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  }
  return blockchain
}
