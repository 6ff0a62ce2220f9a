import { type MethodTable, method, namespacesIn } from '../router/method.ts'
import type { MethodDescriptions } from '../router/method-description.ts'
import { RawJson } from '../router/raw-json.ts'
import { OPENRPC_SCHEMA, openRpcDocument } from './openrpc.ts'

/** The document never changes, and building it takes a thousand times as long as sending it. */
const documents = new WeakMap<MethodDescriptions, RawJson>()
const documentOf = (methods: MethodDescriptions): RawJson => {
  let document = documents.get(methods)
  if (document === undefined) {
    document = new RawJson(JSON.stringify(openRpcDocument(methods)))
    documents.set(methods, document)
  }
  return document
}

/** Methods that describe the endpoint. */
export const rpc = {
  rpc_modules: method({
    summary: 'Namespaces of this endpoint and their versions',
    params: [],
    result: { type: 'object', additionalProperties: { const: '1.0' } },
    // Only served namespaces: one whose methods need missing parts of the node is left out.
    handler: ({ methods }) => Object.fromEntries(namespacesIn(methods).map(name => [name, '1.0'])),
  }),
  'rpc.discover': method({
    summary: 'The OpenRPC document of this endpoint',
    params: [],
    result: OPENRPC_SCHEMA,
    handler: ({ methods }) => documentOf(methods),
  }),
} satisfies MethodTable
