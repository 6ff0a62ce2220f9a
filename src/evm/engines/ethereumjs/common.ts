import { Common, createCustomCommon, Mainnet, type ParamsDict } from '@ethereumjs/common'
import type { Uint64 } from '@tandem/base/uint64.ts'
import type { EvmFork } from '../../../config/forks.ts'
import { evmForkAt } from '../../../config/forks.ts'
import type { ChainParams } from '../../../config/networks.ts'
import { codeSizeLimit, initCodeSizeLimit } from '../../../rules/code-size.ts'
import { customCrypto } from './crypto.ts'
import { kzgVerifier } from './kzg.ts'

/** EthereumJS' name of a fork, where it differs. */
const hardforkName = (fork: EvmFork): string => (fork === 'frontier' ? 'chainstart' : fork)

/**
 * Caches the interpreter's lookups: the original Common searches its lists several times per opcode
 * (docs/design/execution.md#executor: 17 % of the run time). The hard fork of an instance never changes after its construction.
 */
const remember = (common: Common): Common => {
  const eips = new Map<number, boolean>()
  const params = new Map<string, bigint>()
  const forks = new Map<string, boolean>()
  const { isActivatedEIP, param, gteHardfork } = Common.prototype
  const { updateParams } = common
  const consensusType = common.consensusType()
  const consensusAlgorithm = common.consensusAlgorithm()
  const chainId = common.chainId()
  const through = <Key, Value>(cache: Map<Key, Value>, key: Key, compute: () => Value): Value => {
    let value = cache.get(key)
    if (value === undefined) {
      value = compute()
      cache.set(key, value)
    }
    return value
  }
  return Object.assign(common, {
    isActivatedEIP: (eip: number) => through(eips, eip, () => isActivatedEIP.call(common, eip)),
    param: (name: string) => through(params, name, () => param.call(common, name)),
    gteHardfork: (name: string) => through(forks, name, () => gteHardfork.call(common, name)),
    consensusType: () => consensusType,
    consensusAlgorithm: () => consensusAlgorithm,
    chainId: () => chainId,
    updateParams: (update: ParamsDict) => {
      updateParams.call(common, update)
      params.clear()
    },
  })
}

export const createCommon = (params: ChainParams, fork: EvmFork): Common => {
  const common = createCustomCommon({ chainId: params.chainId, name: 'tandem' }, Mainnet, {
    hardfork: hardforkName(fork),
    customCrypto: { ...customCrypto, kzg: kzgVerifier },
  })
  return params.codeSizeLimit === undefined ? common : withSizes(common, sizesOf(params))
}

/** The EVM and each transaction set the values of Ethereum: those of the chain replace them each time. */
const withSizes = (common: Common, sizes: ParamsDict): Common => {
  const { updateParams } = Common.prototype
  updateParams.call(common, sizes)
  return Object.assign(common, {
    updateParams(this: Common, update: ParamsDict) {
      updateParams.call(this, update)
      updateParams.call(this, sizes)
    },
  })
}

/** Keyed by the EIP of each value. */
const sizesOf = (params: ChainParams): ParamsDict => ({
  607: { maxCodeSize: codeSizeLimit(params) },
  3860: { maxInitCodeSize: initCodeSizeLimit(params) },
})

const cache = new WeakMap<ChainParams, Map<EvmFork, Common>>()

/** Returns the Common of a block: built once per network and fork, with cached lookups. */
export const commonAt = (params: ChainParams, number: Uint64): Common => {
  let byFork = cache.get(params)
  if (byFork === undefined) {
    byFork = new Map()
    cache.set(params, byFork)
  }
  const fork = evmForkAt(params.forks, number)
  let common = byFork.get(fork)
  if (common === undefined) {
    common = remember(createCommon(params, fork))
    byFork.set(fork, common)
  }
  return common
}
