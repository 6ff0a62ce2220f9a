import { systemClock } from '@tandem/base/clock.ts'
import { afterEach, expect, test } from 'vitest'
import type { EvidenceNetworkPort } from '../../../src/consensus/evidence/evidence.ts'
import type { NetworkPort } from '../../../src/consensus/ports.ts'
import { Ledger } from '../../support/consensus/ledger.ts'
import { createMember, type Member, signerOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { NetNodes, until } from '../../support/network/net-node.ts'

const SIZE = 4
const nodes = new NetNodes()
const members: Member[] = []
afterEach(async () => {
  await Promise.all(members.splice(0).map(({ engine }) => engine.stop()))
  await nodes.stop()
})

/** Engines over the network; `knows` says which of the members before it a member connects to. */
const start = async (
  knows: (index: number, other: number) => boolean,
  overrides: { readonly trustMissingLog?: boolean } = {},
): Promise<readonly Ledger[]> => {
  const ledgers: Ledger[] = []
  for (let index = 0; index < SIZE; index++) {
    const staticPeers = nodes.nodes.filter((_, other) => knows(index, other)).map(({ address }) => address)
    const { network } = await nodes.start({ member: index, committee: SIZE, staticPeers, discovers: false })
    const [files, ledger] = [new MemoryFiles(), new Ledger(index * 1_000)]
    ledgers.push(ledger)
    const parts = { index, size: SIZE, clock: systemClock, files, ledger, blockTimeMs: 100 }
    members.push(await createMember({ ...parts, network: network.consensus, overrides }))
  }
  const all = nodes.nodes.map((_, index) => signerOf(index).address)
  // Two steps are seen, which is enough of a line.
  await until('a quorum in reach', () => nodes.nodes.every(({ network }) => network.consensus.reachable(all) >= 2))
  await Promise.all(members.map(({ engine }) => engine.start()))
  return ledgers
}
const have = (ledgers: readonly Ledger[], count: number) => () => ledgers.every(({ blocks }) => blocks.length >= count)
const chainOf = ({ blocks }: Ledger, count: number) => blocks.slice(0, count).map(({ block }) => block.hash)
const expectAgreement = (ledgers: readonly Ledger[], count: number): void => {
  for (const ledger of ledgers) expect(chainOf(ledger, count)).toEqual(chainOf(ledgers[0] as Ledger, count))
  expect(members.flatMap(({ errors }) => errors)).toEqual([])
  for (const { log } of nodes.nodes) expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([])
}

test('four engines decide over the network, and three go on without the fourth', async () => {
  const ledgers = await start(() => true)
  await until('five blocks', have(ledgers, 5))
  expectAgreement(ledgers, 5)
  await nodes.nodes[3]?.network.stop()
  const height = Math.max(...ledgers.map(({ blocks }) => blocks.length))
  await until('blocks of three', have(ledgers.slice(0, 3), height + 3))
  expectAgreement(ledgers.slice(0, 3), height + 3)
})

test('four engines in a line, whose ends reach no quorum, decide by what neighbours pass on', async () => {
  // New keys sign once a quorum is in direct reach (docs/design/consensus.md#first-signature), which no end has.
  const ledgers = await start((index, other) => other === index - 1, { trustMissingLog: true })
  await until('five blocks', have(ledgers, 5))
  expectAgreement(ledgers, 5)
})

test('offers what consensus asks for', async () => {
  const { network } = await nodes.start()
  // The types are the test: consensus and network stand on one floor and know each other by their ports alone.
  const consensus: NetworkPort = network.consensus
  const evidence: EvidenceNetworkPort = network.evidence
  expect(consensus.reachable?.([signerOf(0).address])).toBe(0)
  evidence.onReceived(() => {})()
})
