import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../src/config/limits/network.ts'
import { parsePeerUrl } from '../../src/network/identity/peer-url.ts'
import { CouncilOfNodes } from '../support/council-nodes.ts'
import { rpc } from '../support/devnet.ts'
import { ATTACKS, type AttackName } from '../support/hostile/attacks.ts'
import { eventually, sleep } from '../support/node-process.ts'
import { rssMegabytes, scrape } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

const BLOCK_SECONDS = 0.25
const VALIDATORS = [0, 1, 2, 3]
/** How long each attack goes on; long ones are for bench/hostile-peers.ts. */
const ATTACK_MS = 500
/** Bound of the heap in use and the buffers that a node comes to hold by all of them, the memory pool's transactions included. */
const MAX_HELD_MEGABYTES = 80
/** Bound of the growth of resident memory once a node is warm, with garbage that is not collected yet. */
const MAX_GROWTH_MEGABYTES = 120

let council: CouncilOfNodes
let heldBefore = 0
let rssBefore = 0
beforeAll(async () => {
  council = await CouncilOfNodes.open(VALIDATORS.length, BLOCK_SECONDS, { roundTimeoutMs: 1_000 })
  await Promise.all(VALIDATORS.map(index => council.run(index)))
  await council.goOn(VALIDATORS, 2)
  heldBefore = await heldMegabytes()
  // Garbage of buffers is collected at 64 MiB of it: the first frames of any kind raise resident memory by as much, once.
  for (const name of ['oversize', 'unsolicited'] as const) await under(name)
  rssBefore = await rssMegabytes(council.first.ready.metrics)
})
afterAll(() => council?.close())

const sample = async (name: string): Promise<number> => (await scrape(council.first.ready.metrics)).get(name) ?? 0
const offences = (offence: string) => sample(`network_penalties_total{offence="${offence}"}`)

const heldMegabytes = async (): Promise<number> =>
  ((await sample('process_heap_used_bytes')) + (await sample('process_external_memory_bytes'))) / 2 ** 20

const sceneOf = (signal: AbortSignal) => {
  const { chainId, genesisHash } = council.first.ready
  return {
    target: { port: parsePeerUrl(council.first.url).port, domain: { chainId, genesisHash } },
    random: createRandom(SEED),
    signal,
  }
}

/** Attacks the first node while something is done, or for a while. */
const under = async (name: AttackName, doing: () => Promise<unknown> = () => sleep(ATTACK_MS)): Promise<void> => {
  const stop = new AbortController()
  const attack = ATTACKS[name](sceneOf(stop.signal))
  try {
    await doing()
  } finally {
    stop.abort()
    await attack
  }
}

/** All validators have new blocks, the same ones, and nobody thinks ill of an honest one. */
const isUnharmed = async (): Promise<void> => {
  await council.goOn(VALIDATORS, 1)
  const peers = await rpc<readonly { validator: string | null; score: number }[]>(
    council.first.ready.operator as string,
    'admin_peers',
  )
  const validators = peers.filter(({ validator }) => validator !== null)
  expect(validators.map(({ score }) => score)).toEqual([0, 0, 0])
  await eventually('memory that is not held', async () =>
    (await heldMegabytes()) - heldBefore < MAX_HELD_MEGABYTES ? true : undefined,
  )
  expect((await rssMegabytes(council.first.ready.metrics)) - rssBefore).toBeLessThan(MAX_GROWTH_MEGABYTES)
  expect(council.first.log).not.toContain('"level":"error"')
}

describe('a committee of real processes', () => {
  test.each<[AttackName, string]>([
    ['mutatedFrames', 'malformed'],
    ['mutatedHandshakes', 'malformed'],
    ['oversize', 'malformed'],
    ['votesOfStrangers', 'flood'],
    ['unsolicited', 'useless'],
    ['badTransactions', 'badTransaction'],
    ['falseRanges', 'forged'],
    ['evidence', 'forged'],
  ])(`names what is done to it: %s (SEED=${SEED})`, async (name, offence) => {
    const before = await offences(offence)
    await under(name, () => eventually(offence, async () => ((await offences(offence)) > before ? true : undefined)))
    await isUnharmed()
  })

  test.each<AttackName>(['connections', 'requests', 'transactions', 'hashes', 'announcements', 'records'])(
    'bears what it cannot tell from eagerness: %s',
    async name => {
      await under(name)
      expect(await sample('network_known_peers')).toBeLessThanOrEqual(
        NETWORK_LIMITS.newBuckets * NETWORK_LIMITS.bucketRecords,
      )
      await isUnharmed()
    },
  )

  test('lets a validator back in whom a crowd of silent connections stands before', async () => {
    const stop = new AbortController()
    const silent = ATTACKS.slowLoris(sceneOf(stop.signal))
    await under('slowHello', async () => {
      await council.node(3).kill()
      await eventually('a crowd', async () => {
        const pending = await sample('network_pending_connections')
        expect(pending).toBeLessThanOrEqual(NETWORK_LIMITS.pending)
        return pending > NETWORK_LIMITS.pendingPerAddress / 2 ? true : undefined
      })
      await council.goOn([0, 1, 2], 2)
      await council.node(3).start([council.first], ['--metrics-port', '0', '--no-discovery'])
      await council.goOn(VALIDATORS, 2)
    })
    stop.abort()
    await silent
    await isUnharmed()
  })
})
