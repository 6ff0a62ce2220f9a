import type { Method, MethodTable } from '../../router/method.ts'

/**
 * The network's own namespace repeats the standard methods under its prefix, as the closest public system does
 * (docs/design/rpc.md#native-names): the same arguments, the same answers.
 */
export const nativeAliases = (table: MethodTable): MethodTable =>
  Object.fromEntries(Object.entries(table).map(([name, twin]) => [name.replace('eth_', 'native_'), asTwin(name, twin)]))

const asTwin = (name: string, twin: Method): Method => ({ ...twin, notes: `Same as ${name}.` })
