import { BOOLEAN_SCHEMA } from '../codecs/scalars.ts'
import { listOf, objectOf, STRING_SCHEMA } from '../codecs/schemas.ts'
import type { MethodDescriptions } from '../router/method-description.ts'

const ANY_SCHEMA = { anyOf: [{ type: 'object' }, BOOLEAN_SCHEMA] }

/** Schema of the OpenRPC document, as far as this node uses it; the schemas in it are unrestricted. */
export const OPENRPC_SCHEMA = objectOf('OpenRpc', {
  openrpc: { const: '1.3.2' },
  info: objectOf('Info', {
    title: STRING_SCHEMA,
    version: STRING_SCHEMA,
    license: objectOf('License', { name: STRING_SCHEMA }),
  }),
  methods: listOf(
    objectOf(
      'Method',
      {
        name: STRING_SCHEMA,
        summary: STRING_SCHEMA,
        description: STRING_SCHEMA,
        paramStructure: { const: 'by-position' },
        params: listOf(objectOf('Param', { name: STRING_SCHEMA, required: BOOLEAN_SCHEMA, schema: ANY_SCHEMA })),
        result: objectOf('Result', { name: STRING_SCHEMA, schema: ANY_SCHEMA }),
      },
      ['description'],
    ),
  ),
})

const described = (methods: MethodDescriptions) => Object.entries(methods).filter(([, { isDisabled }]) => !isDisabled)

/** Returns the OpenRPC 1.3 document of a method table. */
export const openRpcDocument = (methods: MethodDescriptions): object => ({
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
