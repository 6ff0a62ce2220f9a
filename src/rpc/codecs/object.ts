import { InvalidArgument } from '../errors.ts'
import { invalidValue, jsonKind, parseBoolean } from './scalars.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Returns the value as a JSON object, else throws; `__proto__` in a request is an own member, since JSON.parse defines it as one. */
export const asObject = (value: unknown, type: string): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : invalidValue(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type}`)

export const asArray = (value: unknown, type: string): readonly unknown[] =>
  Array.isArray(value) ? value : invalidValue(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type}`)

/** Decodes a member that may be absent or null; errors carry its name. */
export const member = <T>(object: JsonObject, name: string, parse: (value: unknown) => T): T | undefined =>
  plainMember(object, name, value => within(name, () => parse(value)))

/** Like `member`, for parsers whose errors already name the place. */
export const plainMember = <T>(object: JsonObject, name: string, parse: (value: unknown) => T): T | undefined => {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  return value === undefined || value === null ? undefined : parse(value)
}

/** Decodes flags, which are false where they are absent or null. */
export const flagsOf = <Name extends string>(object: JsonObject, ...names: readonly Name[]): Record<Name, boolean> =>
  Object.fromEntries(names.map(name => [name, member(object, name, parseBoolean) ?? false])) as Record<Name, boolean>

/** Adds the place inside the argument to the text of a decoding error. */
export const within = <T>(place: string, parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw error instanceof InvalidArgument ? new InvalidArgument(`${place}: ${error.message}`) : error
  }
}

/** Rejects members that would select a kind of transaction or block that this node has not, instead of ignoring them. */
export const refuseMembers = (object: JsonObject, names: readonly string[], why: string): void => {
  for (const name of names)
    member(object, name, value => (Array.isArray(value) && value.length === 0 ? undefined : invalidValue(why)))
}
