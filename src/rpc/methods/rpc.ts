import { type MethodTable, method, namespaceOf } from '../method.ts'
import { openRpcDocument } from '../openrpc.ts'

/** What an endpoint serves, said by itself. */
export const rpc = {
  rpc_modules: method({
    summary: 'Namespaces of this endpoint and their versions',
    params: [],
    result: { type: 'object', additionalProperties: { const: '1.0' } },
    // Only what answers: a namespace whose methods need parts that this node lacks is not served.
    handler: ({ methods }) =>
      Object.fromEntries([...new Set(Object.keys(methods).map(namespaceOf))].map(name => [name, '1.0'])),
  }),
  'rpc.discover': method({
    summary: 'The OpenRPC document of this endpoint',
    params: [],
    result: { type: 'object' },
    handler: ({ methods }) => openRpcDocument(methods),
  }),
} satisfies MethodTable
