import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ACCOUNTS, signedRaw } from '../support/chain.ts'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { rpc } from '../support/devnet.ts'
import { eventually } from '../support/node-process.ts'
import { standstill } from '../support/standstill.ts'

const BLOCK_SECONDS = 0.25

const othersOf = (nodes: readonly NodeOfMany[], node: NodeOfMany) => nodes.filter(other => other !== node)

const sameBlock = async (nodes: readonly NodeOfMany[], number: number): Promise<void> => {
  const hashes = await Promise.all(nodes.map(node => node.reach(number)))
  expect(new Set(hashes).size).toBe(1)
}

describe('two validators', () => {
  let committee: Committee
  beforeAll(async () => {
    committee = await Committee.open(2, BLOCK_SECONDS, { args: ['--execution', 'wasm'] })
  })
  afterAll(() => committee.close())

  test('make blocks together, wait for each other, and go on after a restart', async () => {
    const { nodes } = committee
    const [first, second] = nodes as [NodeOfMany, NodeOfMany]
    await first.start([second])
    expect(first.ready.peer).toBe(first.url)
    // Half of them is no quorum.
    expect(await standstill([first])).toBe(0)
    // The head of no peer is known.
    const unknown = { startingBlock: '0x0', currentBlock: '0x0', highestBlock: '0x0' }
    expect(await first.rpc('eth_syncing')).toEqual(unknown)
    await second.start([first])
    await sameBlock(nodes, 5)
    expect(await first.rpc('net_peerCount')).toBe('0x1')
    await eventually('the end of the sync', async () => (await first.rpc('eth_syncing')) === false || undefined)
    const peers = await rpc<{ id: string }[]>(first.ready.operator as string, 'admin_peers')
    expect(peers.map(({ id }) => second.url.includes(id))).toEqual([true])

    expect((await second.stop()).code).toBe(0)
    const alone = await standstill([first])
    await second.start([first])
    await sameBlock(nodes, alone + 5)
  })
})

describe('four validators and a follower', () => {
  let committee: Committee
  let follower: NodeOfMany
  beforeAll(async () => {
    committee = await Committee.open(4, BLOCK_SECONDS, { args: ['--execution', 'wasm'] })
    const validators = [...committee.nodes]
    await Promise.all(validators.map(node => node.start(othersOf(validators, node))))
    follower = await committee.add('follower')
    await follower.start([], ['--bootnodes', (validators[0] as NodeOfMany).url])
  })
  afterAll(() => committee.close())

  test('all have the same blocks', async () => {
    await sameBlock(committee.nodes, 8)
  })

  test('a transaction given to the follower is in a block that all have', async () => {
    const raw = bytesToHex(signedRaw(committee.funded, { value: 5n, to: ACCOUNTS[1] as Hex }))
    const hash = await follower.rpc<Hex>('eth_sendRawTransaction', raw)
    const places = await Promise.all(
      committee.nodes.map(node =>
        eventually('a receipt', async () => {
          const receipt = await node.rpc<{ blockHash: Hex; status: Hex } | null>('eth_getTransactionReceipt', hash)
          return receipt ?? undefined
        }),
      ),
    )
    expect(new Set(places.map(({ blockHash }) => blockHash)).size).toBe(1)
    expect(places[0]?.status).toBe('0x1')
  })

  test('a killed validator comes back while the others go on', async () => {
    const { nodes } = committee
    const killed = nodes[3] as NodeOfMany
    await killed.kill()
    const left = othersOf(nodes, killed)
    const before = await (left[0] as NodeOfMany).number()
    await sameBlock(left, before + 8)
    await killed.start(left.slice(0, 3))
    const now = await (left[0] as NodeOfMany).number()
    await sameBlock(nodes, now + 6)
    expect(killed.log).not.toContain('"level":"error"')
  })

  test('a follower that was away catches up and stays in step', async () => {
    const validators = committee.nodes.slice(0, 4)
    const first = validators[0] as NodeOfMany
    expect((await follower.stop()).code).toBe(0)
    const before = await first.number()
    await first.reach(before + 12)
    await follower.start([], ['--bootnodes', first.url])
    const now = await first.number()
    await sameBlock([first, follower], now)
    await eventually('no sync', async () => ((await follower.rpc('eth_syncing')) === false ? true : undefined))
    // In step: whatever the others have meanwhile, it has too, and no block is another one.
    for (let times = 0; times < 3; times++) await sameBlock([first, follower], (await first.number()) + 2)
    expect(follower.log).not.toContain('"level":"error"')
  })
})
