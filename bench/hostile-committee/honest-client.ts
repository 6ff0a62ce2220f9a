import type { Hex } from '@tandem/base/bytes.ts'
import WebSocket from 'ws'
import type { NodeOfMany } from '../../test/support/committee.ts'
import { type Account, signerOf } from '../../test/support/load.ts'
import { sleep } from '../../test/support/node-process.ts'

/** Above the highest base fee, which full blocks reach. */
const GAS_PRICE = 1_000n * 10n ** 9n

/** Plain transfers at a fixed pace through every node, and the time from submission to the block that a node announces. */
export class HonestClient {
  /** Milliseconds from submission to inclusion. */
  readonly latencies: number[] = []
  readonly failures: string[] = []
  /** Milliseconds between announced blocks. */
  readonly intervals: number[] = []
  isPaused = false
  readonly #waiting = new Map<Hex, number>()
  readonly #nodes: readonly NodeOfMany[]
  #socket: WebSocket | undefined
  #lastMs: number | undefined

  constructor(nodes: readonly NodeOfMany[]) {
    this.#nodes = nodes
  }

  /** Ages of those that stand in no block yet. */
  get waiting(): readonly number[] {
    const nowMs = performance.now()
    return [...this.#waiting.values()].map(sentMs => nowMs - sentMs)
  }

  /** Listens to the first node from now on; intervals begin anew. */
  async listen(): Promise<void> {
    this.#socket?.terminate()
    this.#lastMs = undefined
    const [first] = this.#nodes as [NodeOfMany]
    const socket = new WebSocket(first.ready.ws)
    this.#socket = socket
    socket.on('error', () => undefined)
    await new Promise(resolve => socket.once('open', resolve))
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    socket.on('message', data => {
      const { method, params } = JSON.parse(String(data)) as { method?: string; params?: { result: { hash: Hex } } }
      if (method === 'eth_subscription' && params !== undefined) void this.#onBlock(params.result.hash)
    })
  }

  close(): void {
    this.#socket?.terminate()
  }

  /** Each account sends every `everyMs`, whatever became of those before. */
  async run(accounts: readonly Account[], everyMs: number, isOver: () => boolean): Promise<void> {
    await Promise.all(
      accounts.map(async (account, at) => {
        const node = this.#nodes[at % this.#nodes.length] as NodeOfMany
        const sign = signerOf(account.privateKey, node.ready.chainId)
        await sleep((everyMs * at) / accounts.length)
        for (let nonce = 0; !isOver(); await sleep(everyMs)) {
          if (this.isPaused) continue
          const { raw, hash } = sign({ nonce, value: 1n, maxFeePerGas: GAS_PRICE })
          this.#waiting.set(hash, performance.now())
          try {
            await node.rpc('eth_sendRawTransaction', raw)
            nonce++
          } catch (error) {
            this.#waiting.delete(hash)
            this.failures.push((error as Error).message)
          }
        }
      }),
    )
  }

  async #onBlock(hash: Hex): Promise<void> {
    const nowMs = performance.now()
    if (this.#lastMs !== undefined) this.intervals.push(nowMs - this.#lastMs)
    this.#lastMs = nowMs
    const [first] = this.#nodes as [NodeOfMany]
    const block = await first.rpc<{ transactions: readonly Hex[] }>('eth_getBlockByHash', hash, false)
    for (const included of block.transactions) {
      const sentMs = this.#waiting.get(included)
      if (sentMs === undefined) continue
      this.#waiting.delete(included)
      this.latencies.push(nowMs - sentMs)
    }
  }
}
