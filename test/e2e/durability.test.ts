import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { alarmsIn } from '../support/alarms.ts'
import { tandem } from '../support/command.ts'
import { ConsensusMemory } from '../support/consensus/log-on-disk.ts'
import { rpc, withTempDir } from '../support/devnet.ts'
import { deployToken, signerOf, startLoad, type Token } from '../support/load.ts'
import { eventually, type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'
import { Witness } from '../support/witness.ts'

/** `KILLS=50 npx vitest run --project e2e durability`: the long form; a few in CI. */
const KILLS = Number(process.env['KILLS'] ?? 6)
const LONG = KILLS > 10
const LONGEST_RUN_MS = LONG ? 2_400 : 1_200
const API = ['--http-api', 'eth,net,rpc,native,txpool']
const BLOCK_TIMES = ['0.2', '1', '0'] as const

interface Verified {
  readonly ok: boolean
  readonly head: number
  readonly problems: readonly string[]
}

const verify = async (dataDir: string): Promise<Verified> => {
  const { stdout, stderr, code } = await tandem(['db', 'verify', '--datadir', dataDir, '--json'])
  expect(stderr, 'db verify writes no error').toBe('')
  expect(code, stdout).toBe(0)
  return JSON.parse(stdout) as Verified
}

/** One chain that is killed again and again, and all that anybody ever learned from it. */
class Victim {
  readonly witness = new Witness()
  readonly refusals = new Map<string, number>()
  readonly #args: readonly string[]
  readonly #dataDir: string
  readonly #random: Random
  #memory: ConsensusMemory | undefined
  #token: Token | undefined
  kills = 0
  killsBeforeReady = 0
  verified = 0

  constructor(dataDir: string, blockTime: string, random: Random) {
    this.#dataDir = dataDir
    this.#random = random
    this.#args = ['devnet', '--port', '0', '--datadir', dataDir, '--block-time', blockTime, ...API]
  }

  /** A run under load that ends in a SIGKILL, and a look at what is left. */
  async round(): Promise<void> {
    const node = spawnNode(this.#args)
    const ready = await node.ready
    this.#memory ??= new ConsensusMemory({ chainId: ready.chainId, genesisHash: ready.genesisHash })
    await this.#holdToItsWord(ready)
    this.#token ??= await deployToken(ready)
    await this.#loadUntilKilled(node, ready, this.#token)
    await this.#inspect()
    if (this.#random.chance(0.35)) await this.#killWhileStarting()
  }

  /** The last start: nobody kills it, and everything acknowledged ends up in a block. */
  async finish(): Promise<void> {
    const node = spawnNode(this.#args)
    const ready = await node.ready
    await this.#holdToItsWord(ready, 1)
    await this.#drain(ready)
    expect(await this.witness.contradictions(ready.http, 1)).toEqual([])
    expect(this.witness.waiting, 'every acknowledged transaction is in a block').toBe(0)
    expect(await this.#decidedOtherwise(ready)).toEqual([])
    expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
    expect((await verify(this.#dataDir)).ok).toBe(true)
  }

  async #holdToItsWord({ http }: Ready, from?: number): Promise<void> {
    // Older blocks are asked for again now and then, and all of them at the end.
    const recent = Math.max(1, this.witness.highest - 40)
    const first = from ?? (this.#random.chance(0.2) ? 1 : recent)
    expect(await this.witness.contradictions(http, first)).toEqual([])
  }

  async #loadUntilKilled(node: NodeProcess, ready: Ready, token: Token): Promise<void> {
    let stopped = false
    const watching = this.witness.watch(ready.http, () => stopped)
    const load = startLoad({
      node: ready,
      token,
      random: this.#random.next,
      pauseMs: 40,
      onSent: tx => this.witness.sent(tx),
      onAcknowledged: tx => this.witness.acknowledge(tx),
      onRefused: (_, message) => this.refusals.set(message, (this.refusals.get(message) ?? 0) + 1),
    })
    await sleep(100 + this.#random.below(LONGEST_RUN_MS))
    // A machine that is too slow for that gets the time that one answer takes.
    await eventually('an acknowledged transaction', async () => (this.witness.acknowledged > 0 ? true : undefined))
    await node.kill()
    this.kills++
    stopped = true
    await Promise.all([load.stop(), watching])
    expect(node.stderr(), 'nothing worse than a warning in its log').not.toMatch(/"level":"error"/)
  }

  async #killWhileStarting(): Promise<void> {
    const node = spawnNode(this.#args)
    await Promise.race([node.ready, sleep(this.#random.below(700))])
    await node.kill()
    this.kills++
    this.killsBeforeReady++
    await this.#inspect()
  }

  /** The stopped folder: log against itself and the past, and the database against itself. */
  async #inspect(): Promise<void> {
    expect(await this.#memory?.read(join(this.#dataDir, 'consensus'))).toEqual([])
    if (!LONG && this.kills % 2 === 1) return
    const { ok, head, problems } = await verify(this.#dataDir)
    expect(problems).toEqual([])
    expect(ok).toBe(true)
    expect(head).toBeGreaterThanOrEqual(this.witness.highest)
    this.verified++
  }

  async #drain({ http }: Ready): Promise<void> {
    await eventually('an empty pool', async () => {
      const { pending, queued } = await rpc<{ pending: Hex; queued: Hex }>(http, 'txpool_status')
      return Number(pending) + Number(queued) === 0 ? true : undefined
    })
  }

  /** Blocks whose hash is not the one the log once said was decided. */
  async #decidedOtherwise({ http }: Ready): Promise<readonly string[]> {
    const found: string[] = []
    for (const [number, hash] of this.#memory?.decided ?? []) {
      const block = await rpc<{ hash: Hex } | null>(http, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
      if (block?.hash !== hash) found.push(`block ${number} is ${block?.hash}, the log decided ${hash}`)
    }
    return found
  }
}

/** A replacement may come too late, or twice; nothing else may be refused. */
const LATE = ['nonce too low', 'already known', 'replacement transaction underpriced']

describe(`${KILLS} kills under load, seed ${SEED}`, () => {
  test.each(BLOCK_TIMES.map((blockTime, index) => ({ blockTime, index })))(
    'block time $blockTime s: nothing acknowledged or seen is lost, and nothing is contradicted',
    { timeout: 60_000 + KILLS * 20_000 },
    async ({ blockTime, index }) => {
      await withTempDir(async dir => {
        const victim = new Victim(join(dir, 'data'), blockTime, createRandom(SEED + index))
        const share = Math.ceil(KILLS / BLOCK_TIMES.length)
        while (victim.kills < share) await victim.round()
        await victim.finish()
        expect(existsSync(join(dir, 'data', 'shadow')), 'no shadow report').toBe(false)
        expect([...victim.refusals.keys()].filter(text => !LATE.includes(text))).toEqual([])
        const { kills, killsBeforeReady, verified, witness } = victim
        process.stdout.write(
          `${JSON.stringify({ blockTime, kills, killsBeforeReady, verified, acknowledged: witness.acknowledged, head: witness.highest })}\n`,
        )
      })
    },
  )

  test('a new chain is killed in its first moments', { timeout: 60_000 + KILLS * 10_000 }, async () => {
    const random = createRandom(SEED)
    for (let kill = 0; kill < KILLS / 2; kill++) {
      await withTempDir(async dir => {
        const args = ['devnet', '--port', '0', '--datadir', join(dir, 'data'), '--block-time', '0.05']
        const first = spawnNode(args)
        await sleep(100 + random.below(500))
        await first.kill()
        const second = spawnNode(args)
        const { http } = await second.ready
        const head = Number(await rpc<Hex>(http, 'eth_blockNumber'))
        await eventually('a block', async () =>
          Number(await rpc<Hex>(http, 'eth_blockNumber')) > head ? true : undefined,
        )
        expect(alarmsIn(second.stderr())).toEqual([])
        await second.kill()
        expect((await verify(join(dir, 'data'))).ok).toBe(true)
      })
    }
  })
})

test('an acknowledged transaction is known at every moment, also on its way from the pool into a block', async () => {
  const node = spawnNode(['devnet', '--port', '0', '--block-time', '0'])
  const ready = await node.ready
  const lost: string[] = []
  await Promise.all(
    ready.accounts.slice(0, 5).map(async ({ privateKey }) => {
      const signed = signerOf(privateKey, ready.chainId)
      for (let nonce = 0; nonce < 40; nonce++) {
        const { raw, hash } = signed({ nonce })
        await rpc(ready.http, 'eth_sendRawTransaction', [raw])
        for (let isIncluded = false; !isIncluded; ) {
          const found = await rpc<{ blockNumber: Hex | null } | null>(ready.http, 'eth_getTransactionByHash', [hash])
          if (found === null) lost.push(hash)
          isIncluded = found === null || found.blockNumber !== null
        }
      }
    }),
  )
  expect(lost).toEqual([])
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})
