import { NULL_SCHEMA } from '../../codecs/schemas.ts'
import { type Context, partOf } from '../../router/context.ts'

/** Returns the helpers of a development chain. */
export const devFromContext = (context: Context) => partOf(context, 'dev')

/** Namespaces that hold the same methods with results of their own. */
export type DevNamespace = 'hardhat' | 'anvil'

/** Value and schema of the result of a method that returns nothing: hardhat returns true, anvil null. */
export const emptyResult = (namespace: DevNamespace) =>
  namespace === 'hardhat' ? { done: true, result: { const: true } } : { done: null, result: NULL_SCHEMA }
