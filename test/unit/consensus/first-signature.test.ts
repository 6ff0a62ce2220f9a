import { expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import type { Speaker } from '../../../src/consensus/ports.ts'
import { StartGate } from '../../../src/consensus/signer/start-gate.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { messageHeight } from '../../../src/primitives/consensus/message.ts'
import { Ledger } from '../../support/consensus/ledger.ts'
import { settle } from '../../support/consensus/manual-clock.ts'
import { committeeOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Said } from '../../support/consensus/said.ts'
import { bareStatus } from '../../support/hostile/member-attacks.ts'
import { committee } from './group.ts'

const SIZE = 4
const { members: MEMBERS } = committeeOf(SIZE)
const VICTIM = 3

/** A committee whose network proves which validator a peer is, with all messages of its first `ms`. */
const recorded = async (ms: number) => {
  const group = await committee(SIZE)
  const { mesh, clock } = group
  mesh.speaker = peer => ({ speaksFor: [MEMBERS[Number(peer)]!], reaches: [] })
  const archive: ConsensusMessage[] = []
  const said = new Said()
  mesh.onSaid = (from, message) => {
    if (message.type !== 'status') archive.push(message)
    if (from === VICTIM) said.add(message)
  }
  await clock.advance(ms)
  return { ...group, archive, said }
}

type Recorded = Awaited<ReturnType<typeof recorded>>

/**
 * Cuts the victim off from all, and sends it what others said at these heights, except whole decisions; of its own proposals only the
 * bodies.
 */
const replay = async ({ mesh, clock, archive }: Recorded, from: number, to: number): Promise<void> => {
  let isReplaying = false
  mesh.passes = (_, receiver) => receiver !== VICTIM || isReplaying
  const send = async (messages: readonly ConsensusMessage[]): Promise<void> => {
    isReplaying = true
    for (const message of messages) mesh.port(0).send(String(VICTIM), message)
    isReplaying = false
    await settle()
  }
  for (let number = from; number <= to; number++) {
    const messages = archive.filter(message => messageHeight(message) === number && message.type !== 'decided')
    await send(messages.filter(message => 'sender' in message && message.sender !== VICTIM))
    await send(
      messages.flatMap(message =>
        message.type === 'proposal' ? [{ type: 'body', block: message.block } as const] : [],
      ),
    )
    await clock.advance(1_500)
  }
}

const blocksUpTo = (ledger: Ledger, count: number): Ledger => {
  const copy = new Ledger(90_000)
  copy.blocks.push(...ledger.blocks.slice(0, count))
  return copy
}

test('a member without log and with an old database, cut off and fed old heights, stays silent, and votes once blocks of now are decided', async () => {
  const group = await recorded(10_500)
  const { members, clock, mesh, revive, said, archive, stop } = group
  await members[VICTIM]!.engine.stop()
  const ledger = blocksUpTo(members[VICTIM]!.ledger, 2)
  members[VICTIM] = { ...members[VICTIM]!, files: new MemoryFiles(), ledger }
  const old = archive.slice()
  mesh.passes = (_, to) => to !== VICTIM
  await clock.advance(5_000)
  const engine = await revive(VICTIM)
  const before = said.size
  await replay({ ...group, archive: old }, 3, 8)
  expect(ledger.blocks.length).toBeGreaterThanOrEqual(8)
  await clock.advance(5_000)
  expect(engine.status().mode).toBe('quarantined')
  expect(said.size).toBe(before)
  mesh.passes = () => true
  await clock.advance(30_000)
  expect(engine.status().mode).toBe('voting')
  expect(said.size).toBeGreaterThan(before)
  expect(said.contradictions).toEqual([])
  await stop()
})

test('a wiped member, cut off and fed old heights from the first on, signs nothing', async () => {
  const group = await recorded(6_500)
  const { members, clock, mesh, revive, said, archive, stop } = group
  await members[VICTIM]!.engine.stop()
  members[VICTIM] = { ...members[VICTIM]!, files: new MemoryFiles(), ledger: new Ledger(90_000) }
  const old = archive.slice()
  mesh.passes = (_, to) => to !== VICTIM
  await revive(VICTIM)
  const before = said.size
  await replay({ ...group, archive: old }, 1, 4)
  await clock.advance(10_000)
  expect(said.size).toBe(before)
  await stop()
})

test('a restored copy that hears nobody, then many at once, signs nothing at heights that are over', async () => {
  const { members, clock, mesh, revive, said, stop } = await recorded(4_500)
  const { files, ledger, engine } = members[VICTIM]!
  const copy = { files: files.copy(), ledger: blocksUpTo(ledger, ledger.blocks.length) }
  await clock.advance(4_000)
  await engine.stop()
  members[VICTIM] = { ...members[VICTIM]!, ...copy }
  mesh.passes = (_, to) => to !== VICTIM
  const open = copy.ledger.blocks.length + 1
  const heights: number[] = []
  const { onSaid } = mesh
  mesh.onSaid = (from, message) => {
    onSaid(from, message)
    if (from === VICTIM && 'signature' in message) heights.push(message.number)
  }
  const again = await revive(VICTIM)
  await clock.advance(4_000)
  expect(heights.filter(number => number >= open)).toEqual([])
  mesh.passes = () => true
  await clock.advance(15_000)
  expect(heights.filter(number => number >= open)).toEqual([])
  expect(said.contradictions).toEqual([])
  // Its seals in the chain show what its log lacks.
  expect(again.status().mode).toBe('failed')
  expect(members[VICTIM]!.errors).toMatchObject([{ code: 'KEY_IN_USE' }])
  await stop()
})

test('a restored copy with its log that hears one member, which says it reaches the others, signs nothing', async () => {
  const { members, clock, mesh, revive, said, stop } = await recorded(2_400)
  const { files, ledger, engine } = members[VICTIM]!
  const copy = { files: files.copy(), ledger: blocksUpTo(ledger, ledger.blocks.length) }
  await clock.advance(6_000)
  await engine.stop()
  members[VICTIM] = { ...members[VICTIM]!, ...copy }
  const open = copy.ledger.blocks.length + 1
  mesh.speaker = peer => ({ speaksFor: [MEMBERS[Number(peer)]!], reaches: MEMBERS })
  mesh.passes = (_, to) => to !== VICTIM
  const before = said.size
  await revive(VICTIM)
  mesh.passes = (from, to) => from === 0 && to === VICTIM
  for (let second = 0; second < 20; second++) {
    mesh.port(0).send(String(VICTIM), bareStatus(open))
    await clock.advance(1_000)
  }
  expect(said.contradictions).toEqual([])
  expect(said.size).toBe(before)
  await stop()
})

test('of four members two with emptied folders are silent for good, and go on when their operators vouch for them', async () => {
  const { members, clock, mesh, revive, stop } = await recorded(6_500)
  const contradictions = new Map([2, 3].map(index => [index, new Said()]))
  const { onSaid } = mesh
  mesh.onSaid = (from, message) => {
    onSaid(from, message)
    contradictions.get(from)?.add(message)
  }
  for (const { engine } of members) await engine.stop()
  for (const index of [2, 3])
    members[index] = { ...members[index]!, files: new MemoryFiles(), ledger: new Ledger(index * 100_000) }
  const before = members[0]!.ledger.blocks.length
  for (let index = 0; index < SIZE; index++) await revive(index)
  await clock.advance(60_000)
  expect([2, 3].map(index => members[index]!.engine.status().mode)).toEqual(['quarantined', 'quarantined'])
  expect(members[0]!.ledger.blocks.length).toBe(before)
  for (const index of [2, 3]) {
    await members[index]!.engine.stop()
    members[index] = { ...members[index]!, files: new MemoryFiles(), ledger: new Ledger(index * 100_000) }
    await revive(index, { trustMissingLog: true })
  }
  await clock.advance(120_000)
  expect(members[0]!.ledger.blocks.length).toBeGreaterThan(before)
  for (const said of contradictions.values()) expect(said.contradictions).toEqual([])
  await stop()
})

test('a committee that restarts as a whole goes on within a second', async () => {
  const { members, clock, revive, stop } = await recorded(4_500)
  for (const { engine } of members) await engine.stop()
  const before = members[0]!.ledger.blocks.length
  await clock.advance(20_000)
  for (let index = 0; index < SIZE; index++) await revive(index)
  await clock.advance(1_000)
  expect(members[0]!.ledger.blocks.length).toBeGreaterThan(before)
  await stop()
})

test('a new committee whose first messages wait proposes in its first round', async () => {
  const { members, clock, stop } = await recorded(2_600)
  expect(members[0]!.ledger.blocks[0]?.certificate.round).toBe(0)
  await clock.advance(10)
  await stop()
})

const opensBy = (trusts: boolean, reports: readonly (readonly [Speaker | undefined, number])[], open = 5): boolean => {
  const gate = new StartGate({ isOpen: false, self: MEMBERS[VICTIM], trusts, nowMs: 0 })
  for (const [speaker, number] of reports) gate.heard(bareStatus(number), speaker, { members: MEMBERS }, open)
  return gate.isOpenFor({ members: MEMBERS })
}

const [A, B, C, SELF] = MEMBERS as [`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`]
const alone = (member: `0x${string}`, reaches: readonly `0x${string}`[] = []): Speaker => ({
  speaksFor: [member],
  reaches,
})

test.each<[what: string, trusts: boolean, reports: [Speaker | undefined, number][], opens: boolean]>([
  [
    'a quorum with itself at its height',
    false,
    [
      [alone(A), 5],
      [alone(B), 4],
    ],
    true,
  ],
  [
    'too few',
    false,
    [
      [alone(A), 5],
      [alone(A), 5],
    ],
    false,
  ],
  [
    'members ahead of it',
    false,
    [
      [alone(A), 6],
      [alone(B), 6],
      [alone(C), 5],
    ],
    false,
  ],
  [
    'peers that are no neighbours',
    false,
    [
      [undefined, 5],
      [undefined, 5],
    ],
    false,
  ],
  ['a relay of its operator, for those it reaches', false, [[{ speaksFor: [A, B], reaches: [] }, 5]], true],
  [
    'a relay of its operator that reaches one other and this node',
    false,
    [[{ speaksFor: [A, SELF], reaches: [] }, 5]],
    false,
  ],
  ['a member that says to reach this node, trusted by the operator', true, [[alone(A, [SELF]), 5]], false],
  ['a member that says to reach the others', false, [[alone(A, [B, C]), 5]], false],
  ['a member that says to reach the others, trusted by the operator', true, [[alone(A, [B, C]), 5]], true],
])('the first signature, after reports of %s', (_, trusts, reports, opens) => {
  expect(opensBy(trusts, reports)).toBe(opens)
})

test('the first signature, after a block that was decided since the start', () => {
  const gate = new StartGate({ isOpen: false, self: MEMBERS[VICTIM], trusts: false, nowMs: 0 })
  gate.decided(CONSENSUS_LIMITS.freshMs / 1_000)
  expect(gate.isOpenFor({ members: MEMBERS })).toBe(false)
  gate.decided(CONSENSUS_LIMITS.freshMs / 1_000 + 1)
  expect(gate.isOpenFor({ members: MEMBERS })).toBe(true)
})

test('a lone member waits for nobody', () => {
  expect(new StartGate({ isOpen: false, self: A, trusts: false, nowMs: 0 }).isOpenFor({ members: [A] })).toBe(true)
})
