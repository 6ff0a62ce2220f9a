import type { Transaction } from '../../primitives/transaction.ts'
import { type Hex, toQuantity } from '../../util/bytes.ts'
import { ADDRESS_SCHEMA, address, QUANTITY_SCHEMA } from '../codecs/scalars.ts'
import { transactionJson } from '../encode/transaction.ts'
import { RawJson } from '../json.ts'
import { type MethodTable, method } from '../method.ts'
import { objectOf, STRING_SCHEMA, TRANSACTION_SCHEMA } from '../schemas.ts'

type Render = (transaction: Transaction) => string

const byNonce = (transactions: readonly Transaction[], render: Render): string =>
  `{${transactions.map(transaction => `"${transaction.nonce}":${render(transaction)}`).join(',')}}`

const byAccount = (accounts: ReadonlyMap<Hex, readonly Transaction[]>, render: Render): string =>
  `{${[...accounts].map(([account, transactions]) => `"${account}":${byNonce(transactions, render)}`).join(',')}}`

const whole: Render = transaction => transactionJson(transaction, null)
const short: Render = ({ to, value, gasLimit, maxFeePerGas }) =>
  JSON.stringify(`${to ?? 'contract creation'}: ${value} wei + ${gasLimit} gas × ${maxFeePerGas} wei`)

/** Nonces in decimal. */
const byNonceSchema = (schema: object) => ({
  type: 'object',
  propertyNames: { pattern: '^(0|[1-9][0-9]*)$' },
  additionalProperties: schema,
})
const mapOf = (schema: object) => ({
  type: 'object',
  propertyNames: ADDRESS_SCHEMA,
  additionalProperties: byNonceSchema(schema),
})
const bothOf = (title: string, schema: object) => objectOf(title, { pending: mapOf(schema), queued: mapOf(schema) })

/** The pool as it stands; operator port only. `pending` is executable, `queued` waits for a nonce or a balance. */
export const txpool = {
  txpool_status: method({
    summary: 'Number of transactions in the pool',
    params: [],
    result: objectOf('PoolStatus', { pending: QUANTITY_SCHEMA, queued: QUANTITY_SCHEMA }),
    handler: ({ pool }) => {
      const { pending, queued } = pool.counts()
      return { pending: toQuantity(pending), queued: toQuantity(queued) }
    },
  }),
  txpool_content: method({
    summary: 'All transactions of the pool by account and nonce',
    params: [],
    result: bothOf('PoolContent', TRANSACTION_SCHEMA),
    handler: ({ pool }) => {
      const { pending, queued } = pool.content()
      return new RawJson(`{"pending":${byAccount(pending, whole)},"queued":${byAccount(queued, whole)}}`)
    },
  }),
  txpool_contentFrom: method({
    summary: "An account's transactions by nonce",
    params: [address],
    result: objectOf('AccountContent', {
      pending: byNonceSchema(TRANSACTION_SCHEMA),
      queued: byNonceSchema(TRANSACTION_SCHEMA),
    }),
    handler: ({ pool }, account) => {
      const { pending, queued } = pool.content()
      return new RawJson(
        `{"pending":${byNonce(pending.get(account) ?? [], whole)},"queued":${byNonce(queued.get(account) ?? [], whole)}}`,
      )
    },
  }),
  txpool_inspect: method({
    summary: 'All transactions of the pool as one line of text each',
    params: [],
    result: bothOf('PoolSummary', STRING_SCHEMA),
    handler: ({ pool }) => {
      const { pending, queued } = pool.content()
      return new RawJson(`{"pending":${byAccount(pending, short)},"queued":${byAccount(queued, short)}}`)
    },
  }),
} satisfies MethodTable
