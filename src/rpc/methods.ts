import { hasRequirement, type Services } from './context.ts'
import { type Method, type MethodTable, namespaceOf } from './method.ts'
import { ethBlocks } from './methods/eth-blocks.ts'
import { ethCall } from './methods/eth-call.ts'
import { ethChain } from './methods/eth-chain.ts'
import { ethFilters } from './methods/eth-filters.ts'
import { ethState } from './methods/eth-state.ts'
import { ethSubscribe } from './methods/eth-subscribe.ts'
import { ethTransactions } from './methods/eth-transactions.ts'
import { net } from './methods/net.ts'
import { rpc } from './methods/rpc.ts'

/** Every method there is. Router, rpc_modules, OpenRPC, docs/rpc.md and the tables of each network derive from it. */
export const METHODS: MethodTable = {
  ...ethChain,
  ...ethState,
  ...ethBlocks,
  ...ethTransactions,
  ...ethCall,
  ...ethFilters,
  ...ethSubscribe,
  ...net,
  ...rpc,
}

/** The methods of an endpoint: those of its namespaces whose parts this node has. */
export const methodsFor = (namespaces: readonly string[], services?: Services): Record<string, Method> =>
  Object.fromEntries(
    Object.entries(METHODS).filter(
      ([name, method]) =>
        namespaces.includes(namespaceOf(name)) && (services === undefined || hasRequirement(services, method.requires)),
    ),
  )
