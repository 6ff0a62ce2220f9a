import { Worker } from 'node:worker_threads'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { createAddress } from '../src/primitives/receipt/address.ts'
import { type RunningNode, startDevnet } from '../test/support/devnet.ts'
import { signerOf } from '../test/support/load.ts'
import { followHeads, intervalText } from './explorer-attacks/heads.ts'
import { measureThreads } from './explorer-attacks/threads.ts'

/*
 * Effect of hostile clients of the explorer on the block interval: `node bench/explorer-attacks.ts [seconds] [requests a second]`. A devnet
 * with blocks of a second runs four times so long, and is waited for after each: left alone; with so many requests a second against the API, of 500 addresses; with
 * sources that never finish compiling submitted by 40 addresses; and with both. Prints the intervals at which heads were announced,
 * the answers by status, and the processor time of the node. The clients run on the node's own machine.
 */

const [seconds = 15, rate = 10_000] = process.argv.slice(2).map(Number)
const BOMB_CLIENTS = 40
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** A contract whose code nobody can verify. */
const deploy = async (node: RunningNode): Promise<Hex> => {
  const [{ address, privateKey }] = node.accounts as readonly [RunningNode['accounts'][number]]
  const creation = hexToBytes('0x6001600c60003960016000f300')
  const { raw } = signerOf(privateKey, node.chainId)({ nonce: 0, to: null, gasLimit: 200_000n, data: creation })
  await node.rpc('eth_sendRawTransaction', [raw])
  const contract = createAddress(address.toLowerCase() as Hex, 0)
  while ((await node.rpc('eth_getCode', [contract, 'latest'])) === '0x') await sleep(100)
  return contract
}

/** Body of a submission that the compiler does not finish in its time. */
const bombOf = (number: number): string => {
  const functions = Array.from(
    { length: 1_500 },
    (_, i) =>
      `function f${i}(uint256 a) public returns (uint256) { for (uint256 i; i < a; i++) s += f${(i + 1) % 1_500}(a * i + s); return s; }`,
  )
  const content = `// ${number}\npragma solidity ^0.8.0; contract A { uint256 s; ${functions.join('\n')} }`
  const settings = { viaIR: true, optimizer: { enabled: true, runs: 200 } }
  return JSON.stringify({
    compilerVersion: '0.8.37+commit.f401782d',
    contract: 'a.sol:A',
    input: { language: 'Solidity', sources: { 'a.sol': { content } }, settings },
  })
}

interface Attack {
  readonly url: string
  readonly clients: number
  readonly perSecond: number
  readonly requests: readonly string[]
}

/** Sends requests from a thread of its own; answers how many of each status came. */
const startAttack = (attack: Attack): (() => Promise<Readonly<Record<string, number>>>) => {
  const worker = new Worker(new URL('./explorer-attacks/flood.ts', import.meta.url), { workerData: attack })
  return () =>
    new Promise(resolve => {
      worker.once('message', resolve)
      worker.postMessage('stop')
    })
}

const CALM_MS = 60_000

/** Waits for a block that was made after the attack; answers how long it took. */
const untilHead = async (node: RunningNode): Promise<number> => {
  const began = performance.now()
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  let first: number | undefined
  while (performance.now() - began < CALM_MS) {
    const request = fetch(node.http, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) })
    const answer = await request.then(response => response.json() as Promise<{ result: string }>).catch(() => undefined)
    if (answer !== undefined) first ??= Number(answer.result)
    if (first !== undefined && Number(answer?.result) > first) break
    await sleep(50)
  }
  return performance.now() - began
}

const requestOf = (host: string, path: string, body?: string): string =>
  body === undefined
    ? `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    : `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const node = await startDevnet(['--block-time', '1', '--execution', 'wasm'])
try {
  const contract = await deploy(node)
  await (await fetch(`${node.explorer}/network`)).arrayBuffer()
  const url = node.explorer as string
  const { host } = new URL(url)
  const holder = node.accounts[1]?.address
  const paths = [
    '/api/blocks',
    '/api/network',
    '/api/transactions',
    `/api/addresses/${holder}`,
    '/api/stats',
    '/api/mining',
  ]
  const flood: Attack = { url, clients: 500, perSecond: rate, requests: paths.map(path => requestOf(host, path)) }
  const bombs: Attack = {
    url,
    clients: BOMB_CLIENTS,
    perSecond: 4,
    requests: Array.from({ length: BOMB_CLIENTS }, (_, at) =>
      requestOf(host, `/api/contracts/${contract}/verify`, bombOf(at)),
    ),
  }
  const cases: Readonly<Record<string, readonly Attack[]>> = {
    'left alone': [],
    [`${rate} requests a second`]: [flood],
    'compile bombs': [bombs],
    both: [flood, bombs],
  }
  for (const [name, attacks] of Object.entries(cases)) {
    const ends = attacks.map(startAttack)
    await sleep(1_000)
    const heads = followHeads(node.ws)
    const threads = measureThreads(node.process.pid as number)
    await sleep(seconds * 1_000)
    const shares = threads()
    heads.close()
    const statuses = await Promise.all(ends.map(end => end()))
    const calmMs = await untilHead(node)
    print(
      `${name}: ${intervalText(heads.times)}; ${shares}; answers a second ${JSON.stringify(statuses)}; next block after ${calmMs.toFixed(0)} ms`,
    )
  }
} finally {
  await node.stop()
}
