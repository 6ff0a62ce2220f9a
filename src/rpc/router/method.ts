import type { Codec } from '../codecs/codec.ts'
import type { Context } from '../context.ts'
import type { JsonSchema } from './raw-json.ts'

/** Optional parts of the node that some methods need; a method whose part is missing is not served (-32601). */
export type Requirement = 'economy' | 'proofChain' | 'mining' | 'trace' | 'peers' | 'dev'

/** Declaration of a method, from which the router, rpc_modules, OpenRPC and docs/rpc.md derive. */
export interface Method {
  readonly summary: string
  readonly params: readonly Codec<unknown>[]
  readonly result: JsonSchema
  readonly notes: string | undefined
  readonly requires: Requirement | undefined
  /** Served over WebSocket only; elsewhere -32000 `notifications not supported`. */
  readonly socketOnly: boolean
  /** The result carries the id of what the call creates; a notification has no result, so it does nothing. */
  readonly needsId: boolean
  /** Returns synchronously where it can: a plain value costs no promise. */
  readonly handler: (context: Context, ...args: never[]) => unknown
}

type Values<P extends readonly Codec<unknown>[]> = { -readonly [I in keyof P]: P[I] extends Codec<infer T> ? T : never }

export interface MethodDeclaration<P extends readonly Codec<unknown>[]> {
  readonly summary: string
  readonly params: P
  readonly result: JsonSchema
  readonly handler: (context: Context, ...args: Values<P>) => unknown
  readonly notes?: string
  readonly requires?: Requirement
  readonly socketOnly?: boolean
  readonly needsId?: boolean
}

/** Declares a method; the argument types of the handler follow from the codecs. */
export const method = <const P extends readonly Codec<unknown>[]>(declaration: MethodDeclaration<P>): Method => ({
  summary: declaration.summary,
  params: declaration.params,
  result: declaration.result,
  notes: declaration.notes,
  requires: declaration.requires,
  socketOnly: declaration.socketOnly ?? false,
  needsId: declaration.needsId ?? false,
  handler: declaration.handler as Method['handler'],
})

export type MethodTable = Readonly<Record<string, Method>>

export const namespaceOf = (name: string): string =>
  name.slice(0, name.indexOf('_') === -1 ? name.indexOf('.') : name.indexOf('_'))
