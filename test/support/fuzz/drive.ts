import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { rpc } from '../devnet.ts'
import { type Account, balanceCall, type Token, transferCall } from '../load.ts'
import { HttpLane, type Lane, SocketLane } from './lanes.ts'
import { type Known, LiveValues } from './live-values.ts'
import { type MethodShape, RequestMaker } from './requests.ts'
import { TransactionMaker } from './transactions.ts'
import { type OnAnswer, Verdict } from './verdict.ts'

interface FuzzTarget {
  readonly http: string
  readonly ws: string
  readonly chainId: number
  readonly accounts: readonly Account[]
}

interface FuzzOptions {
  readonly target: FuzzTarget
  readonly token: Token
  /** Half of them over HTTP, half over WebSocket; each has an account of its own. */
  readonly lanes: number
  readonly seed: number
}

export interface Fuzz {
  readonly verdict: Verdict
  readonly methods: readonly MethodShape[]
  notifications(): number
  /** Every lane asks until `isOver`, or until its connection breaks; answers how many requests were sent. */
  run(isOver: (sent: number) => boolean, pause?: () => Promise<void>): Promise<number>
  close(): void
}

interface Client {
  readonly lane: Lane
  readonly maker: RequestMaker
  readonly onAnswer: OnAnswer
}

const knownOf = async ({ http, accounts }: FuzzTarget, token: Token): Promise<Known> => {
  const block = await rpc<{ hash: Hex; transactions: Hex[] }>(http, 'eth_getBlockByNumber', ['0x1', false])
  const [one] = accounts as [Account, ...Account[]]
  return {
    addresses: [token.address, ...accounts.map(({ address }) => address.toLowerCase() as Hex)],
    hashes: [block.hash, ...block.transactions],
    callData: [balanceCall(one.address), transferCall(one.address, 1n)].map(
      data => `0x${Buffer.from(data).toString('hex')}` as const,
    ),
  }
}

/** Clients of a running node that ask it everything its own document offers, from one seed. */
export const openFuzz = async ({ target, token, lanes, seed }: FuzzOptions): Promise<Fuzz> => {
  const { http, ws, chainId, accounts } = target
  const { methods } = await rpc<{ methods: MethodShape[] }>(http, 'rpc.discover')
  const verdict = new Verdict(methods)
  const known = await knownOf(target, token)
  const seeds = createRandom(seed)
  const sockets: SocketLane[] = []

  const open = async (index: number, random: Random): Promise<Client> => {
    const live = new LiveValues(known)
    const account = accounts[index % accounts.length] as Account
    const nonce = Number(await rpc<Hex>(http, 'eth_getTransactionCount', [account.address, 'pending']))
    const transactions = new TransactionMaker(account, chainId, nonce, known.addresses, random)
    const lane = index % 2 === 0 ? new HttpLane(http, verdict) : await SocketLane.open(ws, verdict, live)
    if (lane instanceof SocketLane) sockets.push(lane)
    return {
      lane,
      maker: new RequestMaker({ methods, live, transactions, random }),
      onAnswer: ({ method, params }, { result, error }) => {
        if (error === undefined) live.learn(method, result)
        else if (error.message === 'nonce too low') transactions.skip()
        if (method.endsWith('_unsubscribe')) live.forget((params as unknown[] | null)?.[0])
      },
    }
  }
  const clients: Client[] = []
  for (let i = 0; i < lanes; i++) clients.push(await open(i, createRandom(seeds.below(2 ** 31))))

  return {
    verdict,
    methods,
    notifications: () => sockets.reduce((sum, { notifications }) => sum + notifications, 0),
    async run(isOver, pause) {
      let sent = 0
      const drive = async ({ lane, maker, onAnswer }: Client): Promise<void> => {
        while (!isOver(sent) && !lane.isClosed) {
          const request = maker.next(100)
          sent += Math.max(1, request.calls.length)
          await lane.send(request, onAnswer)
          await pause?.()
        }
      }
      await Promise.all(clients.map(drive))
      return sent
    },
    close: () => {
      for (const { lane } of clients) lane.close()
    },
  }
}
