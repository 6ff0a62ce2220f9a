import type { JsonSchema } from '../../../src/rpc/router/raw-json.ts'

/** Parts of a JSON Schema that leave open what stands there, each as a path: `.member`, `[]`, `.*`. */
export const looseParts = (schema: JsonSchema, path = ''): readonly string[] => {
  const { anyOf, type, items, prefixItems, maxItems, properties, additionalProperties } = schema as {
    readonly anyOf?: readonly JsonSchema[]
    readonly type?: string
    readonly items?: JsonSchema | false
    readonly prefixItems?: readonly JsonSchema[]
    readonly maxItems?: number
    readonly properties?: Readonly<Record<string, JsonSchema>>
    readonly additionalProperties?: JsonSchema | boolean
  }
  if (anyOf !== undefined) return isAnySchema(anyOf) ? [] : anyOf.flatMap(part => looseParts(part, path))
  if ('enum' in schema || 'const' in schema) return []
  switch (type) {
    case 'array':
      if (maxItems === 0) return []
      return [
        ...(prefixItems ?? []).flatMap(part => looseParts(part, `${path}[]`)),
        ...(items === false ? [] : items === undefined ? [`${path}[]`] : looseParts(items, `${path}[]`)),
      ]
    case 'object': {
      const members = Object.entries(properties ?? {}).flatMap(([name, part]) => looseParts(part, `${path}.${name}`))
      if (additionalProperties === false) return members
      if (typeof additionalProperties !== 'object') return [...members, `${path}.*`]
      return [...members, ...looseParts(additionalProperties, `${path}.*`)]
    }
    default:
      return type === undefined ? [path] : []
  }
}

/** A JSON Schema as a value, which may be anything: an object or a boolean. */
const isAnySchema = ([object, boolean]: readonly JsonSchema[]): boolean =>
  object?.['type'] === 'object' && object['properties'] === undefined && boolean?.['type'] === 'boolean'
