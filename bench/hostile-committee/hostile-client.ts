import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { NodeOfMany } from '../../test/support/committee.ts'
import { PROGRAMS } from '../../test/support/hostile/programs.ts'
import { type Account, signerOf } from '../../test/support/load.ts'
import { sleep } from '../../test/support/node-process.ts'
import { asm, loop, program, unrolled } from '../../test/worst-case/assembler.ts'

/* Init code for transactions of any gas limit: what the search of `test/worst-case` finds slow for its gas, besides what never ends. */

/** Left over, more than one round of any loop costs, so that the creation succeeds and what it wrote stays. */
const RESERVE = 400_000n
/** One body again and again while gas lasts. */
const until = (body: string, before = ''): Uint8Array => program(asm(before), loop(unrolled(asm(body), 30), RESERVE))
/** Calls of a precompile with so many bytes of zero memory. */
const precompile = (address: number, size: number): Uint8Array => until(`0 0 ${size} 0 ${address} GAS STATICCALL POP`)
/** Init code that creates itself, as deep as gas and the depth limit let it, after some work of its own. */
const nested = (work: string): Uint8Array =>
  program(asm(`${work} CODESIZE 0 0 CODECOPY`), loop(asm('CODESIZE 0 0 CREATE POP'), 100_000n))

const WORST_PROGRAMS: Readonly<Record<string, Uint8Array>> = {
  ...PROGRAMS,
  'blake2f calls that fail': precompile(9, 212),
  'ripemd160 of a word': precompile(3, 32),
  'identity of nothing': precompile(4, 0),
  'modexp of zeros': precompile(5, 96),
  'multiples of nothing': precompile(7, 96),
  'pairings of nothing': precompile(8, 0),
  'deep frames': nested(''),
  'deep frames with memory': nested('1 8160 MSTORE'),
  'deep frames with transient words': nested('GAS GAS TSTORE GAS GAS TSTORE'),
  'transient words': until('GAS GAS TSTORE'),
  'written slots that stay': until('1 GAS SSTORE'),
  'new accounts': until('0 0 0 0 1 GAS 0 CALL POP'),
  'cold accounts': until('GAS BALANCE POP'),
  'logs of four topics': until('1 2 3 4 0 0 LOG4'),
  'logs of four new topics': until('GAS GAS GAS GAS 0 0 LOG4'),
  'powers of the largest word': until('0 NOT 0 NOT EXP POP'),
}

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
