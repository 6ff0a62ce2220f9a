import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../src/config/limits/clients.ts'
import { rpc } from '../support/devnet.ts'
import { ATTACK_NAMES, ATTACKS, type AttackName } from '../support/hostile/clients/attacks.ts'
import { layMines } from '../support/hostile/clients/chain.ts'
import type { Target } from '../support/hostile/clients/scene.ts'
import { eventually, type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'
import { scrape } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

/*
 * The short form of bench/hostile-clients.ts: what is asserted is that others are answered, the accounts of what clients hold, and the end.
 * Attacks run a few at a time, each from an address of its own; with HOSTILE_FLOOD_MS=6000 one at a time, each for so long.
 */

const LONG_MS = Number(process.env['HOSTILE_FLOOD_MS'] ?? 0)
const AT_ONCE = LONG_MS > 0 ? 1 : 5
const WAIT_MS = LONG_MS > 0 ? LONG_MS : 2_000

const GROUPS = Array.from({ length: Math.ceil(ATTACK_NAMES.length / AT_ONCE) }, (_, i) =>
  ATTACK_NAMES.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
)
const addressOf = (name: AttackName): string => `127.1.0.${1 + ATTACK_NAMES.indexOf(name)}`

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
  const budgets = Object.keys(RPC_LIMITS.budgets)
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

const areWithinBounds = async (name: string): Promise<void> => {
  const held = await heldOf('rpc_budget_client_size')
  for (const [budget, limits] of Object.entries(RPC_LIMITS.budgets))
    expect(held.get(budget), `${name}: ${budget}`).toBeLessThanOrEqual(limits.client)
}

describe(`hostile clients, SEED=${SEED}`, () => {
  test.each(GROUPS.map(names => [names.join(', '), names] as const))(
    '%s: others are answered, and what is held stays in its bounds',
    async (title, names) => {
      const over = new AbortController()
      const random = createRandom(SEED)
      const did = names.map(name => {
        const counts = new Map<string, number>()
        const scene = { target, random, signal: over.signal, from: () => addressOf(name), rounds: 2, counts }
        return { name, counts, end: ATTACKS[name](scene) }
      })
      let isOver = false
      const attacking = Promise.all(did.map(({ end }) => end)).then(() => {
        isOver = true
      })
      const ends = performance.now() + WAIT_MS
      const isIdle = () => did.some(({ counts }) => counts.size === 0)
      while (!isOver && (isIdle() || performance.now() < ends)) {
        await isAlive()
        await areWithinBounds(title)
      }
      over.abort()
      await attacking
      for (const { name, counts } of did) expect(counts.size, `${name} did something`).toBeGreaterThan(0)
      await isAlive()
    },
  )

  test('hold nothing once they are gone', async () => {
    const forgets = ['bodies', 'answers', 'sockets'] as const
    let held: ReadonlyMap<string, number> = new Map()
    const isAll = await eventually('all is given back', async () => {
      held = await heldOf('rpc_budget_held_size')
      return forgets.every(budget => held.get(budget) === 0) ? true : undefined
    }).catch(() => false)
    expect(isAll, `held: ${JSON.stringify(Object.fromEntries(held))}`).toBe(true)
    // Filters stay until they have not been asked for a while.
    expect(held.get('filters')).toBeLessThanOrEqual(RPC_LIMITS.budgets.filters.total)
    expect((await fetch(`${ready.http}/health`)).status).toBe(200)
  })
})
