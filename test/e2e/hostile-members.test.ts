import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePeerUrl } from '../../src/network/identity/peer-url.ts'
import { CouncilOfNodes, validatorOf } from '../support/council-nodes.ts'
import { rpc } from '../support/devnet.ts'
import { ATTACKS, type AttackName } from '../support/hostile/attacks.ts'
import { hostileKey } from '../support/hostile/key.ts'
import { eventually, sleep } from '../support/node-process.ts'
import { rssMegabytes, scrape } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

const VALIDATORS = [0, 1, 2, 3]
/** How long each attack goes on; long ones are for bench/hostile-peers.ts. */
const ATTACK_MS = 1_500
const MAX_GROWTH_MEGABYTES = 150

let council: CouncilOfNodes
let rssBefore = 0
beforeAll(async () => {
  council = await CouncilOfNodes.open(VALIDATORS.length, 0.25, { roundTimeoutMs: 1_000 })
  await Promise.all(VALIDATORS.map(index => council.run(index)))
  await council.goOn(VALIDATORS, 2)
  rssBefore = await rssMegabytes(council.first.ready.metrics)
})
afterAll(() => council?.close())

const sample = async (name: string): Promise<number> => (await scrape(council.first.ready.metrics)).get(name) ?? 0

/** Uses the key of a validator against all others while something is done, or for a while. */
const under = async (
  name: AttackName,
  index: number,
  doing: () => Promise<unknown> = () => sleep(ATTACK_MS),
): Promise<void> => {
  const stop = new AbortController()
  const { chainId, genesisHash } = council.first.ready
  const target = { port: parsePeerUrl(council.first.url).port, domain: { chainId, genesisHash } }
  const member = hostileKey(council, index)
  const attack = ATTACKS[name]({ target, random: createRandom(SEED), signal: stop.signal, member })
  try {
    await doing()
  } finally {
    stop.abort()
    await attack
    member.end()
  }
}

/** All validators have new blocks, the same ones, their own connections stand, and nobody thinks ill of an honest node. */
const isUnharmed = async (): Promise<void> => {
  await council.goOn(VALIDATORS, 4)
  const peers = await rpc<readonly { validator: string | null; score: number }[]>(
    council.first.ready.operator as string,
    'admin_peers',
  )
  const validators = peers.filter(({ validator }) => validator !== null)
  expect(validators.map(({ validator }) => validator).sort()).toEqual([1, 2, 3].map(validatorOf).sort())
  expect(validators.map(({ score }) => score)).toEqual([0, 0, 0])
  expect((await rssMegabytes(council.first.ready.metrics)) - rssBefore).toBeLessThan(MAX_GROWTH_MEGABYTES)
  for (const index of VALIDATORS) expect(council.node(index).log).not.toContain('"level":"error"')
}

describe('four validators, and a council key in hostile hands beside them', () => {
  test('send what statuses ask for within a bound', async () => {
    await under('statuses', 3)
    await isUnharmed()
  })

  test.each<[AttackName, number]>([
    ['unsignedProposals', 3],
    ['falseBodies', 2],
    ['unsealedDecisions', 1],
  ])('ban it once for %s, whatever node it comes with', async (name, index) => {
    const before = await sample('network_bans_total')
    await under(name, index, async () => {
      await eventually('a ban', async () => ((await sample('network_bans_total')) > before ? true : undefined))
      // It comes back again and again, from other nodes.
      await sleep(ATTACK_MS)
    })
    expect(await sample('network_penalties_total{offence="forged"}')).toBeGreaterThan(0)
    expect(await sample('network_bans_total')).toBe(before + 1)
    await isUnharmed()
  })
})
