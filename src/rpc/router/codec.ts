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
