import { NETWORKS } from '../../src/config/networks.ts'
import type { Codec } from '../../src/rpc/codecs/codec.ts'
import {
  ADDRESS_SCHEMA,
  BOOLEAN_SCHEMA,
  DATA_SCHEMA,
  HASH_SCHEMA,
  QUANTITY_SCHEMA,
} from '../../src/rpc/codecs/scalars.ts'
import { METHODS } from '../../src/rpc/methods.ts'
import { type Method, type MethodTable, namespaceOf, namespacesIn } from '../../src/rpc/router/method.ts'
import type { JsonSchema } from '../../src/rpc/router/raw-json.ts'

const NAMES: readonly (readonly [JsonSchema, string])[] = [
  [QUANTITY_SCHEMA, 'QUANTITY'],
  [DATA_SCHEMA, 'DATA'],
  [ADDRESS_SCHEMA, 'DATA 20'],
  [HASH_SCHEMA, 'DATA 32'],
  [BOOLEAN_SCHEMA, 'boolean'],
]

/** Returns the name of a schema in the terms of docs/interface.md; a titled object has its title. */
const schemaName = (schema: JsonSchema): string => {
  const known = NAMES.find(([item]) => item === schema)
  if (known !== undefined) return known[1]
  const {
    title,
    type,
    anyOf,
    items,
    enum: values,
    const: only,
  } = schema as {
    title?: string
    type?: string
    anyOf?: readonly JsonSchema[]
    items?: JsonSchema
    enum?: readonly string[]
    const?: unknown
  }
  if (title !== undefined) return title
  if (anyOf !== undefined) return anyOf.map(schemaName).join(' or ')
  if (values !== undefined) return values.map(value => `\`${value}\``).join(' or ')
  if (only !== undefined) return String(only)
  if (type === 'array') return items === undefined ? 'array' : `array of ${schemaName(items)}`
  return type ?? 'any'
}

const paramText = ({ name, schema, optional }: Codec<unknown>): string =>
  `${name}: ${schemaName(schema)}${optional ? ' (optional)' : ''}`

const methodText = (name: string, method: Method): string => {
  const params = method.params.length === 0 ? 'none' : method.params.map(paramText).join('; ')
  const needs = method.requires === undefined ? '' : ` Served only by a node with: ${method.requires}.`
  return [
    `### ${name}`,
    '',
    `${method.summary}.${method.notes === undefined ? '' : ` ${method.notes}`}${needs}`,
    '',
    `- params: ${params}`,
    `- result: ${schemaName(method.result)}`,
    '',
  ].join('\n')
}

const networkTable = (): string =>
  [
    '| Network | HTTP | WebSocket | WebSocket path |',
    '|---|---|---|---|',
    ...Object.values(NETWORKS).map(
      ({ name, namespaces, wsPaths, wsRedirect }) =>
        `| ${name} | ${namespaces.http.join(', ')} | ${namespaces.ws.join(', ')} | ${wsPaths.map(path => `\`${path}\``).join(', ')}${wsRedirect === null ? '' : ` (\`${wsRedirect}\` is answered by 301)`} |`,
    ),
  ].join('\n')

/** Renders docs/rpc.md from the method table; the page is never edited by hand. */
export const renderRpcDocs = (methods: MethodTable = METHODS): string => {
  const namespaces = namespacesIn(methods)
  const sections = namespaces.map(namespace => {
    const own = Object.entries(methods).filter(([name]) => namespaceOf(name) === namespace)
    return `## ${namespace}\n\n${own.map(([name, method]) => methodText(name, method)).join('\n')}`
  })
  return `# JSON-RPC methods

Generated from the table of methods by \`npm run docs\`; do not edit. Each endpoint serves the same as an OpenRPC document under \`rpc.discover\`.

QUANTITY is a number in hex without leading zeros, DATA is bytes in hex, both with 0x. A block is a QUANTITY, \`latest\`, \`earliest\` or \`pending\`,
where named also a hash or an object with \`blockHash\` or \`blockNumber\` (EIP-1898). \`safe\` and \`finalized\` are refused: every block is final.

${networkTable()}

The operator port serves every namespace, on the loopback only.

${sections.join('\n')}`
}
