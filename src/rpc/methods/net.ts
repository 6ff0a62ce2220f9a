import { toQuantity } from '@tandem/base/bytes.ts'
import { BOOLEAN_SCHEMA, QUANTITY_SCHEMA } from '../codecs/scalars.ts'
import { type MethodTable, method } from '../router/method.ts'
import { INTEGER_SCHEMA } from '../schemas.ts'

export const net = {
  net_version: method({
    summary: 'Network id in decimal',
    params: [],
    result: { type: 'string', pattern: '^[0-9]+$' },
    handler: ({ view }) => String(view.params.networkId),
  }),
  net_networkID: method({
    summary: 'Network id as a number',
    params: [],
    result: INTEGER_SCHEMA,
    handler: ({ view }) => view.params.networkId,
  }),
  net_listening: method({
    summary: 'Whether the node takes connections of peers',
    params: [],
    result: BOOLEAN_SCHEMA,
    handler: ({ info }) => info.listening(),
  }),
  net_peerCount: method({
    summary: 'Number of peers',
    params: [],
    result: QUANTITY_SCHEMA,
    handler: ({ info }) => toQuantity(info.peerCount()),
  }),
} satisfies MethodTable
