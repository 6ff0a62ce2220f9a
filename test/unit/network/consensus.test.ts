import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/util/clock.ts'
import { GENESIS_HASH, Ledger } from '../../support/consensus/ledger.ts'
import { createMember, type Member } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { NetNodes, until } from '../../support/network/net-node.ts'

const SIZE = 4
const nodes = new NetNodes()
const members: Member[] = []
afterEach(async () => {
  await Promise.all(members.splice(0).map(({ engine }) => engine.stop()))
  await nodes.stop()
})

it('four engines decide over the network, and three go on without the fourth', async () => {
  const ledgers = Array.from({ length: SIZE }, (_, index) => new Ledger(index * 1_000))
  for (const [index, ledger] of ledgers.entries()) {
    const staticPeers = nodes.nodes.map(({ address }) => address)
    const { network } = await nodes.start({ member: index, committee: SIZE, staticPeers })
    const files = new MemoryFiles()
    const { consensus } = network
    members.push(
      await createMember({
        index,
        size: SIZE,
        clock: systemClock,
        files,
        ledger,
        network: consensus,
        blockTimeMs: 100,
      }),
    )
  }
  await until('a mesh', () => nodes.nodes.every(({ network }) => network.peerCount === SIZE - 1))
  await Promise.all(members.map(({ engine }) => engine.start()))
  await until('five blocks', () => ledgers.every(({ blocks }) => blocks.length >= 5))
  const chainOf = ({ blocks }: Ledger, count: number) => blocks.slice(0, count).map(({ block }) => block.hash)
  expect(chainOf(ledgers[0] as Ledger, 1)).not.toEqual([GENESIS_HASH])
  for (const ledger of ledgers) expect(chainOf(ledger, 5)).toEqual(chainOf(ledgers[0] as Ledger, 5))

  await nodes.nodes[3]?.network.stop()
  const height = Math.max(...ledgers.map(({ blocks }) => blocks.length))
  await until('blocks of three', () => ledgers.slice(0, 3).every(({ blocks }) => blocks.length >= height + 3))
  expect(members.flatMap(({ errors }) => errors)).toEqual([])
  for (const { log } of nodes.nodes) expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([])
})
