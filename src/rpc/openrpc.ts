import type { MethodTable } from './method.ts'

/** The OpenRPC 1.3 document of a table of methods. */
export const openRpcDocument = (methods: MethodTable): object => ({
  openrpc: '1.3.2',
  info: { title: 'Tandem JSON-RPC', version: '1.0', license: { name: 'Apache-2.0' } },
  methods: Object.entries(methods).map(([name, method]) => ({
    name,
    summary: method.summary,
    ...(method.notes !== undefined && { description: method.notes }),
    paramStructure: 'by-position',
    params: method.params.map(({ name: title, schema, optional }) => ({ name: title, required: !optional, schema })),
    result: { name: 'result', schema: method.result },
  })),
})
