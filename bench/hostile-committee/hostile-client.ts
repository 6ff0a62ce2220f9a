import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { NodeOfMany } from '../../test/support/committee.ts'
import { WORST_PROGRAMS } from '../../test/support/hostile/worst-programs.ts'
import { type Account, signerOf } from '../../test/support/load.ts'
import { sleep } from '../../test/support/node-process.ts'

const GWEI = 10n ** 9n
/** Those that run for long and are stopped, and those that just fit. */
const GAS = [100_000_000n, 100_000_000n, 50_000_000n, 20_000_000n, 10_000_000n, 5_000_000n, 2_000_000n]
/** Below the price of the honest client, the same, and above it. */
const PRICES_GWEI = [900n, 1_000n, 1_000n, 1_500n]
/** A replacement pays a tenth more. */
const MORE_PERCENT = 12n
const PATIENCE_MS = 8_000
const PAUSE_MS = 150

/** Sends the worst transactions known, one account after the other, and replaces those that nobody includes. */
export class HostileClient {
  readonly sent = new Map<string, number>()
  readonly refused = new Map<string, number>()
  readonly hashes = new Map<Hex, string>()
  isPaused = false
  readonly #nodes: readonly NodeOfMany[]
  readonly #random: Random

  constructor(nodes: readonly NodeOfMany[], random: Random) {
    this.#nodes = nodes
    this.#random = random
  }

  async run(accounts: readonly Account[], isOver: () => boolean): Promise<void> {
    await Promise.all(accounts.map(account => this.#lane(account, isOver)))
  }

  async #lane({ address, privateKey }: Account, isOver: () => boolean): Promise<void> {
    const random = this.#random
    const sign = signerOf(privateKey, this.#nodes[0]!.ready.chainId)
    const names = Object.keys(WORST_PROGRAMS)
    let nonce = -1
    let gwei = 0n
    let sentMs = 0
    for (; !isOver(); await sleep(PAUSE_MS * (1 + random.next()))) {
      if (this.isPaused) continue
      const node = random.pick(this.#nodes)
      try {
        const next = Number(await node.rpc<Hex>('eth_getTransactionCount', address, 'latest'))
        if (next === nonce && performance.now() - sentMs < PATIENCE_MS) continue
        gwei = next === nonce ? gwei + (gwei * MORE_PERCENT) / 100n : random.pick(PRICES_GWEI)
        nonce = next
        sentMs = performance.now()
        const name = random.pick(names)
        const data = WORST_PROGRAMS[name] as Uint8Array
        const { raw, hash } = sign({ nonce, to: null, data, gasLimit: random.pick(GAS), maxFeePerGas: gwei * GWEI })
        await node.rpc('eth_sendRawTransaction', raw)
        this.hashes.set(hash, name)
        count(this.sent, name)
      } catch (error) {
        count(this.refused, (error as Error).message.slice(0, 60))
      }
    }
  }
}

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
