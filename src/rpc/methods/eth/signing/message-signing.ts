import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { codec, optional } from '../../../codecs/codec.ts'
import { address, DATA_SCHEMA, data, parseString } from '../../../codecs/scalars.ts'
import { typedData } from '../../../codecs/typed-data.ts'
import { type Method, type MethodTable, method } from '../../../router/method.ts'
import { STRING_SCHEMA } from '../../../schemas.ts'
import { ownAccount, signPersonalMessage } from './signing.ts'

const password = codec('password', STRING_SCHEMA, parseString)

/** All versions share one implementation: version 4 encodes everything version 3 can express in the same way. */
const signTyped = (notes: string): Method =>
  method({
    summary: 'Signs typed structured data (EIP-712)',
    params: [address, typedData],
    result: DATA_SCHEMA,
    notes,
    handler: async ({ wallet, ...context }, account, typed): Promise<Hex> =>
      bytesToHex(await wallet.signTyped(ownAccount({ wallet, ...context }, account), typed)),
  })

/** Signatures of messages with keys of the node, as applications ask wallets for them. */
export const messageSigning: MethodTable = {
  eth_signTypedData_v4: signTyped(
    'The data as an object, or as JSON of one. Members that no type names are passed over.',
  ),
  eth_signTypedData_v3: signTyped('Same as eth_signTypedData_v4.'),
  eth_signTypedData: signTyped('Same as eth_signTypedData_v4; the arrays of version 1 are refused.'),
  personal_sign: method({
    summary: 'Signs a message with the EIP-191 prefix: eth_sign with its arguments the other way round',
    params: [data, address, optional(password)],
    result: DATA_SCHEMA,
    notes: 'A password is passed over.',
    handler: async (context, message, account) =>
      bytesToHex(await signPersonalMessage(context, ownAccount(context, account), message)),
  }),
}
