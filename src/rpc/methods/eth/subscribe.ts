import { assert } from '@tandem/base/assert.ts'
import { optional } from '../../codecs/codec.ts'
import { subscriptionId } from '../../codecs/ids.ts'
import { BOOLEAN_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import type { Context } from '../../context.ts'
import { serverError } from '../../errors.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { subscriptionFrom, subscriptionKind, subscriptionOption } from '../../subscriptions/subscription-args.ts'

const socketOf = ({ socket }: Context) => {
  assert(socket !== null, 'the router refuses socket methods over HTTP')
  return socket
}

/** Subscriptions over WebSocket; `namespace` is the prefix of the notification method. */
export const subscriptionsOf = <N extends string>(namespace: N) =>
  ({
    [`${namespace}_subscribe`]: method({
      summary: 'Starts notifications: newHeads, logs, newPendingTransactions or syncing',
      params: [subscriptionKind, optional(subscriptionOption)],
      result: QUANTITY_SCHEMA,
      notes:
        'WebSocket only. `logs` takes a filter object, `newPendingTransactions` true for whole transactions; native_subscribe also knows `newProofHeaders` and, where work is handed out, `newWork` with the address to pay.',
      socketOnly: true,
      needsId: true,
      handler: (context, kind, option) =>
        socketOf(context).subscribe(namespace, subscriptionFrom(namespace, kind, option)),
    }),
    [`${namespace}_unsubscribe`]: method({
      summary: 'Ends notifications',
      params: [subscriptionId],
      result: BOOLEAN_SCHEMA,
      notes: 'WebSocket only.',
      socketOnly: true,
      handler: (context, id) => {
        if (!socketOf(context).unsubscribe(id)) throw serverError('subscription not found')
        return true
      },
    }),
  }) satisfies MethodTable
