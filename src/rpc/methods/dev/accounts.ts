import { callObject } from '../../codecs/call.ts'
import { amount, enabled, nonce, position, word } from '../../codecs/dev.ts'
import { address, BOOLEAN_SCHEMA, data, HASH_SCHEMA, hash } from '../../codecs/scalars.ts'
import { NULL_SCHEMA, orNull } from '../../codecs/schemas.ts'
import { serverError } from '../../errors.ts'
import { devMethod, type MethodTable } from '../../router/method.ts'
import { sendUnsigned } from '../eth/signing.ts'
import { answerSent } from '../eth/thrown-reverts.ts'
import { type DevNamespace, devFromContext, emptyResult } from './dev-namespace.ts'

/** Account and pool methods, under `hardhat_` and `anvil_` alike. */
export const accountMethods = (namespace: DevNamespace): MethodTable => ({
  ...editMethods(namespace),
  ...impersonationMethods(namespace),
  ...poolMethods(namespace),
})

/** Edits of the state. */
const editMethods = (namespace: DevNamespace): MethodTable => {
  const { done, result } = emptyResult(namespace)
  return {
    [`${namespace}_setBalance`]: devMethod({
      summary: "Sets an account's balance in wei",
      params: [address, amount],
      result,
      handler: async (context, account, balance) => {
        await devFromContext(context).edit(account, { balance })
        return done
      },
    }),
    [`${namespace}_setCode`]: devMethod({
      summary: "Sets an account's code",
      params: [address, data],
      result,
      handler: async (context, account, code) => {
        await devFromContext(context).edit(account, { code })
        return done
      },
    }),
    [`${namespace}_setNonce`]: devMethod({
      summary: "Sets an account's nonce",
      params: [address, nonce],
      result,
      handler: async (context, account, nonce) => {
        await devFromContext(context).edit(account, { nonce })
        return done
      },
    }),
    [`${namespace}_setStorageAt`]: devMethod({
      summary: "Sets a word of an account's storage",
      params: [address, position, word],
      result: { const: true },
      handler: async (context, account, slot, value) => {
        await devFromContext(context).edit(account, { slot: { slot, word: value } })
        return true
      },
    }),
  }
}

/** Sending without a key. */
const impersonationMethods = (namespace: DevNamespace): MethodTable => {
  const { done, result } = emptyResult(namespace)
  return {
    [`${namespace}_impersonateAccount`]: devMethod({
      summary: 'Lets an account send transactions (eth_sendTransaction) without its key, a contract too',
      params: [address],
      result,
      handler: (context, account) => {
        devFromContext(context).impersonation.start(account)
        return done
      },
    }),
    [`${namespace}_stopImpersonatingAccount`]: devMethod({
      summary: 'Ends the impersonation of an account',
      params: [address],
      result: namespace === 'hardhat' ? BOOLEAN_SCHEMA : NULL_SCHEMA,
      handler: (context, account) => {
        const was = devFromContext(context).impersonation.stop(account)
        return namespace === 'hardhat' ? was : null
      },
    }),
  }
}

/** Edits of the pool. */
const poolMethods = (namespace: DevNamespace): MethodTable => ({
  [`${namespace}_dropTransaction`]: devMethod({
    summary: 'Takes a transaction out of the pool',
    params: [hash],
    result: namespace === 'hardhat' ? BOOLEAN_SCHEMA : orNull(HASH_SCHEMA),
    handler: async (context, id) => {
      const dropped = await devFromContext(context).dropTransactions([id])
      if (namespace === 'anvil') return dropped ? id : null
      if (!dropped && (await context.view.locate(id)) !== undefined)
        throw serverError(`Transaction ${id} cannot be dropped because it's already mined`)
      return dropped
    },
  }),
})

export const anvilAccounts = {
  anvil_autoImpersonateAccount: devMethod({
    summary: 'Whether every account may send without its key',
    params: [enabled],
    result: NULL_SCHEMA,
    handler: (context, auto) => {
      devFromContext(context).impersonation.auto = auto
      return null
    },
  }),
  anvil_dropAllTransactions: devMethod({
    summary: 'Empties the pool',
    params: [],
    result: NULL_SCHEMA,
    handler: async context => {
      await devFromContext(context).dropAllTransactions()
      return null
    },
  }),
  anvil_removePoolTransactions: devMethod({
    summary: "Takes an account's transactions out of the pool",
    params: [address],
    result: NULL_SCHEMA,
    handler: async (context, account) => {
      const { pending, queued } = context.pool.content()
      const waiting = [...(pending.get(account) ?? []), ...(queued.get(account) ?? [])]
      await devFromContext(context).dropTransactions(waiting.map(transaction => transaction.hash))
      return null
    },
  }),
  eth_sendUnsignedTransaction: devMethod({
    summary: 'Submits a transaction of any account, without a signature',
    params: [callObject],
    result: HASH_SCHEMA,
    handler: async (context, args) => {
      if (args.from === undefined) throw serverError('the transaction names no sender: give "from"')
      return answerSent(context, await sendUnsigned(context, args.from, args))
    },
  }),
} satisfies MethodTable
