import { afterAll, beforeAll, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { eventually } from '../support/node-process.ts'
import { scrape } from '../support/scrape.ts'

/* What an operator sees of a network that halts, and of a node that is late: on real processes. */

let committee: Committee
beforeAll(async () => {
  committee = await Committee.open(4, 0.25, { args: ['--metrics-port', '0', '--execution', 'wasm'] })
  await committee.start()
  await committee.nodes[0]?.reach(30)
})
afterAll(() => committee.close())

interface Line {
  readonly level: string
  readonly msg: string
  readonly missing?: readonly string[]
}

const linesOf = ({ log }: NodeOfMany): readonly Line[] =>
  log.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))

const healthOf = async ({ ready }: NodeOfMany): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${ready.http}/health`)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('a late node answers 503 until it has reached the head of its peers', async () => {
  const late = await committee.add('late')
  await late.start(committee.nodes.slice(0, 4))
  const reasons = new Set<string>()
  const healthy = await eventually('the head', async () => {
    const { status, body } = await healthOf(late)
    if (status === 200) return body
    expect(status).toBe(503)
    reasons.add(String(body['reason']).replaceAll(/\d+/g, 'N'))
    return undefined
  })
  expect(Number(healthy['target']) - Number(healthy['number'])).toBeLessThanOrEqual(2)
  expect(Number(healthy['number'])).toBeGreaterThanOrEqual(28)
  for (const reason of reasons)
    expect(reason).toMatch(/^(no peer is connected|N blocks behind the head of the peers|catching up with block N)/)
  const metrics = await scrape(late.ready.metrics)
  expect(metrics.get('sync_target_number')).toBeGreaterThanOrEqual(28)
  expect(metrics.get('sync_distance_blocks')).toBeLessThanOrEqual(2)
  await late.kill()
})

test('a halt names the validators that are away, in the log and in the metric, and its end is logged', async () => {
  const [first, , third, fourth] = committee.nodes as [NodeOfMany, NodeOfMany, NodeOfMany, NodeOfMany]
  await third.kill()
  await fourth.kill()
  const away = [third.validator, fourth.validator].toSorted()
  const line = await eventually('the warning', async () =>
    linesOf(first).findLast(({ msg, missing }) => msg.startsWith('no quorum reachable') && missing?.length === 2),
  )
  expect(line.level).toBe('warn')
  expect(line.missing?.toSorted()).toEqual(away)
  const metrics = await scrape(first.ready.metrics)
  expect(metrics.get('consensus_missing_validators')).toBe(2)
  await third.start(committee.others(third))
  const again = await eventually('the end of the halt', async () =>
    linesOf(first).findLast(({ msg }) => msg.startsWith('deciding again after')),
  )
  expect(again.msg).toMatch(/^deciding again after \d+ s$/)
  await fourth.start(committee.others(fourth))
})
