import { bytesToHex, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { signingPayload } from '../../../primitives/transaction/transaction-encoding.ts'
import { callObject } from '../../codecs/call.ts'
import { address, DATA_SCHEMA, data, HASH_SCHEMA, parseString, quantity } from '../../codecs/scalars.ts'
import { objectOf, STRING_SCHEMA, UNSIGNED_SCHEMA } from '../../codecs/schemas.ts'
import { typedData } from '../../codecs/typed-data.ts'
import { encodeUnsigned } from '../../encode/transaction.ts'
import { type Method, type MethodTable, method } from '../../router/method.ts'
import { codec, named, optional } from '../../router/method-description.ts'
import {
  filledTransaction,
  ownAccount,
  requireFees,
  resend,
  sendingAccount,
  sendTransaction,
  signPersonalMessage,
  signTransaction,
  withFees,
} from './signing.ts'
import { answerSent } from './thrown-reverts.ts'

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

/** Signatures of messages with keys of the node, as applications request them of wallets. */
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

/**
 * Methods that use the node's key store; a public node has no keys and answers `unknown account`
 * (docs/interface.md#authentication).
 */
export const ethWallet = {
  eth_sign: method({
    summary: 'Signs a message with the EIP-191 prefix',
    params: [address, data],
    result: DATA_SCHEMA,
    handler: async (context, account, message) =>
      bytesToHex(await signPersonalMessage(context, ownAccount(context, account), message)),
  }),
  eth_signTransaction: method({
    summary: 'Signs a transaction without sending it',
    params: [callObject],
    result: DATA_SCHEMA,
    notes: 'A fee must be named: that is checked before the account.',
    handler: async (context, args) => {
      requireFees(args)
      return bytesToHex((await signTransaction(context, ownAccount(context, args.from), args)).raw)
    },
  }),
  eth_fillTransaction: method({
    summary: 'Transaction that a call describes, ready to be signed: gas, nonce and fees are filled in',
    params: [callObject],
    result: objectOf('FilledTransaction', { raw: DATA_SCHEMA, tx: UNSIGNED_SCHEMA }),
    notes: '`raw` is what is signed. The sender may be any account. Without fees the transaction is of type 2.',
    weight: 10,
    handler: async (context, args) => {
      const filled = await filledTransaction(context, args.from ?? ZERO_ADDRESS, withFees(context, args))
      return { raw: bytesToHex(signingPayload(filled)), tx: encodeUnsigned(filled, args.from ?? ZERO_ADDRESS) }
    },
  }),
  eth_sendTransaction: method({
    effect: 'change',
    summary: 'Signs a transaction and submits it',
    params: [callObject],
    result: HASH_SCHEMA,
    notes: 'Gas, nonce and price are filled in where they are absent.',
    handler: async (context, args) =>
      answerSent(context, await sendTransaction(context, sendingAccount(context, args.from), args)),
  }),
  eth_resend: method({
    effect: 'change',
    summary: "Replaces one of the node's own pending transactions by the same at another price",
    params: [callObject, optional(named('gasPrice', quantity)), optional(named('gas', quantity))],
    result: HASH_SCHEMA,
    notes:
      'The call names the pending transaction by its nonce, recipient, value and data. The pool takes a replacement at 10 % more.',
    handler: async (context, args, gasPrice, gas) =>
      answerSent(context, await resend(context, ownAccount(context, args.from), args, { gasPrice, gas })),
  }),
} satisfies MethodTable
