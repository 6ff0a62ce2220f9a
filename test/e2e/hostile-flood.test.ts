import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIMITS } from '../../src/config/limits.ts'
import { createRandom } from '../../src/sim/random.ts'
import type { Hex } from '../../src/util/bytes.ts'
import { rpc } from '../support/devnet.ts'
import { ATTACK_NAMES, ATTACKS } from '../support/hostile/clients/attacks.ts'
import { layMines } from '../support/hostile/clients/chain.ts'
import type { Target } from '../support/hostile/clients/scene.ts'
import { eventually, type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'
import { scrape } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

/** The short form of bench/hostile-clients.ts: what is asserted is that others are answered, the accounts of what clients hold, and the end. */

const GREEDY = '127.1.0.1'
const WAIT_MS = 6_000

let node: NodeProcess
let ready: Ready
let target: Target

beforeAll(async () => {
  node = spawnNode([
    ...['devnet', '--port', '0', '--metrics-port', '0', '--log-level', 'warn', '--balance', '1000000'],
    ...['--http-api', 'eth,net,rpc,native,debug,web3,txpool'],
  ])
  ready = await node.ready
  target = await layMines(ready)
})
afterAll(async () => {
  expect(node.stderr(), 'nobody has to be called for what clients send').not.toMatch(/"level":"(error|fatal)"/)
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

const heldOf = async (name: string): Promise<ReadonlyMap<string, number>> => {
  const samples = await scrape(ready.metrics)
  const budgets = Object.keys(LIMITS.rpc.budgets)
  return new Map(budgets.map(budget => [budget, samples.get(`${name}{budget="${budget}"}`) ?? Number.NaN]))
}

/** An honest client is answered, and blocks come. */
const isAlive = async (): Promise<void> => {
  expect(await rpc<Hex>(ready.http, 'eth_getBalance', [ready.accounts[9]?.address, 'latest'])).toMatch(/^0x/)
  const before = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
  await eventually('the next block', async () =>
    Number(await rpc<Hex>(ready.http, 'eth_blockNumber')) > before ? true : undefined,
  )
}

describe(`hostile clients of one address, SEED=${SEED}`, () => {
  test.each(ATTACK_NAMES)(
    '%s: others are answered, and what is held stays in its bounds',
    { timeout: 90_000 },
    async name => {
      const over = new AbortController()
      const scene = { target, random: createRandom(SEED), signal: over.signal, from: () => GREEDY, rounds: 2 }
      const counts = new Map<string, number>()
      let isOver = false
      const attacking = ATTACKS[name]({ ...scene, counts }).then(() => {
        isOver = true
      })
      const ends = performance.now() + WAIT_MS
      while (!isOver && performance.now() < ends) {
        await isAlive()
        const held = await heldOf('rpc_budget_client_size')
        for (const [budget, limits] of Object.entries(LIMITS.rpc.budgets))
          expect(held.get(budget), `${name}: ${budget}`).toBeLessThanOrEqual(limits.client)
      }
      over.abort()
      await attacking
      expect(counts.size, 'it did something').toBeGreaterThan(0)
      await isAlive()
    },
  )
})
