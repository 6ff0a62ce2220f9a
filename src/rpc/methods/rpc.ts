import { toQuantity } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { BOOLEAN_SCHEMA, data, HASH_SCHEMA, QUANTITY_SCHEMA } from '../codecs/scalars.ts'
import { INTEGER_SCHEMA, listOf, objectOf, STRING_SCHEMA, strings } from '../codecs/schemas.ts'
import { type MethodTable, method, namespacesIn } from '../router/method.ts'
import type { MethodDescriptions } from '../router/method-description.ts'
import { RawJson } from '../router/raw-json.ts'

const ANY_SCHEMA = { anyOf: [{ type: 'object' }, BOOLEAN_SCHEMA] }

/** Schema of the OpenRPC document, as far as this node uses it; the schemas in it are unrestricted. */
const OPENRPC_SCHEMA = objectOf('OpenRpc', {
  openrpc: { const: '1.3.2' },
  info: objectOf('Info', { ...strings('title', 'version'), license: objectOf('License', { name: STRING_SCHEMA }) }),
  methods: listOf(
    objectOf(
      'Method',
      {
        ...strings('name', 'summary'),
        paramStructure: { const: 'by-position' },
        params: listOf(objectOf('Param', { name: STRING_SCHEMA, required: BOOLEAN_SCHEMA, schema: ANY_SCHEMA })),
        result: objectOf('Result', { name: STRING_SCHEMA, schema: ANY_SCHEMA }),
      },
      { description: STRING_SCHEMA },
    ),
  ),
})

const described = (methods: MethodDescriptions) => Object.entries(methods).filter(([, { isDisabled }]) => !isDisabled)

/** Returns the OpenRPC 1.3 document of a method table. */
const openRpcDocument = (methods: MethodDescriptions): object => ({
  openrpc: '1.3.2',
  info: { title: 'Tandem JSON-RPC', version: '1.0', license: { name: 'Apache-2.0' } },
  methods: described(methods).map(([name, method]) => ({
    name,
    summary: method.summary,
    ...(method.notes !== undefined && { description: method.notes }),
    paramStructure: 'by-position',
    params: method.params.map(({ name: title, schema, optional }) => ({ name: title, required: !optional, schema })),
    result: { name: 'result', schema: method.result },
  })),
})

export const web3 = {
  web3_clientVersion: method({
    summary: 'Name and version of the node',
    result: STRING_SCHEMA,
    handler: ({ info }) => info.web3ClientVersion ?? info.clientVersion,
  }),
  web3_sha3: method({
    summary: 'keccak-256 of the data',
    params: [data],
    result: HASH_SCHEMA,
    handler: (_, bytes) => keccak256Hex(bytes),
  }),
} satisfies MethodTable

export const net = {
  net_version: method({
    summary: 'Network id in decimal',
    result: { type: 'string', pattern: '^[0-9]+$' },
    handler: ({ view }) => String(view.params.networkId),
  }),
  net_networkID: method({
    summary: 'Network id as a number',
    result: INTEGER_SCHEMA,
    handler: ({ view }) => view.params.networkId,
  }),
  net_listening: method({
    summary: 'Whether the node takes connections of peers',
    result: BOOLEAN_SCHEMA,
    handler: ({ info }) => info.listening(),
  }),
  net_peerCount: method({
    summary: 'Number of peers',
    result: QUANTITY_SCHEMA,
    handler: ({ info }) => toQuantity(info.peerCount()),
  }),
} satisfies MethodTable

/** The document never changes, and building it takes a thousand times as long as sending it. */
const documents = new WeakMap<MethodDescriptions, RawJson>()
const documentOf = (methods: MethodDescriptions): RawJson =>
  getOrMake(documents, methods, () => new RawJson(JSON.stringify(openRpcDocument(methods))))

/** Methods that describe the endpoint. */
export const rpc = {
  rpc_modules: method({
    summary: 'Namespaces of this endpoint and their versions',
    result: { type: 'object', additionalProperties: { const: '1.0' } },
    // Only served namespaces: one whose methods need missing parts of the node is left out.
    handler: ({ methods }) => Object.fromEntries(namespacesIn(methods).map(name => [name, '1.0'])),
  }),
  'rpc.discover': method({
    summary: 'The OpenRPC document of this endpoint',
    result: OPENRPC_SCHEMA,
    handler: ({ methods }) => documentOf(methods),
  }),
} satisfies MethodTable
