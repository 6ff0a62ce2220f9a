/**
 * Four validators in processes of their own, an honest client that sends creations of 5 M gas, and an attacker whose transactions are
 * stopped and pay nothing (docs/design/pool.md#time-of-a-block): the number of blocks until an honest one is included. Prints a JSON line
 * for each attack; ends with 1 when 99 of 100 take more than three blocks, or one is never included.
 *   node bench/overruns.ts [--blocks 200] [--round-timeout 2000] [nobody|ecrecover|flood|sleeper|pauses]...
 */
import { parseArgs } from 'node:util'
import type { Hex } from '@tandem/base/bytes.ts'
import { Committee, type NodeOfMany } from '../test/support/committee.ts'
import { type Account, type Signed, signerOf } from '../test/support/load.ts'
import { sleep } from '../test/support/node-process.ts'
import { scrape } from '../test/support/scrape.ts'
import { asm, loop, program, push, unrolled } from '../test/worst-case/assembler.ts'
import { spreadOf } from './committee/figures.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { blocks: { type: 'string', default: '200' }, 'round-timeout': { type: 'string', default: '2000' } },
})
const BLOCKS = Number(values.blocks)
const GWEI = 10n ** 9n
const HONEST = 8
/** Blocks in which an honest transaction should be included. */
const BOUND = 3
/** A point of the curve, so that a key is recovered: its x is r, and s is 1. */
const GX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n
/** Takes whatever gas it has, for about 15 ms a million. */
const ECRECOVER = program(
  asm(`1 0 MSTORE 27 32 MSTORE ${GX} 64 MSTORE 1 96 MSTORE`),
  loop(unrolled(asm('0 0 128 0 1 GAS STATICCALL POP')), 0n),
)
/** Creates a contract of 20 kB of zeros. */
const CREATION = asm('20000 0 RETURN')
/** Loops until a block. */
const sleeper = (until: number): Uint8Array => program(asm('JUMPDEST'), push(until), asm('NUMBER LT 0 JUMPI STOP'))

type Send = (fields: { data: Uint8Array; gasLimit: bigint; maxFeePerGas: bigint }) => Promise<void>

/** Attack at one block; `send` is from an account that has sent nothing. */
type Attack = (at: number, context: { readonly send: Send; readonly nodes: readonly NodeOfMany[] }) => Promise<void>

const ecrecover = (send: Send): Promise<void> =>
  send({ data: ECRECOVER, gasLimit: 40_000_000n, maxFeePerGas: 900n * GWEI })

const ATTACKS: Readonly<Record<string, Attack>> = {
  nobody: async () => {},
  ecrecover: async (at, { send }) => {
    if (at % 4 === 0) await ecrecover(send)
  },
  flood: async (_, { send }) => {
    for (let i = 0; i < 4; i++) await ecrecover(send)
  },
  sleeper: async (at, { send }) => {
    if (at % 4 === 0) await send({ data: sleeper(BLOCKS / 2), gasLimit: 100_000_000n, maxFeePerGas: 25n * GWEI })
  },
  pauses: async (at, { nodes }) => {
    // No client sends through it.
    const node = nodes.at(-1) as NodeOfMany
    if (at % 20 !== 0) return
    node.pause()
    await sleep(8_000)
    node.resume()
  },
}

interface BlockJson {
  readonly number: Hex
  readonly transactions: readonly Hex[]
}

/** An account that sends again once its last transaction is included. */
class HonestSender {
  readonly waited: number[] = []
  readonly #sign: ReturnType<typeof signerOf>
  readonly #node: NodeOfMany
  #nonce = 0
  open: (Signed & { readonly sentAt: number }) | undefined

  constructor({ privateKey }: Account, node: NodeOfMany) {
    this.#node = node
    this.#sign = signerOf(privateKey, node.ready.chainId)
  }

  async send(sentAt: number): Promise<void> {
    const fields = { to: null, data: CREATION, gasLimit: 5_000_000n, maxFeePerGas: 60n * GWEI }
    const signed = this.#sign({ nonce: this.#nonce++, ...fields })
    this.open = { ...signed, sentAt }
    await this.#node.rpc('eth_sendRawTransaction', signed.raw)
  }

  onBlock(number: number, hashes: ReadonlySet<Hex>): void {
    if (this.open === undefined || !hashes.has(this.open.hash)) return
    this.waited.push(number - this.open.sentAt)
    this.open = undefined
  }
}

const run = async (name: string, attack: Attack): Promise<boolean> => {
  const committee = await Committee.open(4, 1, {
    accounts: HONEST + 4 * BLOCKS,
    params: { roundTimeoutMs: Number(values['round-timeout']) },
    args: ['--execution', 'wasm', '--metrics-port', '0', '--log-level', 'warn'],
  })
  try {
    await committee.start()
    const { nodes, accounts } = committee
    const [first] = nodes as [NodeOfMany]
    await first.reach(3)
    const honest = accounts
      .slice(0, HONEST)
      .map((account, at) => new HonestSender(account, nodes[at % (nodes.length - 1)] as NodeOfMany))
    const fresh = accounts.slice(HONEST).values()
    const hashes: Hex[] = []
    const send: Send = async fields => {
      const { value } = fresh.next() as { value: Account }
      const { raw, hash } = signerOf(value.privateKey, first.ready.chainId)({ nonce: 0, to: null, ...fields })
      hashes.push(hash)
      await first.rpc('eth_sendRawTransaction', raw)
    }
    const places: string[] = []
    const start = await first.number()
    for (let at = start + 1; at <= start + BLOCKS; at++) {
      void attack(at - start, { send, nodes }).catch((error: Error) => process.stderr.write(`${error.message}\n`))
      const idle = honest.find(({ open }) => open === undefined)
      if (at % 2 === 0 && at < start + BLOCKS - 10) await idle?.send(at - 1)
      await first.reach(at, 120_000)
      const { transactions } = await first.rpc<BlockJson>('eth_getBlockByNumber', `0x${at.toString(16)}`, false)
      for (const sender of honest) sender.onBlock(at, new Set(transactions))
      for (const [place, hash] of transactions.entries())
        if (hashes.includes(hash)) places.push(`${place + 1} of ${transactions.length}`)
    }
    const waited = honest.flatMap(sender => sender.waited)
    const never = honest.filter(({ open }) => open !== undefined).length
    const metrics = await Promise.all(nodes.map(({ ready }) => scrape(ready.metrics)))
    const blocks = spreadOf(waited)
    const counter = (metric: string) => metrics.map(samples => samples.get(metric) ?? 0)
    const line = {
      bench: 'overruns',
      attack: name,
      blocks,
      never,
      attacks: { sent: hashes.length, places: places.slice(0, 8) },
      overruns: counter('txpool_overruns_total'),
      roundChanges: counter('consensus_round_changes_total'),
    }
    console.log(JSON.stringify(line))
    return never === 0 && blocks.p99 <= BOUND
  } finally {
    await committee.close()
  }
}

let isKept = true
for (const name of positionals.length > 0 ? positionals : Object.keys(ATTACKS)) {
  const attack = ATTACKS[name]
  if (attack === undefined) throw new Error(`unknown attack: ${name}`)
  isKept = (await run(name, attack)) && isKept
}
process.exit(isKept ? 0 : 1)
