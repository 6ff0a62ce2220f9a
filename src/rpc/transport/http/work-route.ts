import type { Hex } from '@tandem/base/bytes.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { MiningPort } from '../../ports.ts'
import { clientIdOf } from '../clients/clients.ts'
import { cancellationOf } from './calls.ts'

type Work = NonNullable<ReturnType<MiningPort['work']>>

/**
 * `GET /work`: the work of native_getWork. With `longpollid`, the seal hash of the work that the miner has, the answer waits for other
 * work, half a minute at most.
 */
export const addWorkRoute = (app: FastifyInstance, mining: Pick<MiningPort, 'work' | 'onWork'>): void => {
  const places = new ClientBudget(RPC_LIMITS.workPolls)
  app.get('/work', async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.query as Readonly<Record<string, unknown>>
    const { coinbase, longpollid } = query
    if (coinbase !== undefined && !isAddress(coinbase)) return refuse(reply, 400, 'coinbase is 0x and 40 hex digits')
    const payee = coinbase?.toLowerCase() as Hex | undefined
    const fresh = () => {
      const work = mining.work(payee)
      return work?.[0] === longpollid ? undefined : work
    }
    const now = fresh()
    if (now !== undefined) return answer(reply, now)
    if (longpollid === undefined) return refuse(reply, 503, NO_WORK)
    const place = places.meter(clientIdOf(request.ip))
    if (!place.hold(1)) return refuse(reply, 503, 'too many miners wait: poll native_getWork')
    const work = await nextWork(mining, fresh, request).finally(() => place.hold(0))
    const known = work ?? mining.work(payee)
    return known === undefined ? refuse(reply, 503, NO_WORK) : answer(reply, known)
  })
}

const NO_WORK = 'no mining work available yet'

const isAddress = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

const refuse = (reply: FastifyReply, code: number, reason: string): FastifyReply =>
  reply.code(code).type('text/plain').send(`${reason}\n`)

const answer = (reply: FastifyReply, work: Work): FastifyReply =>
  reply.header('content-type', 'application/json').send(JSON.stringify(work))

/** Resolves to undefined when the time is over or the miner has gone. */
const nextWork = async (
  mining: Pick<MiningPort, 'onWork'>,
  fresh: () => Work | undefined,
  { raw }: FastifyRequest,
): Promise<Work | undefined> => {
  const { promise, resolve } = Promise.withResolvers<Work | undefined>()
  const timer = setTimeout(resolve, RPC_LIMITS.workPollMs, undefined)
  const stop = mining.onWork(() => {
    const work = fresh()
    if (work !== undefined) resolve(work)
  })
  // One listener of the socket for all of its polls.
  const forget = cancellationOf(raw.socket).onCancel(() => resolve(undefined))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    stop()
    forget()
  }
}
