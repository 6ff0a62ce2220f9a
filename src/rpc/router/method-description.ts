import type { CallEffect } from './call-order.ts'
import type { JsonSchema } from './raw-json.ts'

/** Parser of one argument with its JSON Schema. `parse` throws InvalidArgument; the router adds the position. */
export interface Codec<T> {
  /** Name in the generated documentation. */
  readonly name: string
  readonly schema: JsonSchema
  readonly optional: boolean
  parse(value: unknown): T
}

export const codec = <T>(name: string, schema: JsonSchema, parse: (value: unknown) => T): Codec<T> => ({
  name,
  schema,
  optional: false,
  parse,
})

/** Makes an argument optional; JSON null counts as absent. */
export const optional = <T>(inner: Codec<T>): Codec<T | undefined> => ({ ...inner, optional: true })

export const named = <T>(name: string, inner: Codec<T>): Codec<T> => ({ ...inner, name })

/** Optional parts of the node that some methods need; a method whose part is missing is not served (-32601). */
export type Requirement = 'economy' | 'proofChain' | 'mining' | 'trace' | 'peers' | 'dev'

/** Public part of a method's declaration, from which the router, rpc_modules, OpenRPC and docs/rpc.md derive. */
export interface MethodDescription {
  readonly summary: string
  readonly params: readonly Codec<unknown>[]
  readonly result: JsonSchema
  readonly notes: string | undefined
  readonly requires: Requirement | undefined
  /** Served over WebSocket only; elsewhere -32000 `notifications not supported`. */
  readonly socketOnly: boolean
  /** The result carries the id of what the call creates; a notification has no result, so it does nothing. */
  readonly needsId: boolean
  /** Effect on the calls after it; undefined for a read. */
  readonly effect: CallEffect | undefined
  /** Refused by every call, since the operator switched it off; not described to clients. */
  readonly isDisabled: boolean
}

/** Methods by name. */
export type MethodDescriptions = Readonly<Record<string, MethodDescription>>
