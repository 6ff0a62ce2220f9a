import { InvalidArgument, invalidArgument, invalidParams, missingArgument } from '../errors.ts'
import type { Context } from './context.ts'
import type { Method } from './method.ts'

const NON_ARRAY = invalidParams('non-array args')
const NO_ARGUMENTS: readonly unknown[] = []

/** Calls the handler of a method with the decoded arguments. Throws RpcError for arguments that do not fit its codecs. */
export const invokeHandler = (method: Method, params: unknown, context: Context): unknown => {
  const { handler, params: codecs } = method
  // A method without parameters ignores any arguments (docs/design/rpc.md#arguments).
  if (codecs.length === 0) return (handler as (context: Context) => unknown)(context)
  return (handler as (context: Context, ...args: unknown[]) => unknown)(context, ...decode(codecs, params))
}

const decode = (codecs: Method['params'], params: unknown): unknown[] => {
  const given = params === undefined || params === null ? NO_ARGUMENTS : params
  if (!Array.isArray(given)) throw NON_ARRAY
  if (given.length > codecs.length) throw invalidParams(`too many arguments, want at most ${codecs.length}`)
  const args: unknown[] = new Array(codecs.length)
  for (let i = 0; i < codecs.length; i++) {
    const codec = codecs[i]
    const value: unknown = given[i]
    if (codec === undefined) continue
    if (value === undefined || value === null) {
      if (!codec.optional) throw missingArgument(i + 1)
      continue
    }
    try {
      args[i] = codec.parse(value)
    } catch (error) {
      throw error instanceof InvalidArgument ? invalidArgument(i + 1, error.message) : error
    }
  }
  return args
}
