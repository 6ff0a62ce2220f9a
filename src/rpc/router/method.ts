import type { SemaphoreLimits } from '@tandem/base/async/fair-semaphore.ts'
import type { CallEffect } from './call-order.ts'
import type { Context, Services } from './context.ts'
import type { Codec, MethodDescription, MethodDescriptions, Requirement } from './method-description.ts'
import type { JsonSchema } from './raw-json.ts'

/** Budget of a kind of slow work, shared by the methods that declare it. */
export interface Slot {
  readonly limits: SemaphoreLimits & { readonly clientQueue: number }
  /** The work in the plural, for error messages. */
  readonly what: string
  /** Held while the result is read, rather than while it is made. */
  readonly isWhileRead?: boolean
}

/** Declaration of a method. */
export interface Method extends MethodDescription {
  /** Cost in rate limits and in the work of its client (`RPC_LIMITS.work`), against that of a plain read. */
  readonly weight: number
  /** Its memory is charged as it grows, so that nothing is reserved for it. */
  readonly chargesBytes: boolean
  readonly slot: Slot | undefined
  /** Returns synchronously where it can: a plain value costs no promise. */
  readonly handler: (context: never, ...args: never[]) => unknown
}

type Values<P extends readonly Codec<unknown>[]> = { -readonly [I in keyof P]: P[I] extends Codec<infer T> ? T : never }

/** Context of the methods that require a part of the node: they are served only where it exists. */
export type ContextWith<R extends Requirement> = Context & Required<Pick<Services, R>>

/** Declaration of a method, without what has a default. */
export interface MethodDeclaration<P extends readonly Codec<unknown>[], R extends Requirement> {
  readonly summary: string
  /** None by default. */
  readonly params?: P
  readonly result: JsonSchema
  readonly handler: (context: ContextWith<R>, ...args: Values<P>) => unknown
  readonly notes?: string
  readonly requires?: R
  readonly socketOnly?: boolean
  readonly needsId?: boolean
  readonly effect?: CallEffect
  /** 1 by default. */
  readonly weight?: number
  readonly chargesBytes?: boolean
  readonly slot?: Slot
}

/** Declares a method; the argument types of the handler follow from the codecs. */
export const method = <const P extends readonly Codec<unknown>[] = readonly [], R extends Requirement = never>(
  declaration: MethodDeclaration<P, R>,
): Method => ({
  summary: declaration.summary,
  params: declaration.params ?? [],
  result: declaration.result,
  notes: declaration.notes,
  requires: declaration.requires,
  socketOnly: declaration.socketOnly ?? false,
  needsId: declaration.needsId ?? false,
  // Helpers of development chains change things; the few that only read wait a little longer than they need.
  effect: declaration.effect ?? (declaration.requires === 'dev' ? 'change' : undefined),
  isDisabled: false,
  weight: declaration.weight ?? 1,
  chargesBytes: declaration.chargesBytes ?? false,
  slot: declaration.slot,
  handler: declaration.handler as Method['handler'],
})

/** Returns a method that the operator switched off: it throws `error`, whatever its arguments. */
export const disabledMethod = (declared: Method, error: Error): Method => ({
  ...declared,
  params: [],
  socketOnly: false,
  isDisabled: true,
  weight: 1,
  slot: undefined,
  handler: () => {
    throw error
  },
})

export type MethodTable = Readonly<Record<string, Method>>

export const namespaceOf = (name: string): string =>
  name.slice(0, name.indexOf('_') === -1 ? name.indexOf('.') : name.indexOf('_'))

/** Namespaces of methods, each once. */
export const namespacesIn = (methods: MethodDescriptions): readonly string[] => [
  ...new Set(Object.keys(methods).map(namespaceOf)),
]

/** Endpoint: its methods by name, and the context of their handlers. */
export interface Endpoint {
  readonly methods: ReadonlyMap<string, Method>
  readonly context: Context
}
