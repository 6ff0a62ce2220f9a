import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import type { Hex } from '../src/util/bytes.ts'
import { type RunningNode, startDevnet } from '../test/support/devnet.ts'
import { signerOf } from '../test/support/load.ts'

/*
 * Effect of the explorer's index on the block interval: `node bench/explorer-interval.ts [seconds] [transactions per block]`. A devnet with
 * blocks of a second gets so many plain transfers a second, first without the explorer and then with an index that follows the head. Prints
 * the intervals at which heads were announced, and the processor time of the node.
 */

const [seconds = 25, perBlock = 2_000] = process.argv.slice(2).map(Number)
const BATCH = 50
const WARM_UP = 5
const CLOCK_TICKS = 100
const print = (text: string): void => void process.stdout.write(`${text}\n`)
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Processor time of a process since its start, seconds. */
const processorSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS
}

/** Signed transfers in the order in which they are sent: the accounts take turns. */
const signAll = ({ accounts, chainId }: RunningNode): readonly Hex[] => {
  const signers = accounts.map(({ privateKey }) => signerOf(privateKey, chainId))
  return Array.from({ length: (seconds + WARM_UP) * perBlock }, (_, at) => {
    const signer = signers[at % signers.length] as ReturnType<typeof signerOf>
    return signer({ nonce: Math.floor(at / signers.length), value: 1n }).raw
  })
}

const sendBatch = async (url: string, raws: readonly Hex[]): Promise<void> => {
  const calls = raws.map((raw, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [raw] }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  })
  await response.arrayBuffer()
}

/** Times at which heads arrive, milliseconds. */
const followHeads = (url: string): { readonly times: number[]; close(): void } => {
  const times: number[] = []
  const socket = new WebSocket(url)
  socket.on('open', () =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
  )
  socket.on('message', data => {
    if (String(data).includes('eth_subscription')) times.push(performance.now())
  })
  return { times, close: () => socket.terminate() }
}

const measure = async (name: string, flags: readonly string[]): Promise<void> => {
  const node = await startDevnet(['--block-time', '1', ...flags])
  try {
    const raws = signAll(node)
    if (node.explorer !== undefined) await (await fetch(`${node.explorer}/network`)).arrayBuffer()
    const heads = followHeads(node.ws)
    let [before, began, from] = [0, 0, 0]
    for (let second = 0; second < seconds + WARM_UP; second++) {
      const dueMs = performance.now() + 1_000
      if (second === WARM_UP)
        [before, began, from] = [processorSeconds(node.process.pid as number), performance.now(), heads.times.length]
      const own = raws.slice(second * perBlock, (second + 1) * perBlock)
      for (let at = 0; at < own.length; at += BATCH) await sendBatch(node.http, own.slice(at, at + BATCH))
      await sleep(Math.max(0, dueMs - performance.now()))
    }
    const took = (performance.now() - began) / 1_000
    const cores = (processorSeconds(node.process.pid as number) - before) / took
    const intervals = heads.times.slice(from).map((time, at, all) => (at === 0 ? 0 : time - (all[at - 1] as number)))
    const sorted = intervals.slice(1).sort((a, b) => a - b)
    heads.close()
    const at = (part: number): string =>
      (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(0)
    const head = Number(await node.rpc<Hex>('eth_blockNumber'))
    const counts = await Promise.all(
      Array.from({ length: 10 }, (_, back) =>
        node.rpc<Hex>('eth_getBlockTransactionCountByNumber', [`0x${Math.max(0, head - 1 - back).toString(16)}`]),
      ),
    )
    const mean = counts.map(Number).reduce((sum, count) => sum + count, 0) / counts.length
    const indexed =
      node.explorer === undefined
        ? 'none'
        : (await fetch(`${node.explorer}/blocks?limit=1`)).headers.get('x-indexed-block')
    print(
      `${name}: ${sorted.length} intervals, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, greatest ${at(1)} ms; ` +
        `${Math.round(mean)} transactions a block; node ${cores.toFixed(2)} cores; index at ${indexed} of ${head}`,
    )
  } finally {
    await node.stop()
  }
}

await measure('without the explorer', ['--no-explorer'])
await measure('with the index', [])
