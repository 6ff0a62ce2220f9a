import type { Method, MethodTable } from '../../router/method.ts'

/**
 * Standard methods under the prefix of the network's own namespace, as the closest public system serves them
 * (docs/design/rpc.md#native-names): same arguments, same results.
 */
export const nativeAliases = (table: MethodTable): MethodTable =>
  Object.fromEntries(Object.entries(table).map(([name, twin]) => [name.replace('eth_', 'native_'), asTwin(name, twin)]))

const asTwin = (name: string, twin: Method): Method => ({ ...twin, notes: `Same as ${name}.` })
