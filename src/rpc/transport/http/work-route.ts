import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { MiningPort } from '../../ports.ts'

type Work = NonNullable<ReturnType<MiningPort['work']>>

/**
 * `GET /work`: the work of native_getWork. With `longpollid`, the seal hash of the work that the miner has, the answer waits for other
 * work, half a minute at most.
 */
export const addWorkRoute = (app: FastifyInstance, mining: Pick<MiningPort, 'work' | 'onWork'>): void => {
  let waiting = 0
  app.get('/work', async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.query as Readonly<Record<string, unknown>>
    const coinbase = query['coinbase']
    if (coinbase !== undefined && !isAddress(coinbase)) return refuse(reply, 400, 'coinbase is 0x and 40 hex digits')
    const payee = coinbase?.toLowerCase() as Hex | undefined
    const fresh = () => {
      const work = mining.work(payee)
      return work?.[0] === query['longpollid'] ? undefined : work
    }
    const now = fresh()
    if (now !== undefined) return answer(reply, now)
    if (waiting >= RPC_LIMITS.workPolls) return refuse(reply, 503, 'too many miners wait: poll native_getWork')
    waiting++
    const work = await nextWork(mining, fresh, request).finally(() => waiting--)
    const known = work ?? mining.work(payee)
    return known === undefined ? refuse(reply, 503, 'no mining work available yet') : answer(reply, known)
  })
}

const isAddress = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

const refuse = (reply: FastifyReply, code: number, reason: string): FastifyReply =>
  reply.code(code).type('text/plain').send(`${reason}\n`)

const answer = (reply: FastifyReply, work: Work): FastifyReply =>
  reply.header('content-type', 'application/json').send(JSON.stringify(work))

/** Resolves to undefined when the time is over or the miner has gone. */
const nextWork = (
  mining: Pick<MiningPort, 'onWork'>,
  fresh: () => Work | undefined,
  { raw }: FastifyRequest,
): Promise<Work | undefined> =>
  new Promise(resolve => {
    const end = (work: Work | undefined) => {
      clearTimeout(timer)
      stop()
      raw.socket.off('close', leave)
      resolve(work)
    }
    const leave = () => end(undefined)
    const timer = setTimeout(leave, RPC_LIMITS.workPollMs)
    const stop = mining.onWork(() => {
      const work = fresh()
      if (work !== undefined) end(work)
    })
    raw.socket.once('close', leave)
  })
