import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import WebSocket from 'ws'
import { rpc } from '../devnet.ts'
import { type Account, balanceCall, type Token, transferCall } from '../load.ts'
import { type Known, LiveValues } from './live-values.ts'
import { type MethodShape, type Outgoing, RequestMaker } from './requests.ts'
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

/** One client: asks one thing after another and waits for what comes. */
interface Lane {
  /** Nothing can be asked any more. */
  readonly isClosed: boolean
  /** Resolves when everything asked for was answered, or is known not to be. */
  send(request: Outgoing, onAnswer: OnAnswer): Promise<void>
  close(): void
}

const WAIT_MS = 30_000
const END = '{"jsonrpc":"2.0","id":"end","method":"eth_chainId"}'

const shown = ({ text }: Outgoing): string => text.slice(0, 300)

class HttpLane implements Lane {
  readonly isClosed = false
  readonly #url: string
  readonly #verdict: Verdict

  constructor(url: string, verdict: Verdict) {
    this.#url = url
    this.#verdict = verdict
  }

  async send(request: Outgoing, onAnswer: OnAnswer): Promise<void> {
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: request.text,
        signal: AbortSignal.timeout(WAIT_MS),
      })
      const text = await response.text()
      if (response.status === 200) this.#verdict.compare(request, text, onAnswer)
      else this.#verdict.fault(`${response.status} ${text}: ${shown(request)}`)
    } catch (error) {
      this.#verdict.unanswered++
      this.#verdict.fault(`${String(error)} ${String((error as Error).cause ?? '')}: ${shown(request)}`)
    }
  }

  close(): void {}
}

interface Notification {
  readonly method: string
  readonly params: { readonly subscription: string }
}

/** Told apart without parsing: answers have no method. */
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":"(eth|native)_subscription"/

/** One request at a time: the frame that comes before the next one is sent is its answer; notifications come in between. */
class SocketLane implements Lane {
  notifications = 0
  readonly #raw: WebSocket
  readonly #verdict: Verdict
  readonly #live: LiveValues
  /** Every id that was told; a notification of another one would be nobody's. */
  readonly #told = new Set<string>()
  #frames: string[] = []
  #arrived: () => void = () => {}
  isClosed = false
  #closeCode = 0

  private constructor(raw: WebSocket, verdict: Verdict, live: LiveValues) {
    this.#raw = raw
    this.#verdict = verdict
    this.#live = live
    raw.on('message', data => this.#take(String(data)))
    raw.on('error', () => undefined)
    raw.on('close', code => {
      this.isClosed = true
      this.#closeCode = code
      this.#arrived()
    })
  }

  static open(url: string, verdict: Verdict, live: LiveValues): Promise<SocketLane> {
    const raw = new WebSocket(url)
    return new Promise((resolve, reject) => {
      raw.once('error', reject)
      raw.once('open', () => resolve(new SocketLane(raw, verdict, live)))
    })
  }

  #take(frame: string): void {
    if (NOTIFICATION.test(frame)) {
      this.notifications++
      const { subscription } = (JSON.parse(frame) as Notification).params
      if (!this.#told.has(subscription)) this.#verdict.fault(`a notification of nobody: ${frame}`)
      return
    }
    this.#frames.push(frame)
    // Before the next frame is looked at, which may be of a subscription that this one tells of.
    for (const [, id] of frame.matchAll(/"result":"(0x[0-9a-f]{1,40})"/g)) this.#told.add(id as string)
    this.#arrived()
  }

  async send(request: Outgoing, onAnswer: OnAnswer): Promise<void> {
    const began = performance.now()
    this.#raw.send(request.text)
    // A request without an answer is followed by one that has an answer.
    if (!request.isAnswered) this.#raw.send(END)
    let isLate = false
    const deadline = setTimeout(() => {
      isLate = true
      this.#raw.terminate()
    }, WAIT_MS)
    while (this.#frames.length === 0 && !this.isClosed) {
      await new Promise<void>(resolve => {
        this.#arrived = resolve
      })
    }
    clearTimeout(deadline)
    const [text, ...more] = this.#frames.splice(0)
    if (text === undefined) {
      this.#verdict.unanswered++
      const why = isLate ? 'late' : `closed with ${this.#closeCode}`
      this.#verdict.fault(`no answer, ${why}, after ${Math.round(performance.now() - began)} ms: ${shown(request)}`)
    } else if (more.length > 0) this.#verdict.fault(`${more.length} answers more: ${shown(request)}`)
    else if (!request.isAnswered) {
      if (!text.includes('"id":"end"')) this.#verdict.fault(`answered: ${shown(request)}`)
    } else this.#verdict.compare(request, text, onAnswer)
    if (request.isGarbage && text !== undefined) this.#adopt(request, text)
    if (this.#told.size > 100_000) this.#told.clear()
  }

  /** Records a subscription that a malformed request opened, so that it is ended like any other. */
  #adopt({ text }: Outgoing, answer: string): void {
    const id = /_subscribe"/.test(text) ? /"result":"(0x[0-9a-f]{1,32})"/.exec(answer)?.[1] : undefined
    if (id !== undefined) this.#live.learn('eth_subscribe', id)
  }

  close(): void {
    this.#raw.close()
  }
}
