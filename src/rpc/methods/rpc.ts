import { type MethodTable, method } from '../method.ts'
import { openRpcDocument } from '../openrpc.ts'

/** What an endpoint serves, said by itself. */
export const rpc = {
  rpc_modules: method({
    summary: 'Namespaces of this endpoint and their versions',
    params: [],
    result: { type: 'object', additionalProperties: { const: '1.0' } },
    handler: ({ namespaces }) => Object.fromEntries(namespaces.map(name => [name, '1.0'])),
  }),
  'rpc.discover': method({
    summary: 'The OpenRPC document of this endpoint',
    params: [],
    result: { type: 'object' },
    handler: ({ methods }) => openRpcDocument(methods),
  }),
} satisfies MethodTable
