import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { Genesis } from '../../src/config/genesis/genesis.ts'
import type { ConsensusEngine } from '../../src/consensus/engine/types.ts'
import type { ExecutionPort } from '../../src/consensus/ports.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import { blockCodec } from '../../src/node/parts/consensus/block-codec.ts'
import { blockVoteDigest } from '../../src/primitives/consensus/vote.ts'
import { proposerIndex, type TurnOrder } from '../../src/rules/council/proposer-turns.ts'
import { openTestChain, type TestChain } from '../support/chain.ts'
import { ManualClock, settle } from '../support/consensus/manual-clock.ts'
import { createMember } from '../support/consensus/member.ts'
import { MemoryFiles } from '../support/consensus/memory-files.ts'
import { Mesh } from '../support/consensus/mesh.ts'
import { councilTransaction, STAKE } from '../support/council-contract.ts'
import { councilGenesis, rewardOf, validatorKey, validatorOf } from '../support/council-genesis.ts'

const CYCLE = 4
/** Real time that one block of all nodes may take. */
const PATIENCE_MS = 100_000

/** As nodes are put together, with a mesh for the network and a clock that waits for them. */
interface Node {
  readonly chain: TestChain
  readonly engine: ConsensusEngine
  readonly errors: readonly Error[]
}

const startNode = async (dir: string, index: number, genesis: Genesis, clock: ManualClock, mesh: Mesh) => {
  const chain = await openTestChain(join(dir, `${index}`), { genesis, mode: 'wasm' })
  const { params } = genesis
  const onTime = <T>(work: () => T): T => {
    chain.clock.ms = clock.nowMs()
    return work()
  }
  const execution: ExecutionPort = {
    head: () => chain.chain.head(),
    build: request => onTime(() => chain.chain.build(request)),
    validate: (block, context) => onTime(() => chain.chain.validate(block, context)),
    commit: (block, certificate) => chain.chain.commit(block, certificate),
    flush: () => chain.chain.flush(),
    decided: number => chain.chain.decided(number),
    wantsBlock: () => chain.chain.wantsBlock(),
  }
  const key = validatorKey(index)
  const member = await createMember({
    index,
    size: 1,
    clock,
    files: new MemoryFiles(),
    ledger: undefined as never,
    overrides: {
      ports: {
        execution,
        committee: { committee: number => chain.sources.council.committee(number) },
        network: mesh.port(index),
        blocks: blockCodec(chain.pool.recovery),
        evidence: chain.evidence,
      },
      signer: { address: addressFromPrivateKey(key), sign: digest => sign(digest, key) },
      params: { ...params, genesisHash: chain.genesisHash },
    },
  })
  await member.engine.start()
  return { chain, ...member }
}

/** Seconds pass one by one, each after every node has the block of the last. */
const play = async (nodes: readonly Node[], clock: ManualClock, until: number) => {
  const heights = () => nodes.map(({ chain }) => chain.chain.head().number)
  while (Math.min(...heights()) < until) {
    const next = Math.min(...heights()) + 1
    await clock.advance(1_000)
    const deadline = performance.now() + PATIENCE_MS
    while (Math.min(...heights()) < next) {
      expect(nodes.flatMap(({ errors }) => errors)).toEqual([])
      if (performance.now() > deadline) throw new Error(`no block ${next}: heads at ${heights().join(', ')}`)
      await new Promise(resolve => setTimeout(resolve, 1))
      // A node that opened its height after the second had passed has timers that are due now.
      await clock.advance(0)
    }
    await settle()
  }
}

test('engines on real chains: a newcomer votes from its cycle on, a double signer is found, jailed and left out', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-council-sim-'))
  const params = { rewards: { cycleBlocks: CYCLE }, council: { openRegistration: true, unbondingSeconds: 0 } }
  const genesis = councilGenesis(5, params)
  const clock = new ManualClock(1_735_689_600_000)
  const mesh = new Mesh()
  const nodes: Node[] = []
  try {
    for (let index = 0; index < 6; index++) nodes.push(await startNode(dir, index, genesis, clock, mesh))
    const [first] = nodes as [Node]
    const { council } = first.chain.sources
    expect(nodes[5]?.engine.status().mode).toBe('following')
    const args = ['Newcomer', validatorOf(5), rewardOf(5)]
    const raw = await councilTransaction(first.chain, validatorKey(5), 'register', args, STAKE)
    for (const { chain } of nodes) await chain.pool.service.submit(raw)
    await play(nodes, clock, 2)

    // Its other instance votes for two blocks in the open height: its own vote may come after the decision, and then is never sent.
    const number = first.chain.chain.head().number + 1
    const committee = council.committee(number) as TurnOrder
    // It proposes neither that height nor the next one, whose proposer takes the evidence in.
    const turns = [number, number + 1].map(height => committee.members[proposerIndex(committee, height, 0)])
    const culprit = [1, 2, 3, 4].find(index => !turns.includes(validatorOf(index))) as number
    const offender = validatorOf(culprit)
    const sender = committee.members.indexOf(offender)
    const domain = { chainId: genesis.params.chainId, genesisHash: first.chain.genesisHash }
    const said = mesh.port(99)
    mesh.passes = (from, to) => from !== 99 || to !== culprit
    for (const byte of ['dd', 'ee']) {
      const vote = { type: 'prepare', number, round: 0, blockHash: `0x${byte.repeat(32)}` as Hex } as const
      said.broadcast({ ...vote, sender, signature: sign(blockVoteDigest(domain, vote), validatorKey(culprit)) })
    }
    await play(nodes, clock, 2 * CYCLE + 1)

    const jailedAt = council.jailedAt(offender)
    expect(jailedAt).toBeGreaterThan(2)
    expect(jailedAt).toBeLessThanOrEqual(CYCLE + 2)
    for (const { chain } of nodes) {
      expect(chain.sources.council.jailedAt(offender)).toBe(jailedAt)
      expect(await chain.blocks.block(jailedAt)).toMatchObject({ evidence: [expect.any(Uint8Array)] })
      expect(chain.world.root).toBe(first.chain.world.root)
    }
    // A member jailed in one cycle still serves the next one, drawn before.
    const without = (Math.ceil(jailedAt / CYCLE) + 1) * CYCLE + 1
    await play(nodes, clock, without)
    const serving = [...(council.committee(without)?.members ?? [])].sort()
    const honest = [0, 1, 2, 3, 4, 5].filter(index => index !== culprit)
    expect(serving).toEqual(honest.map(validatorOf).sort())
    await play(nodes, clock, 4 * CYCLE)
    const modes = nodes.map(({ engine }) => engine.status().mode)
    expect(modes).toEqual(nodes.map((_, index) => (index === culprit ? 'following' : 'voting')))
    // Every proposer was paid, except the offender from its jailing on.
    const proposers = new Set<Hex | undefined>()
    const paid = new Set<Hex>()
    for (let height = jailedAt + 1; height <= 4 * CYCLE; height++) {
      proposers.add((await first.chain.blocks.header(height))?.extra.proposer)
      for (const address of (await first.chain.economy.rewards(height))?.rewards.keys() ?? []) paid.add(address)
    }
    expect(paid.has(rewardOf(culprit))).toBe(false)
    for (const index of honest.slice(1)) if (proposers.has(validatorOf(index))) expect(paid).toContain(rewardOf(index))
    const heads = nodes.map(({ chain }) => chain.chain.head().hash)
    expect(new Set(heads).size).toBe(1)
    expect(nodes.map(({ engine }) => engine.status().decidedLate)).toEqual([0, 0, 0, 0, 0, 0])
  } finally {
    for (const { engine, chain } of nodes) {
      await engine.stop()
      await chain.close()
    }
    rmSync(dir, { recursive: true, force: true })
  }
})
