/**
 * Most frequent operations of a test suite on a development chain, over HTTP, one JSON line: medians in milliseconds of evm_revert (with the
 * snapshot after it), a transaction with its receipt, an estimate, a call; then, without a URL, 50,400 and 100,000 blocks at once, and
 * their revert.
 *   npx node bench/dev-helpers.ts [rounds] [url]
 */
import { Agent, request } from 'node:http'
import { type RunningNode, startDevnet } from '../test/support/devnet.ts'

const rounds = Number(process.argv[2] ?? 300)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const rpcOf =
  (url: string) =>
  <T>(method: string, params: readonly unknown[] = []): Promise<T> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const sent = request(url, { method: 'POST', agent, headers }, response => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          if (response.statusCode !== 200) return reject(new Error(`${method}: HTTP ${response.statusCode}`))
          const { result, error } = JSON.parse(Buffer.concat(parts).toString())
          if (error) reject(new Error(`${method}: ${error.message}`))
          else resolve(result as T)
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })

const times = new Map<string, number[]>()
const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  const began = performance.now()
  const result = await work()
  const list = times.get(name) ?? []
  list.push(performance.now() - began)
  times.set(name, list)
  return result
}

/** Stores the call's first word in a slot named by the second; answers nothing. */
const STORE = '0x5f3560203555'
const SINK = `0x${'5a'.repeat(20)}`

const given = process.argv[3]
let node: RunningNode | undefined
if (given === undefined)
  node = await startDevnet([
    ...['--block-time', '0', '--unlock', '--client-name', 'hardhat', '--accounts', '20', '--execution', 'wasm'],
  ])
const rpc = rpcOf(given ?? (node as RunningNode).http)
try {
  const accounts = await rpc<string[]>('eth_accounts')
  const from = accounts[0]
  await rpc('hardhat_setCode', [SINK, STORE])
  let snapshot = await rpc<string>('evm_snapshot')
  const word = (n: number): string => n.toString(16).padStart(64, '0')
  for (let round = 0; round < rounds; round++) {
    const data = `0x${word(round + 1)}${word(round % 7)}`
    for (let i = 0; i < 3; i++) {
      const gas = await timed('estimateGas', () => rpc('eth_estimateGas', [{ from, to: SINK, data }]))
      const hash = await timed('sendTransaction', () =>
        rpc<string>('eth_sendTransaction', [{ from, to: SINK, data, gas }]),
      )
      await timed('receipt', async () => {
        const began = performance.now()
        while ((await rpc('eth_getTransactionReceipt', [hash])) === null)
          if (performance.now() - began > 5_000) throw new Error(`no receipt of ${hash}`)
      })
      await timed('call', () => rpc('eth_call', [{ from, to: SINK, data }, 'latest']))
    }
    await timed('revert', () => rpc('evm_revert', [snapshot]))
    snapshot = await timed('snapshot', () => rpc('evm_snapshot'))
  }
  for (const blocks of given === undefined ? [50_400, 100_000] : []) {
    await timed(`mine${blocks}`, () => rpc('hardhat_mine', [`0x${blocks.toString(16)}`, '0x1']))
    await timed(`revert${blocks}`, () => rpc('evm_revert', [snapshot]))
    snapshot = await rpc('evm_snapshot')
  }
  const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0
  const line = Object.fromEntries([...times].map(([name, list]) => [name, Number(median(list).toFixed(2))]))
  console.log(JSON.stringify({ rounds, ...line }))
} finally {
  agent.destroy()
  await node?.stop()
}
