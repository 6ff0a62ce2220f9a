import { block, blockNumber } from '../../src/rpc/codecs/block.ts'
import {
  ADDRESS_SCHEMA,
  BOOLEAN_SCHEMA,
  DATA_SCHEMA,
  HASH_SCHEMA,
  QUANTITY_SCHEMA,
} from '../../src/rpc/codecs/scalars.ts'
import { METHODS } from '../../src/rpc/methods/methods.ts'
import { type Method, type MethodTable, namespaceOf, namespacesIn } from '../../src/rpc/router/method.ts'
import type { Codec } from '../../src/rpc/router/method-description.ts'
import type { JsonSchema } from '../../src/rpc/router/raw-json.ts'

const NAMES: readonly (readonly [JsonSchema, string])[] = [
  [QUANTITY_SCHEMA, 'QUANTITY'],
  [DATA_SCHEMA, 'DATA'],
  [ADDRESS_SCHEMA, 'DATA20'],
  [HASH_SCHEMA, 'DATA32'],
  [BOOLEAN_SCHEMA, 'boolean'],
  [block.schema, 'BLOCK'],
  [blockNumber.schema, 'NUMBER'],
]

/** Returns the name of a schema in the terms that the head of the page explains; a titled object has its title. */
const schemaName = (schema: JsonSchema): string => {
  const known = NAMES.find(([item]) => item === schema)
  if (known !== undefined) return known[1]
  const {
    title,
    type,
    pattern,
    anyOf,
    items,
    enum: values,
    const: only,
  } = schema as {
    title?: string
    type?: string
    pattern?: string
    anyOf?: readonly JsonSchema[]
    items?: JsonSchema
    enum?: readonly string[]
    const?: unknown
  }
  if (title !== undefined) return title
  if (anyOf !== undefined) return unionName(anyOf.map(schemaName))
  if (values !== undefined) return values.map(value => `'${value}'`).join(' or ')
  if (only !== undefined) return String(only)
  if (type === 'array') return items === undefined ? 'array' : `${schemaName(items)}[]`
  // Bytes of a bounded length.
  if (pattern?.startsWith('^0x([0-9a-f]{2})')) return 'DATA'
  return type ?? 'any'
}

const unionName = (names: readonly string[]): string => {
  if (names.length === 2 && names[1] === 'null') return `${names[0]}?`
  return names.join() === 'integer,string' ? 'INTEGER' : names.join(' or ')
}

/** Types of arguments that stand at the head of the page, by name: a row has the others. */
const USUAL: Readonly<Record<string, string>> = {
  address: 'DATA20',
  hash: 'DATA32',
  data: 'DATA',
  block: 'BLOCK',
  call: 'object',
  options: 'object',
  overrides: 'object',
  blockOverrides: 'object',
  full: 'boolean',
  enabled: 'boolean',
  index: 'QUANTITY',
}

const paramText = ({ name, schema, optional }: Codec<unknown>): string => {
  const type = schemaName(schema)
  const mark = optional ? '?' : ''
  if (name === 'block' && type === 'NUMBER') return `NUMBER${mark}`
  return `${name}${mark}${USUAL[name] === type ? '' : `: ${type}`}`
}

const paramsText = ({ params }: Method): string => `(${params.map(paramText).join(', ')})`

/** Notes of a method; of one that is the same as another, that one's. */
const notesOf = ({ notes }: Method, methods: MethodTable): string => {
  const same = methods[/^Same as (\w+)\.$/.exec(notes ?? '')?.[1] ?? '']
  if (same !== undefined) return notesOf(same, methods)
  return notes === undefined ? '' : ` ${notes}`
}

/** Methods that read the same under several names, or by number and by hash: one row, below the first name. */
const rowsOf = (methods: MethodTable): ReadonlyMap<string, readonly [name: string, method: Method][]> =>
  Map.groupBy(
    Object.entries(methods),
    ([name, method]) =>
      `${NUMBER_OR_HASH.test(name) ? '' : paramsText(method)} ${method.summary}${notesOf(method, methods)}`,
  )

const NUMBER_OR_HASH = /By(Block)?(Number|Hash)/
const NATIVE = /^eth_/

const rowText = (
  [first, ...others]: readonly [name: string, method: Method][],
  methods: MethodTable,
  isNoted: boolean,
): string => {
  if (first === undefined) return ''
  const [name, method] = first
  const result = schemaName(method.result)
  const native = name.replace(NATIVE, 'native_')
  const isNative = others.some(([other]) => other === native)
  const natives = [first, ...others]
    .filter(([other]) => NATIVE.test(other))
    .map(([other]) => other.replace(NATIVE, 'native_'))
  const named = others
    .filter(([other]) => !natives.includes(other))
    .map(([other, own]) => {
      const params = paramsText(own) === paramsText(method) ? '' : paramsText(own)
      return `\`${other}${params}\`${schemaName(own.result) === result ? '' : ` (${schemaName(own.result)})`}`
    })
  const also = named.length === 0 ? '' : ` Also ${named.join(', ')}.`
  const tags = [
    ...(name === native || isNative ? [] : [' [eth]']),
    ...(method.requires === undefined || isNoted ? [] : [` [${method.requires}]`]),
  ]
  return `- \`${name}${paramsText(method)}: ${result}\`${tags.join('')} ${method.summary}.${notesOf(method, methods)}${also}`
}

/** Renders docs/rpc.md from the method table; the page is never edited by hand. */
export const renderRpcDocs = (methods: MethodTable = METHODS): string => {
  const rows = [...rowsOf(methods).values()]
  const sections = namespacesIn(methods).flatMap(namespace => {
    const own = rows.filter(([first]) => first !== undefined && namespaceOf(first[0]) === namespace)
    if (own.length === 0) return []
    const [needs, ...more] = new Set(own.map(([first]) => first?.[1].requires))
    const isOfAll = needs !== undefined && more.length === 0
    const rowTexts = own.map(row => rowText(row, methods, isOfAll))
    return [`## ${namespace}\n\n${isOfAll ? `All [${needs}].\n\n` : ''}${rowTexts.join('\n')}\n`]
  })
  return `# JSON-RPC methods

Generated from the table of methods by \`npm run docs\`; do not edit. \`rpc.discover\` returns the same of an endpoint, with all schemas (OpenRPC).
A method with several names, or by number and by hash, stands below the first; each of \`eth\` has its \`native_\` name too, but those with [eth].

QUANTITY is a number in hex without leading zeros, DATA bytes in hex (DATA20: of that length), both with 0x; INTEGER a number or text of one. NUMBER is a block as a
QUANTITY, \`latest\`, \`earliest\` or \`pending\`, BLOCK also a hash or an object with \`blockHash\` or \`blockNumber\` (EIP-1898). \`?\` marks arguments that may be left out and
results that may be null.
Without a type, address is DATA20, hash DATA32, data DATA, block BLOCK, index QUANTITY, full and enabled booleans, call, options and overrides objects.
[dev], [mining] and the like: served only by a node with that part; dev is a development chain. Namespaces of each network: [interface.md](interface.md#namespaces).

${sections.join('\n')}`
}
