/** JSON Schema (draft 2020-12), as far as the API declares things with it. */
export interface ApiSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, ApiSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | ApiSchema
  readonly items?: ApiSchema
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: unknown
  readonly anyOf?: readonly ApiSchema[]
  readonly $ref?: string
}

/** An object with exactly these members. */
export const shape = (properties: Readonly<Record<string, ApiSchema>>): ApiSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

export const arrayOf = (items: ApiSchema): ApiSchema => ({ type: 'array', items })
export const nullable = (schema: ApiSchema): ApiSchema =>
  typeof schema.type === 'string' && schema.enum === undefined
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }

export const INTEGER: ApiSchema = { type: 'integer' }
export const NUMBER: ApiSchema = { type: 'number' }
export const TEXT: ApiSchema = { type: 'string' }
export const BOOLEAN: ApiSchema = { type: 'boolean' }
/** Wei, gas, token units: decimal digits. */
export const DECIMAL: ApiSchema = { type: 'string', pattern: '^-?(0|[1-9][0-9]*)$' }
export const ADDRESS: ApiSchema = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }
export const HASH: ApiSchema = { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }
export const DATA: ApiSchema = { type: 'string', pattern: '^0x([0-9a-f]{2})*$' }

/** One page of a list. */
export const pageOfShape = (items: ApiSchema): ApiSchema =>
  shape({
    items: arrayOf(items),
    total: nullable(INTEGER),
    limit: INTEGER,
    offset: INTEGER,
    nextCursor: nullable(TEXT),
  })
