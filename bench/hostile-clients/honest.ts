import { Agent, request } from 'node:http'

/*
 * An honest client in a process of its own: fifty requests a second at fixed times, whatever became of those before, from an address of
 * its own. A message, `report` or `turn`, is answered with the latencies since the last one of its name. Argument: URL of the node.
 */

/** Milliseconds from the moment a request was due. */
export interface HonestReport {
  readonly asked: number
  /** Error answers and answers that did not come. */
  readonly failed: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly reasons: Readonly<Record<string, number>>
  /** The longest of each method. */
  readonly longest: Readonly<Record<string, number>>
}

const PER_SECOND = 50
const { hostname, port } = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, maxSockets: 50, localAddress: '127.0.0.9' } as never)
const A = `0x${'22'.repeat(20)}`
const REQUESTS: readonly (readonly [string, readonly unknown[]])[] = [
  ['eth_blockNumber', []],
  ['eth_getBalance', [A, 'latest']],
  ['eth_call', [{ to: A, data: '0x70a08231' }, 'latest']],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_estimateGas', [{ to: A, value: '0x0' }]],
  ['eth_gasPrice', []],
  ['eth_getLogs', [{ fromBlock: 'latest', toBlock: 'latest', address: A }]],
  ['eth_getTransactionCount', [A, 'pending']],
  ['eth_feeHistory', ['0x5', 'latest', [50]]],
  ['eth_getTransactionReceipt', [`0x${'33'.repeat(32)}`]],
]

/** Counts since a moment. */
class Tally {
  readonly #latencies: number[] = []
  readonly #reasons: Record<string, number> = {}
  readonly #longest: Record<string, number> = {}
  #failed = 0

  answered(method: string, ms: number): void {
    this.#latencies.push(ms)
    this.#longest[method] = Math.max(this.#longest[method] ?? 0, Math.round(ms))
  }

  failed(reason: string): void {
    this.#failed++
    this.#reasons[reason] = (this.#reasons[reason] ?? 0) + 1
  }

  report(): HonestReport {
    const sorted = this.#latencies.sort((a, b) => a - b)
    const at = (q: number): number =>
      Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN) * 10) / 10
    const counts = { asked: sorted.length, failed: this.#failed }
    return { ...counts, p50: at(0.5), p99: at(0.99), max: at(1), reasons: this.#reasons, longest: this.#longest }
  }
}

let tallies = { report: new Tally(), turn: new Tally() }

const fail = (reason: string): void => {
  for (const tally of Object.values(tallies)) tally.failed(reason)
}

const ask = (index: number, dueMs: number): void => {
  const [method, params] = REQUESTS[index % REQUESTS.length] as (typeof REQUESTS)[number]
  const body = JSON.stringify({ jsonrpc: '2.0', id: index, method, params })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const sent = request(
    { hostname, port, method: 'POST', path: '/', headers, agent, localAddress: '127.0.0.9' },
    answer => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', chunk => {
        text += chunk
      })
      answer.on('end', () => {
        for (const tally of Object.values(tallies)) tally.answered(method, performance.now() - dueMs)
        if (answer.statusCode !== 200 || text.includes('"error"')) fail(`${method}: ${text.slice(0, 120)}`)
      })
    },
  )
  sent.on('error', error => fail(`${method}: ${error.message}`))
  sent.end(body)
}

const startMs = performance.now()
let next = 0
setInterval(() => {
  for (; startMs + (next * 1_000) / PER_SECOND <= performance.now(); next++)
    ask(next, startMs + (next * 1_000) / PER_SECOND)
}, 5)

process.on('message', (name: keyof typeof tallies) => {
  process.send?.(tallies[name].report())
  tallies = { ...tallies, [name]: new Tally() }
})
process.once('disconnect', () => process.exit())
