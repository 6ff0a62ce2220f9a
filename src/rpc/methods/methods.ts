import { METHOD_DISABLED } from '../errors.ts'
import { hasRequirement, type Services } from '../router/context.ts'
import { disabledMethod, type Method, type MethodTable, namespaceOf } from '../router/method.ts'
import { admin } from './admin.ts'
import { debug } from './debug/encoded.ts'
import { debugState } from './debug/state.ts'
import { debugTrace } from './debug/trace.ts'
import { accountMethods, anvilAccounts } from './dev/accounts.ts'
import { anvilBlocks, blockMethods } from './dev/blocks.ts'
import { testing } from './dev/testing.ts'
import { anvilTime, evm } from './dev/time.ts'
import { ethBlocks } from './eth/blocks.ts'
import { ethCall } from './eth/call.ts'
import { ethChain } from './eth/chain.ts'
import { ethConfig } from './eth/config.ts'
import { ethFees } from './eth/fee-history.ts'
import { ethFilters, subscriptionsOf } from './eth/filters.ts'
import { ethSimulate } from './eth/simulate.ts'
import { ethState } from './eth/state.ts'
import { ethTransactions } from './eth/transactions.ts'
import { ethWallet, messageSigning } from './eth/wallet.ts'
import { nativeChain } from './native/chain.ts'
import { nativeConsensus } from './native/consensus.ts'
import { nativeEconomy } from './native/economy.ts'
import { nativeExecutions } from './native/internal-transfers.ts'
import { miningOfNamespace, nativeProofChain } from './native/proof-chain.ts'
import { net, rpc, web3 } from './rpc.ts'
import { txpool } from './txpool.ts'

/** Helper methods of development chains, by the names of hardhat and anvil (docs/dev-helpers.md). */
const dev: MethodTable = {
  ...evm,
  ...accountMethods('hardhat'),
  ...blockMethods('hardhat'),
  ...accountMethods('anvil'),
  ...blockMethods('anvil'),
  ...anvilTime,
  ...anvilAccounts,
  ...anvilBlocks,
  ...testing,
}

/** Standard methods under the prefix of the network's own namespace: same arguments, same results. */
const nativeAliases = (table: MethodTable): MethodTable =>
  Object.fromEntries(
    Object.entries(table).map(([name, method]) => [name.replace('eth_', 'native_'), asAlias(name, method)]),
  )

const asAlias = (name: string, method: Method): Method => ({ ...method, notes: `Same as ${name}.` })

const eth: MethodTable = {
  ...ethChain,
  ...ethState,
  ...ethBlocks,
  ...ethTransactions,
  ...ethCall,
  ...ethFees,
  ...ethFilters,
  ...ethWallet,
}

/** Table of all methods. Router, rpc_modules, OpenRPC, docs/rpc.md and the tables of each network derive from it. */
export const METHODS: MethodTable = {
  ...eth,
  ...ethConfig,
  ...ethSimulate,
  ...messageSigning,
  ...subscriptionsOf('eth'),
  ...miningOfNamespace('eth'),
  ...net,
  ...rpc,
  ...nativeAliases(eth),
  ...nativeChain,
  ...nativeConsensus,
  ...nativeEconomy,
  ...nativeExecutions,
  ...nativeProofChain,
  ...subscriptionsOf('native'),
  ...miningOfNamespace('native'),
  ...web3,
  ...debug,
  ...debugTrace,
  ...debugState,
  ...txpool,
  ...admin,
  ...dev,
}

/** Returns the methods of an endpoint: those of its namespaces whose required parts this node has. */
export const methodsFor = (namespaces: readonly string[], services?: Services): Record<string, Method> =>
  Object.fromEntries(
    Object.entries(METHODS).filter(
      ([name, method]) =>
        namespaces.includes(namespaceOf(name)) && (services === undefined || hasRequirement(services, method.requires)),
    ),
  )

/** Returns true when an operator may switch off a method of this name. */
export const isMethodName = (name: string): boolean => Object.hasOwn(METHODS, name)

/** Name of the same method in the network's own namespace; undefined when it has none. */
const nativeAlias = (name: string): string | undefined => {
  const alias = name.replace('eth_', 'native_')
  return alias !== name && METHODS[alias]?.handler === METHODS[name]?.handler ? alias : undefined
}

/** Returns the methods; those that the operator switched off refuse every call, of `eth` under the `native` name too. */
export const withDisabled = (
  methods: Readonly<Record<string, Method>>,
  disabled: readonly string[],
): Record<string, Method> => {
  if (disabled.length === 0) return methods
  const off = new Set(disabled.flatMap(name => [name, nativeAlias(name) ?? name]))
  return Object.fromEntries(
    Object.entries(methods).map(([name, declared]) => [
      name,
      off.has(name) ? disabledMethod(declared, METHOD_DISABLED) : declared,
    ]),
  )
}
