import { andThen } from '@tandem/base/async/maybe-promise.ts'
import { NULL_SCHEMA } from '../../codecs/schemas.ts'
import { type Method, type MethodDeclaration, method } from '../../router/method.ts'
import type { Codec } from '../../router/method-description.ts'

/** Namespaces that hold the same methods with results of their own. */
export type DevNamespace = 'hardhat' | 'anvil'

/** Returns a method that only a development chain serves. */
export const devMethod = <const P extends readonly Codec<unknown>[] = readonly []>(
  declaration: MethodDeclaration<P, 'dev'>,
): Method => method<P, 'dev'>({ ...declaration, requires: 'dev' })

const commandsWith =
  (done: true | null) =>
  <const P extends readonly Codec<unknown>[] = readonly []>(
    declaration: Omit<MethodDeclaration<P, 'dev'>, 'result'>,
  ): Method =>
    devMethod<P>({
      ...declaration,
      result: done === null ? NULL_SCHEMA : { const: done },
      handler: (context, ...args) => andThen(declaration.handler(context, ...args), () => done),
    })

/** Declares a method that has no result of its own: it returns true, as those of hardhat do. */
export const trueCommand = commandsWith(true)
/** Declares a method that has no result of its own: it returns null, as those of anvil do. */
export const nullCommand = commandsWith(null)
/** Declarations of methods without a result of their own, by namespace. */
export const COMMANDS = { hardhat: trueCommand, anvil: nullCommand }
