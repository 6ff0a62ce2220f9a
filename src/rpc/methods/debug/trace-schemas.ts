import { BOOLEAN_SCHEMA, DATA_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, listOf, objectOf, STRING_SCHEMA } from '../../schemas.ts'

const STRUCT_LOG_SCHEMA = objectOf(
  'StructLog',
  {
    pc: INTEGER_SCHEMA,
    op: STRING_SCHEMA,
    gas: INTEGER_SCHEMA,
    gasCost: INTEGER_SCHEMA,
    depth: { type: 'integer', minimum: 1 },
    error: STRING_SCHEMA,
    stack: listOf(QUANTITY_SCHEMA),
    returnData: DATA_SCHEMA,
    memory: listOf(HASH_SCHEMA),
    storage: { type: 'object', additionalProperties: HASH_SCHEMA },
    refund: INTEGER_SCHEMA,
  },
  ['error', 'stack', 'returnData', 'memory', 'storage', 'refund'],
)

export const STRUCT_LOGS_SCHEMA = objectOf('StructLogs', {
  gas: INTEGER_SCHEMA,
  failed: BOOLEAN_SCHEMA,
  returnValue: DATA_SCHEMA,
  structLogs: listOf(STRUCT_LOG_SCHEMA),
})
