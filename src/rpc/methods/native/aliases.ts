import type { Method, MethodTable } from '../../router/method.ts'

/**
 * Standard methods under the prefix of the network's own namespace, as the closest public system serves them
 * (docs/design/rpc.md#native-names): same arguments, same results.
 */
export const nativeAliases = (table: MethodTable): MethodTable =>
  Object.fromEntries(
    Object.entries(table).map(([name, method]) => [name.replace('eth_', 'native_'), asAlias(name, method)]),
  )

const asAlias = (name: string, method: Method): Method => ({ ...method, notes: `Same as ${name}.` })
