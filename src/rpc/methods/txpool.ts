import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { ClientPoolPort } from '../../txpool/pool-service.ts'
import { ADDRESS_SCHEMA, address, QUANTITY_SCHEMA } from '../codecs/scalars.ts'
import { objectOf, STRING_SCHEMA, TRANSACTION_SCHEMA } from '../codecs/schemas.ts'
import { transactionJson } from '../encode/transaction.ts'
import { type MethodTable, method } from '../router/method.ts'
import { type JsonSchema, RawJson } from '../router/raw-json.ts'

type Render = (transaction: Transaction) => string
type Accounts = ReadonlyMap<Hex, readonly Transaction[]>

const byNonce = (transactions: readonly Transaction[], render: Render): string =>
  `{${transactions.map(transaction => `"${transaction.nonce}":${render(transaction)}`).join(',')}}`

const byAccount = (accounts: Accounts, render: Render): string =>
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
const contentOf = (title: string, part: JsonSchema) => objectOf(title, { pending: part, queued: part })

const byAccounts = (render: Render) => (accounts: Accounts) => byAccount(accounts, render)

const contentJson = (pool: ClientPoolPort, json: (accounts: Accounts) => string): RawJson => {
  const { pending, queued } = pool.content()
  return new RawJson(`{"pending":${json(pending)},"queued":${json(queued)}}`)
}

/** Content of the pool; operator port only. `pending` is executable; `queued` lacks a nonce, a balance or a price. */
export const txpool = {
  txpool_status: method({
    summary: 'Number of transactions in the pool',
    result: objectOf('PoolStatus', { pending: QUANTITY_SCHEMA, queued: QUANTITY_SCHEMA }),
    handler: ({ pool }) => {
      const { pending, queued } = pool.counts()
      return { pending: toQuantity(pending), queued: toQuantity(queued) }
    },
  }),
  txpool_content: method({
    summary: 'All transactions of the pool by account and nonce',
    result: contentOf('PoolContent', mapOf(TRANSACTION_SCHEMA)),
    handler: ({ pool }) => contentJson(pool, byAccounts(whole)),
  }),
  txpool_contentFrom: method({
    summary: "An account's transactions by nonce",
    params: [address],
    result: contentOf('AccountContent', byNonceSchema(TRANSACTION_SCHEMA)),
    handler: ({ pool }, account) => {
      const { pending, queued } = pool.content()
      const json = (transactions: readonly Transaction[] = []): string => byNonce(transactions, whole)
      return new RawJson(`{"pending":${json(pending.get(account))},"queued":${json(queued.get(account))}}`)
    },
  }),
  txpool_inspect: method({
    summary: 'All transactions of the pool as one line of text each',
    result: contentOf('PoolSummary', mapOf(STRING_SCHEMA)),
    handler: ({ pool }) => contentJson(pool, byAccounts(short)),
  }),
} satisfies MethodTable
