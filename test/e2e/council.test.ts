import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CouncilOfNodes, validatorOf } from '../support/council-nodes.ts'
import { rpc } from '../support/devnet.ts'
import { eventually } from '../support/node-process.ts'

/** A block a quarter of a second, a cycle every two. */
const BLOCK_SECONDS = 0.25

interface PeerOf {
  readonly validator: Hex | null
  readonly network: { readonly reserved: boolean }
}

let council: CouncilOfNodes
beforeAll(async () => {
  council = await CouncilOfNodes.open(1, BLOCK_SECONDS)
})
afterAll(() => council?.close())

/** Waits until the first node reserves a slot for a validator, or no longer does. */
const reserved = (index: number, wanted: boolean) =>
  eventually(`validator ${index} reserved: ${wanted}`, async () => {
    const peers = await rpc<readonly PeerOf[]>(council.first.ready.operator as string, 'admin_peers')
    const peer = peers.find(({ validator }) => validator === validatorOf(index))
    return peer?.network.reserved === wanted ? true : undefined
  })

const proposes = (index: number) =>
  eventually(`a block of validator ${index}`, async () => {
    const { proposer } = await council.first.rpc<{ proposer: Hex }>('eth_getBlockByNumber', 'latest', false)
    return proposer === validatorOf(index) ? true : undefined
  })

test('validators come and go, 1 -> 2 -> 4 -> 7 -> 4, and blocks keep coming', async () => {
  await council.run(0)
  await council.fund([0, 1, 2, 3, 4, 5, 6])
  await council.run(1)
  await reserved(1, false)
  await council.admit([0], [1])
  await council.serving([0, 1])
  await reserved(1, true)
  await council.goOn([0, 1], 4)

  // Validator 3 is voted in and not there: three of four are a quorum.
  await council.run(2)
  await council.admit([0, 1], [2, 3])
  await council.serving([0, 1, 2, 3])
  await council.goOn([0, 1, 2], 8)
  // It comes with an empty folder, catches up and votes.
  await council.run(3)
  await council.goOn([0, 1, 2, 3], 4)
  await proposes(3)

  // Of seven, one is not there and one still catches up when it is its turn.
  await council.run(4)
  await council.admit([0, 1, 2, 3], [4, 5, 6])
  const late = council.run(5)
  await council.serving([0, 1, 2, 3, 4, 5, 6])
  await late
  await council.goOn([0, 1, 2, 3, 4, 5], 8)

  await council.exit([1, 2, 6])
  await council.serving([0, 3, 4, 5])
  // The validator that left follows the chain as an ordinary node.
  await council.goOn([0, 1, 2, 3, 4, 5], 8)
  await reserved(1, false)
  await eventually('the end of the sync', async () => (await council.node(1).rpc('eth_syncing')) === false || undefined)
  for (const node of council.nodes.values()) expect(node.log).not.toContain('"level":"error"')
}, 480_000)
