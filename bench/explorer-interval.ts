import type { Hex } from '@tandem/base/bytes.ts'
import { type RunningNode, startDevnet } from '../test/support/devnet.ts'
import { signerOf } from '../test/support/load.ts'
import { followHeads, intervalText } from './explorer-attacks/heads.ts'
import { measureThreads } from './explorer-attacks/threads.ts'

/*
 * Effect of the explorer's index on the block interval: `node bench/explorer-interval.ts [seconds] [transactions per block]`. A devnet with
 * blocks of a second gets so many plain transfers a second, first without the explorer and then with an index that follows the head. Prints
 * the intervals at which heads were announced, and the processor time of the node by thread.
 */

const [seconds = 25, perBlock = 2_000] = process.argv.slice(2).map(Number)
const BATCH = 50
const WARM_UP = 5
/** Wei per gas: what the base fee cannot exceed. Full blocks raise it. */
const GAS_PRICE = 750_000_000_000n
const print = (text: string): void => void process.stdout.write(`${text}\n`)
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Signed transfers in the order in which they are sent: the accounts take turns. */
const signAll = ({ accounts, chainId }: RunningNode): readonly Hex[] => {
  const signers = accounts.map(({ privateKey }) => signerOf(privateKey, chainId))
  return Array.from({ length: (seconds + WARM_UP) * perBlock }, (_, at) => {
    const signer = signers[at % signers.length] as ReturnType<typeof signerOf>
    return signer({ nonce: Math.floor(at / signers.length), value: 1n, maxFeePerGas: GAS_PRICE }).raw
  })
}

const sendBatch = async (url: string, raws: readonly Hex[]): Promise<void> => {
  const calls = raws.map((raw, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [raw] }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  })
  const answers = (await response.json()) as readonly { readonly error?: { readonly message: string } }[]
  const refused = answers.find(({ error }) => error !== undefined)
  if (refused?.error !== undefined) throw new Error(`a transfer was refused: ${refused.error.message}`)
}

const measure = async (name: string, flags: readonly string[]): Promise<void> => {
  const node = await startDevnet(['--block-time', '1', '--execution', 'wasm', ...flags])
  try {
    const raws = signAll(node)
    if (node.explorer !== undefined) await (await fetch(`${node.explorer}/network`)).arrayBuffer()
    const heads = followHeads(node.ws)
    let [from, threads] = [0, (): string => '']
    for (let second = 0; second < seconds + WARM_UP; second++) {
      const dueMs = performance.now() + 1_000
      if (second === WARM_UP) [from, threads] = [heads.times.length, measureThreads(node.process.pid as number)]
      const own = raws.slice(second * perBlock, (second + 1) * perBlock)
      for (let at = 0; at < own.length; at += BATCH) await sendBatch(node.http, own.slice(at, at + BATCH))
      await sleep(Math.max(0, dueMs - performance.now()))
    }
    const shares = threads()
    heads.close()
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
      `${name}: ${intervalText(heads.times.slice(from))}; ${Math.round(mean)} transactions a block; ${shares}; ` +
        `index at ${indexed} of ${head}`,
    )
  } finally {
    await node.stop()
  }
}

await measure('without the explorer', ['--no-explorer'])
await measure('with the index', [])
