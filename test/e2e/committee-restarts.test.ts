import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chaos } from '../support/chaos.ts'
import { Committee } from '../support/committee.ts'
import { SEED } from '../support/seed.ts'
import { Wires } from '../support/wires/wires.ts'

/** `KILLS=100 npx vitest run --project e2e committee-restarts`: the long form; a few in CI. */
const KILLS = Number(process.env['KILLS'] ?? 6)
const BLOCK_SECONDS = 0.25

/** A replacement may come too late, or twice; nothing else may be refused. */
const LATE = ['nonce too low', 'already known', 'replacement transaction underpriced']

let committee: Committee
beforeAll(async () => {
  const wires = new Wires(createRandom(SEED), { latencyMs: 5, jitterMs: 5 })
  committee = await Committee.open(4, BLOCK_SECONDS, {
    ...{ wires, tapped: true, accounts: 4 },
    // Four processes that execute each block twice, slowly, are a test of the machine: nothing here is about execution.
    args: ['--execution', 'wasm'],
  })
  await committee.start()
})
afterAll(() => committee.close())

test(`${KILLS} kills over four validators under load, seed ${SEED}`, { timeout: 60_000 + KILLS * 15_000 }, async () => {
  const { nodes, tap } = committee
  const chaos = new Chaos(committee, createRandom(SEED))
  await chaos.begin()
  while (chaos.kills < KILLS || chaos.acknowledged <= KILLS) await chaos.round()
  await chaos.end()
  expect(await chaos.audit()).toEqual([])
  expect(chaos.waiting, 'every acknowledged transaction is in a block').toBe(0)
  expect(tap.evidence).toBe(0)
  expect([...chaos.refusals.keys()].filter(text => !LATE.includes(text))).toEqual([])
  expect([...tap.testimony.counts.values()].every(count => count > 10)).toBe(true)
  // How soon is measured by bench/committee.ts: each voted again, or `round` had not ended.
  expect(chaos.votingMs.length).toBeGreaterThan(0)
  const { kills, acknowledged, votingMs, refusals } = chaos
  const [first] = nodes
  process.stdout.write(
    `${JSON.stringify({
      ...{ kills, acknowledged, votingMs: votingMs.map(Math.round), refusals: Object.fromEntries(refusals) },
      ...{ head: await first?.number(), signed: [...tap.testimony.counts.values()] },
    })}\n`,
  )
})
