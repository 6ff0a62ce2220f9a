import type { Hex } from '@tandem/base/bytes.ts'
import { toHex } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { CouncilOfNodes, validatorOf } from '../support/council-nodes.ts'

/** A block a quarter of a second, a cycle every two. */
const BLOCK_SECONDS = 0.25
const CYCLE = 8
const NEVER_PROPOSES = {
  NODE_OPTIONS: `--import=${new URL('./never-proposes.ts', import.meta.url).pathname}`,
}

interface Decided {
  readonly consensus: { readonly round: number }
}

/** Share of the heights that waited for some validators: theirs was the first round, and it did not decide. Others are late by the machine. */
const lateIn = async (
  council: CouncilOfNodes,
  from: number,
  to: number,
  waitedFor: readonly number[],
): Promise<number> => {
  const { first } = council
  const range = [from, to].map(number => toHex(number))
  const blocks = await first.rpc<readonly Decided[]>('native_getBlockWithConsensusInfoRange', ...range, false)
  const absent = waitedFor.map(validatorOf)
  let late = 0
  for (const [at, { consensus }] of blocks.entries()) {
    const [proposer] = await first.rpc<readonly Hex[]>('native_getCommittee', toHex(from + at))
    if (consensus.round > 0 && absent.includes(proposer?.toLowerCase() as Hex)) late++
  }
  return late / blocks.length
}

/** Milliseconds for a block, over some of them. */
const intervalOf = async (council: CouncilOfNodes, blocks: number): Promise<number> => {
  const beganMs = performance.now()
  const first = await council.first.number()
  await council.first.reach(first + blocks)
  return (performance.now() - beganMs) / blocks
}

test('a validator that seals and never proposes delays two cycles, then few', async () => {
  const council = await CouncilOfNodes.open(4, BLOCK_SECONDS)
  onTestFinished(() => council.close())
  const others = [...council.nodes.values()]
  await Promise.all(
    others.map(node =>
      node.start(
        others.filter(other => other !== node),
        ['--metrics-port', '0'],
        node === council.node(3) ? { env: NEVER_PROPOSES } : {},
      ),
    ),
  )
  const beforeMs = await intervalOf(council, 2 * CYCLE - 2)
  await council.first.reach(10 * CYCLE)
  const afterMs = await intervalOf(council, 4 * CYCLE)
  const late = (from: number, to: number): Promise<number> => lateIn(council, from, to, [3])
  const [before, after] = [await late(1, 2 * CYCLE), await late(6 * CYCLE + 1, 14 * CYCLE)]
  console.log(JSON.stringify({ beforeMs: Math.round(beforeMs), afterMs: Math.round(afterMs), before, after }))
  expect(before).toBeGreaterThanOrEqual(0.2)
  expect(after).toBeLessThan(before / 2)
  // It serves and seals all the same.
  const committee = await council.first.rpc<readonly string[]>('native_getCommittee')
  expect(committee.map(member => member.toLowerCase())).toContain(validatorOf(3))
}, 480_000)

test('seven validators admit three that never start, and no height waits for them', async () => {
  const council = await CouncilOfNodes.open(7, BLOCK_SECONDS, {}, 'wasm')
  onTestFinished(() => council.close())
  const present = [0, 1, 2, 3, 4, 5, 6]
  for (const index of present) await council.run(index)
  await council.fund([...present, 7, 8, 9])
  await council.admit(present, [7, 8, 9])
  await council.serving([...present, 7, 8, 9])
  const from = (await council.first.number()) + 1
  await council.goOn(present, 6 * CYCLE)
  const late = await lateIn(council, from, from + 6 * CYCLE - 1, [7, 8, 9])
  console.log(JSON.stringify({ late }))
  expect(late).toBeLessThan(0.15)
}, 480_000)
