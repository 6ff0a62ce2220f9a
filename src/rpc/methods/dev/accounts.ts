import { callObject } from '../../codecs/call.ts'
import { amount, enabled, nonce, position, word } from '../../codecs/dev.ts'
import { address, BOOLEAN_SCHEMA, data, HASH_SCHEMA, hash } from '../../codecs/scalars.ts'
import { NULL_SCHEMA, orNull } from '../../codecs/schemas.ts'
import { serverError } from '../../errors.ts'
import type { MethodTable } from '../../router/method.ts'
import { sendUnsigned } from '../eth/signing.ts'
import { hashUnlessReverted } from '../eth/thrown-reverts.ts'
import { COMMANDS, type DevNamespace, devMethod, nullCommand, trueCommand } from './dev-method.ts'

/** Account and pool methods, under `hardhat_` and `anvil_` alike. */
export const accountMethods = (namespace: DevNamespace): MethodTable => {
  const command = COMMANDS[namespace]
  return {
    [`${namespace}_setBalance`]: command({
      summary: "Sets an account's balance in wei",
      params: [address, amount],
      handler: ({ dev }, account, balance) => dev.edit(account, { balance }),
    }),
    [`${namespace}_setCode`]: command({
      summary: "Sets an account's code",
      params: [address, data],
      handler: ({ dev }, account, code) => dev.edit(account, { code }),
    }),
    [`${namespace}_setNonce`]: command({
      summary: "Sets an account's nonce",
      params: [address, nonce],
      handler: ({ dev }, account, nonce) => dev.edit(account, { nonce }),
    }),
    [`${namespace}_setStorageAt`]: trueCommand({
      summary: "Sets a word of an account's storage",
      params: [address, position, word],
      handler: ({ dev }, account, slot, value) => dev.edit(account, { slot: { slot, word: value } }),
    }),
    [`${namespace}_impersonateAccount`]: command({
      summary: 'Lets an account send transactions (eth_sendTransaction) without its key, a contract too',
      params: [address],
      handler: ({ dev }, account) => dev.impersonation.start(account),
    }),
    [`${namespace}_stopImpersonatingAccount`]: devMethod({
      summary: 'Ends the impersonation of an account',
      params: [address],
      result: namespace === 'hardhat' ? BOOLEAN_SCHEMA : NULL_SCHEMA,
      handler: ({ dev }, account) => {
        const was = dev.impersonation.stop(account)
        return namespace === 'hardhat' ? was : null
      },
    }),
    ...poolMethods(namespace),
  }
}

/** Edits of the pool. */
const poolMethods = (namespace: DevNamespace): MethodTable => ({
  [`${namespace}_dropTransaction`]: devMethod({
    summary: 'Takes a transaction out of the pool',
    params: [hash],
    result: namespace === 'hardhat' ? BOOLEAN_SCHEMA : orNull(HASH_SCHEMA),
    handler: async ({ dev, view }, id) => {
      const dropped = await dev.dropTransactions([id])
      if (namespace === 'anvil') return dropped ? id : null
      if (!dropped && (await view.locate(id)) !== undefined)
        throw serverError(`Transaction ${id} cannot be dropped because it's already mined`)
      return dropped
    },
  }),
})

export const anvilAccounts = {
  anvil_autoImpersonateAccount: nullCommand({
    summary: 'Whether every account may send without its key',
    params: [enabled],
    handler: ({ dev }, auto) => {
      dev.impersonation.auto = auto
    },
  }),
  anvil_dropAllTransactions: nullCommand({
    summary: 'Empties the pool',
    handler: ({ dev }) => dev.dropAllTransactions(),
  }),
  anvil_removePoolTransactions: nullCommand({
    summary: "Takes an account's transactions out of the pool",
    params: [address],
    handler: ({ dev, pool }, account) => {
      const { pending, queued } = pool.content()
      const waiting = [...(pending.get(account) ?? []), ...(queued.get(account) ?? [])]
      return dev.dropTransactions(waiting.map(transaction => transaction.hash))
    },
  }),
  eth_sendUnsignedTransaction: devMethod({
    summary: 'Submits a transaction of any account, without a signature',
    params: [callObject],
    result: HASH_SCHEMA,
    handler: async (context, args) => {
      if (args.from === undefined) throw serverError('the transaction names no sender: give "from"')
      return hashUnlessReverted(context, await sendUnsigned(context, args.from, args))
    },
  }),
} satisfies MethodTable
