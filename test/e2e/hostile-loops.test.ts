import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAIN_LIMITS } from '../../src/config/limits/chain.ts'
import { type RpcFailure, rpc } from '../support/devnet.ts'
import { balanceCall, deployToken, receiptOf, signerOf, type Token } from '../support/load.ts'
import { eventually, type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { Socket } from '../support/rpc/socket.ts'

/** `LOOP_SECONDS=30` for figures worth reading; prints one JSON line. */
const SECONDS = Number(process.env['LOOP_SECONDS'] ?? 0)
const BLOCK_MS = 100
/** An attack goes on until another client has had so many answers of each kind, and seen so many blocks. */
const ANSWERS = 6
const BLOCKS = 4
/** JUMPDEST, PUSH1 0, JUMP: 12 gas a round, for ever. */
const LOOP = '0x5b600056'
const GAS = '0x5f5e100' // 100,000,000
const VICTIM: Hex = `0x${'aa'.repeat(20)}`

let node: NodeProcess
let ready: Ready
let token: Token

beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--block-time', String(BLOCK_MS / 1_000)])
  ready = await node.ready
  token = await deployToken(ready)
})
afterAll(async () => {
  expect(node.stderr()).not.toMatch(/"level":"error"/)
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

const errorOf = async (method: string, params: readonly unknown[]): Promise<string> => {
  try {
    return `${method} answered ${JSON.stringify(await rpc(ready.http, method, params))}`
  } catch (error) {
    const { rpcCode, message } = error as RpcFailure
    return `${rpcCode} ${message}`
  }
}

/** Requests of an attack, and the honest answers that overtook them. */
class Attack {
  readonly #underWay = new Set<object>()
  isOver = false

  /** Does one request of the attack. */
  async request<T>(act: () => Promise<T>): Promise<T> {
    const request = {}
    this.#underWay.add(request)
    try {
      return await act()
    } finally {
      this.#underWay.delete(request)
    }
  }

  /** Returns a function that tells whether one of the requests under way now still is. */
  mark(): () => boolean {
    const before = [...this.#underWay]
    return () => before.some(request => this.#underWay.has(request))
  }
}

interface Latencies {
  /** Milliseconds, for the report. */
  readonly times: number[]
  /** Answers that came while a request of the attack, sent before, was still under way. */
  overtakes: number
}

/** Calls one after another, until `isOver`. */
const measure = async (
  [method, params]: readonly [string, readonly unknown[]],
  attack: Attack,
  isOver: (latencies: Latencies) => boolean,
): Promise<Latencies> => {
  const latencies: Latencies = { times: [], overtakes: 0 }
  while (!isOver(latencies)) {
    const began = performance.now()
    const isUnderWay = attack.mark()
    await rpc(ready.http, method, params)
    latencies.times.push(performance.now() - began)
    if (isUnderWay()) latencies.overtakes++
    await sleep(5)
  }
  latencies.times.sort((a, b) => a - b)
  return latencies
}

const at = (sorted: readonly number[], quantile: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? Number.NaN) * 10) / 10
const summary = (sorted: readonly number[]) => ({
  count: sorted.length,
  p50: at(sorted, 0.5),
  p99: at(sorted, 0.99),
  max: at(sorted, 1),
})

interface Watched {
  readonly head: Latencies
  readonly call: Latencies
  /** Arrival of newHeads, ms between two. */
  readonly blocks: readonly number[]
  readonly numbers: readonly number[]
}

/** Use of the node by another client, until it has been served for long enough. */
const watch = async (attack: Attack, overtakes: number): Promise<Watched> => {
  const socket = await Socket.open(ready.ws)
  const arrivals: number[] = []
  const numbers: number[] = []
  socket.raw.on('message', data => {
    const frame = JSON.parse(String(data)) as { method?: string; params?: { result: { number: Hex } } }
    if (frame.method !== 'eth_subscription') return
    arrivals.push(performance.now())
    numbers.push(Number(frame.params?.result.number))
  })
  await socket.result('eth_subscribe', ['newHeads'])
  const owner = ready.accounts[0]?.address ?? '0x'
  const end = performance.now() + SECONDS * 1_000
  const isServed = (latencies: Latencies): boolean =>
    latencies.times.length >= ANSWERS && latencies.overtakes >= overtakes && performance.now() > end
  const [head, call] = await Promise.all([
    measure(['eth_blockNumber', []], attack, latencies => isServed(latencies) && numbers.length >= BLOCKS),
    measure(['eth_call', [{ to: token.address, data: bytesToHex(balanceCall(owner)) }, 'latest']], attack, isServed),
  ])
  socket.close()
  const blocks = arrivals.slice(1).map((arrival, index) => arrival - (arrivals[index] ?? 0))
  return { head, call, blocks: blocks.sort((a, b) => a - b), numbers }
}

/**
 * What another client sees during an attack. `overtakes`: answers of each kind that must come before that of an attack's request sent
 * earlier; it only ends when they have come. How soon is for `LOOP_SECONDS` and bench/hostile-clients.ts to tell.
 */
const during = async (act: (attack: Attack) => Promise<unknown>, overtakes = 0): Promise<Watched> => {
  const attack = new Attack()
  const watching = watch(attack, overtakes).finally(() => {
    attack.isOver = true
  })
  const [watched] = await Promise.all([watching, act(attack)])
  return watched
}

const report = (what: string, watched: Watched): void => {
  const { head, call, blocks } = watched
  process.stdout.write(
    `${JSON.stringify({ what, blockNumber: summary(head.times), balanceOf: summary(call.times), blockInterval: summary(blocks) })}\n`,
  )
}

/** Blocks in a row. */
const missedNone = ({ numbers }: Watched): void =>
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => (numbers[0] ?? 0) + index))

const ENDS = ['-32000 out of gas', '-32000 execution aborted (timeout = 5s)']
const overridden = { [VICTIM]: { code: LOOP } }

const repeat = (width: number, method: string, params: readonly unknown[], answers: string[]) => (attack: Attack) =>
  Promise.all(
    Array.from({ length: width }, async () => {
      while (!attack.isOver) answers.push(await attack.request(() => errorOf(method, params)))
    }),
  )

test('nothing, for comparison', async () => {
  const watched = await during(async () => {})
  report('quiet', watched)
  missedNone(watched)
})

test.each([
  ['one endless eth_call', 1, 'eth_call', [{ to: VICTIM, gas: GAS }, 'latest', overridden]],
  ['four endless eth_calls', 4, 'eth_call', [{ to: VICTIM, gas: GAS }, 'latest', overridden]],
  ['an endless call on the pending state', 2, 'eth_call', [{ to: VICTIM, gas: GAS }, 'pending', overridden]],
  ['a creation that never ends', 2, 'eth_call', [{ data: LOOP, gas: GAS }, 'latest']],
  ['eth_estimateGas of a loop', 2, 'eth_estimateGas', [{ data: LOOP }, 'latest']],
  ['eth_createAccessList of a loop', 2, 'eth_createAccessList', [{ data: LOOP, gas: GAS }, 'latest']],
] as const)('%s', async (what, width, method, params) => {
  const answers: string[] = []
  const watched = await during(repeat(width, method, params, answers), ANSWERS)
  report(what, watched)
  process.stdout.write(`${what}: ${[...new Set(answers)].join(' | ')}\n`)
  expect(answers.length).toBeGreaterThan(0)
  if (method === 'eth_call') expect([...new Set(answers)].filter(answer => !ENDS.includes(answer))).toEqual([])
  else expect(answers.filter(answer => answer.includes('crashed') || answer.includes('internal'))).toEqual([])
  missedNone(watched)
})

test('a precompile with the work of a whole call in one step', async () => {
  // modexp (5) of 1 kB numbers: one call that no turn of the interpreter divides.
  const word = (value: number): string => value.toString(16).padStart(64, '0')
  const data = `0x${word(1024)}${word(1024)}${word(1024)}${'ff'.repeat(3 * 1024)}`
  const answers: string[] = []
  const to: Hex = `0x${'00'.repeat(19)}05`
  const watched = await during(repeat(2, 'eth_call', [{ to, data, gas: GAS }, 'latest'], answers))
  report('modexp', watched)
  expect(answers.length).toBeGreaterThan(0)
  missedNone(watched)
})

test('memory that grows as far as gas goes', async () => {
  // JUMPDEST, MSIZE, PUSH0, SWAP1, MSTORE, PUSH0, JUMP.
  const answers: string[] = []
  const watched = await during(
    repeat(2, 'eth_call', [{ to: VICTIM, gas: GAS }, 'latest', { [VICTIM]: { code: '0x5b595f90525f56' } }], answers),
  )
  report('memory', watched)
  expect(answers.length).toBeGreaterThan(0)
  missedNone(watched)
})

test('eth_getLogs over everything, with all the alternatives a filter takes', async () => {
  const topics = Array.from({ length: 1_000 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
  const answers: string[] = []
  const filter = { fromBlock: '0x0', toBlock: '0xffffff', topics: [null, topics, topics, topics] }
  const watched = await during(repeat(4, 'eth_getLogs', [filter], answers))
  report('getLogs', watched)
  expect([...new Set(answers)]).toEqual(['eth_getLogs answered []'])
  missedNone(watched)
})

test('eth_getLogs with nearly as many results as there may be, over and over', async () => {
  // PUSH2 3000, JUMPDEST, PUSH0, PUSH0, LOG0, PUSH1 1, SWAP1, SUB, DUP1, PUSH1 3, JUMPI, STOP.
  const noisy = hexToBytes('0x610bb85b5f5fa0600190038060035700')
  const signed = signerOf(ready.accounts[2]?.privateKey ?? '0x', ready.chainId)
  const sent = [0, 1, 2].map(nonce => signed({ nonce, to: null, data: noisy, gasLimit: 3_000_000n }))
  for (const { raw } of sent) await rpc(ready.http, 'eth_sendRawTransaction', [raw])
  for (const { hash } of sent) await receiptOf(ready.http, hash)
  const sizes = new Set<boolean>()
  const body = JSON.stringify({ id: 1, method: 'eth_getLogs', params: [{ fromBlock: '0x0' }] })
  const watched = await during(attack =>
    Promise.all(
      Array.from({ length: 2 }, async () => {
        while (!attack.isOver) {
          const response = await fetch(ready.http, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
          // Not decoded: that would hold up the client that measures.
          sizes.add((await response.arrayBuffer()).byteLength > 2_000_000)
        }
      }),
    ),
  )
  report('9,000 logs', watched)
  expect([...sizes]).toEqual([true])
  missedNone(watched)
  await rpc(ready.http, 'eth_sendRawTransaction', [
    signed({ nonce: 3, to: null, data: noisy, gasLimit: 3_000_000n }).raw,
  ])
  await expect
    .poll(() => errorOf('eth_getLogs', [{ fromBlock: '0x0' }]))
    .toMatch(/^-32000 query returned more than 10000 results\. Try with this block range \[0x0, 0x[0-9a-f]+\]$/)
})

test('a transaction that never ends costs its sender all the gas it may run with, and others are answered meanwhile', async () => {
  const signed = signerOf(ready.accounts[1]?.privateKey ?? '0x', ready.chainId)
  const { raw, hash } = signed({ nonce: 0, to: null, data: hexToBytes(LOOP), gasLimit: 120_000_000n })
  const sent = (attack: Attack) =>
    attack.request(async () => {
      await rpc(ready.http, 'eth_sendRawTransaction', [raw])
      await receiptOf(ready.http, hash)
    })
  const watched = await during(sent, 1)
  report('transaction', watched)
  const receipt = await receiptOf<{ status: Hex; gasUsed: Hex }>(ready.http, hash)
  expect(receipt.status).toBe('0x0')
  expect(Number(receipt.gasUsed)).toBeGreaterThan(99_000_000)
})

const flood = async (batches: number, method: string, params: readonly unknown[]): Promise<readonly string[]> => {
  const body = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ id, method, params })))
  const answers = await Promise.all(
    Array.from({ length: batches }, async () => {
      const response = await fetch(ready.http, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      return (await response.json()) as { error?: { message: string } }[]
    }),
  )
  return [...new Set(answers.flat().map(({ error }) => error?.message ?? 'answered'))]
}

test('more proofs, log queries and calls at once than may wait are refused in words', async () => {
  const BUSY = /^(answered|too many .* waiting, try again later)$/
  const owner = ready.accounts[0]?.address
  await eventually(
    'a chain long enough for a wide query',
    async () =>
      Number(await rpc<Hex>(ready.http, 'eth_blockNumber')) > CHAIN_LIMITS.logSliceBlocks ? true : undefined,
    { everyMs: 200 },
  )
  for (const [method, params] of [
    ['eth_getProof', [token.address, [], 'latest']],
    ['eth_getLogs', [{ fromBlock: '0x0', address: token.address }]],
  ] as const) {
    const texts = await flood(8, method, params)
    expect(texts, method).toContain('answered')
    expect(
      texts.filter(text => !BUSY.test(text)),
      method,
    ).toEqual([])
  }
  const head = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
  const call = [{ to: token.address, data: bytesToHex(balanceCall(owner ?? '0x')) }, 'latest']
  const texts = await flood(80, 'eth_call', call)
  expect(texts.filter(text => !BUSY.test(text))).toEqual([])
  await eventually('the next block', async () =>
    Number(await rpc<Hex>(ready.http, 'eth_blockNumber')) > head ? true : undefined,
  )
  expect(await rpc(ready.http, 'eth_call', call), 'room again').toMatch(/^0x/)
})
