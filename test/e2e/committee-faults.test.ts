import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePeerUrl } from '../../src/network/identity/peer-url.ts'
import { signerOf } from '../../src/node/parts/consensus/consensus.ts'
import { blockVoteDigest } from '../../src/primitives/consensus/vote.ts'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { RawPeer } from '../support/network/raw-peer.ts'
import { eventually } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'
import { standstill } from '../support/standstill.ts'
import { Wires } from '../support/wires/wires.ts'

const BLOCK_SECONDS = 0.25
const CYCLE_BLOCKS = 60

/** A line between two towns, with a packet lost now and then. */
const LINE = { latencyMs: 10, jitterMs: 5, bytesPerMs: 12_500, stallChance: 0.002, stallMs: 200 }

/** Waits until one of these nodes has a block above `number`. */
const nextBlock = (nodes: readonly NodeOfMany[], number: number): Promise<Hex> =>
  Promise.race(nodes.map(node => node.reach(number + 1)))

const highest = async (nodes: readonly NodeOfMany[]): Promise<number> =>
  Math.max(...(await Promise.all(nodes.map(node => node.number()))))

/** Every block of every node up to the lowest head is the same one. */
const sameChain = async (nodes: readonly NodeOfMany[]): Promise<number> => {
  const low = Math.min(...(await Promise.all(nodes.map(node => node.number()))))
  for (let number = 1; number <= low; number++) {
    const hashes = await Promise.all(nodes.map(node => node.hashAt(number)))
    expect(new Set(hashes), `block ${number}`).toEqual(new Set([hashes[0]]))
  }
  return low
}

describe('four validators over lines with latency', () => {
  let committee: Committee
  let wires: Wires
  beforeAll(async () => {
    wires = new Wires(createRandom(SEED), LINE)
    committee = await Committee.open(4, BLOCK_SECONDS, { wires, tapped: true })
    await committee.start()
    await Promise.all(committee.nodes.map(node => node.reach(3)))
  })
  afterAll(() => committee.close())

  // How soon is measured by bench/committee.ts.
  test('one killed: blocks go on over its turns', async () => {
    const [killed, ...left] = committee.nodes as [NodeOfMany, ...NodeOfMany[]]
    await killed.kill()
    // Every turn of the one that is gone lies among so many blocks.
    for (let block = 0; block < 4; block++) await nextBlock(left, await highest(left))
    await killed.start(left)
    await killed.reach(await highest(left))
  })

  test('one killed and one paused: no block until the paused one goes on', async () => {
    const [killed, paused, ...left] = committee.nodes as [NodeOfMany, NodeOfMany, ...NodeOfMany[]]
    await killed.kill()
    paused.pause()
    const before = await standstill(left)
    paused.resume()
    await nextBlock(left, before)
    await killed.start(committee.others(killed))
    await Promise.all(committee.nodes.map(node => node.reach(before + 4)))
    await sameChain(committee.nodes)
  })

  test('cut off in two halves: no block on either side; a minority of one: none there; healed, all go on', async () => {
    const [alone, ...others] = committee.nodes as [NodeOfMany, ...NodeOfMany[]]
    const [second, third, fourth] = others as [NodeOfMany, NodeOfMany, NodeOfMany]
    wires.partition(
      [alone.name],
      others.map(({ name }) => name),
    )
    const before = await standstill([alone])
    await third.reach(before + 4)
    expect(await alone.number()).toBe(before)
    wires.heal()
    await alone.reach(await highest(others))

    wires.partition([alone.name, second.name], [third.name, fourth.name])
    const halves = await standstill(committee.nodes)
    wires.heal()
    await Promise.all(committee.nodes.map(node => node.reach(halves + 3)))
  })

  test('one direction of one line dead: blocks keep coming, and no validator contradicts itself', async () => {
    const [first, second] = committee.nodes as [NodeOfMany, NodeOfMany]
    wires.cutOneWay(first.name, second.name)
    const before = await highest(committee.nodes)
    await Promise.all(committee.nodes.map(node => node.reach(before + 6)))
    wires.heal()
    expect(await sameChain(committee.nodes)).toBeGreaterThanOrEqual(before + 6)
    const { testimony, evidence } = committee.tap
    expect(testimony.contradictions).toEqual([])
    expect(evidence).toBe(0)
    // Each of four was heard.
    await eventually('statements of each', async () =>
      [...testimony.counts.values()].filter(count => count > 20).length === 4 ? true : undefined,
    )
    for (const node of committee.nodes) expect(node.log).not.toContain('"level":"error"')
  })

  test('a validator that signs two is detected, whichever of the others receives which', async () => {
    const [first, second, , liar] = committee.nodes as [NodeOfMany, NodeOfMany, NodeOfMany, NodeOfMany]
    const { testimony } = committee.tap
    await liar.kill()
    const signer = signerOf(liar.key as Uint8Array)
    const meet = (node: NodeOfMany) =>
      RawPeer.meet(parsePeerUrl(node.url).port, {}, signer, { domain: committee.domain })
    const mouths = await Promise.all([meet(first), meet(second)])
    const lie = async (): Promise<void> => {
      const head = await first.number()
      // The next cycle has another order; who signs as the wrong member is turned away.
      if (head % CYCLE_BLOCKS > CYCLE_BLOCKS - 4 || head % CYCLE_BLOCKS < 2) return
      // In the order in which they propose at this height, which begins `head` places on in the committee.
      const members = await first.rpc<readonly Hex[]>('native_getCommittee', `0x${head.toString(16)}`)
      const sender = (members.findIndex(member => member.toLowerCase() === signer.address) + head) % members.length
      mouths.forEach((mouth, at) => {
        const blockHash: Hex = `0x${String(at + 1).repeat(64)}`
        const prepare = { type: 'prepare', number: head + 2, round: 0, blockHash, sender } as const
        mouth.send('vote', { ...prepare, signature: signer.sign(blockVoteDigest(committee.domain, prepare)) })
      })
    }
    // As a member does that was not heard. Who passes it on to whom depends on what each knows of the others' connections.
    const found = async (): Promise<true | undefined> => {
      await lie()
      return testimony.contradictions.length > 0 && committee.tap.evidence > 0 ? true : undefined
    }
    await eventually('the contradiction, and evidence among the nodes', found, { everyMs: 500 })
    for (const text of testimony.contradictions) expect(text).toContain(`${signer.address} signed two: prepare`)
    for (const mouth of mouths) mouth.close()
  })
})
