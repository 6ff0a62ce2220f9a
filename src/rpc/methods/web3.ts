import { keccak256Hex } from '../../crypto/hash.ts'
import { data, HASH_SCHEMA } from '../codecs/scalars.ts'
import { type MethodTable, method } from '../router/method.ts'
import { STRING_SCHEMA } from '../schemas.ts'

export const web3 = {
  web3_clientVersion: method({
    summary: 'Name and version of the node',
    params: [],
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
