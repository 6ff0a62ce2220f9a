import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect } from 'vitest'
import type { Genesis } from '../../src/config/genesis/genesis.ts'
import { type Committee, proposerOf } from '../../src/consensus/committee.ts'
import type { Evidence } from '../../src/consensus/evidence/evidence.ts'
import { sign } from '../../src/crypto/signature.ts'
import type { Block } from '../../src/primitives/block.ts'
import { type Certificate, certificateFromSigners } from '../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest, type Prepare } from '../../src/primitives/consensus/vote.ts'
import { quorumOf } from '../../src/rules/council/quorum.ts'
import { openTestChain, type TestChain } from './chain.ts'

/** Seals are consensus' business: chains believe a certificate they are given. */
const SEAL = new Uint8Array(65).fill(7)

/** Seal of a member over a commit; for chains whose certificates somebody checks. */
type Sealer = (member: Hex, digest: Uint8Array) => Uint8Array

interface Turn {
  /** Validators whose node is away: they neither propose nor seal. */
  readonly silent?: readonly Hex[]
}

/**
 * Several chains in one process that exchange blocks, as nodes do whose committee always agrees: the proposer of the first round
 * that has somebody there builds on one chain, all others judge what they get, everybody commits.
 */
export class CouncilNet {
  readonly genesis: Genesis
  readonly #dir = mkdtempSync(join(tmpdir(), 'tandem-council-'))
  #chains: readonly TestChain[] = []

  readonly #sealer: Sealer

  private constructor(genesis: Genesis, sealer: Sealer) {
    this.genesis = genesis
    this.#sealer = sealer
  }

  static async open(genesis: Genesis, count: number, sealer: Sealer = () => SEAL): Promise<CouncilNet> {
    const net = new CouncilNet(genesis, sealer)
    await net.#open(count)
    return net
  }

  get chains(): readonly TestChain[] {
    return this.#chains
  }

  get first(): TestChain {
    const [first] = this.#chains
    assert(first, 'a net has chains')
    return first
  }

  get number(): number {
    return this.first.chain.head().number
  }

  /** The committee of a block: the same on every chain. */
  committee(number: number): Committee {
    const [committee, ...others] = this.#chains.map(chain => chain.sources.council.committee(number))
    assert(committee, 'the committee is known')
    for (const other of others) expect(other).toEqual(committee)
    return committee
  }

  /** Gossip. */
  async submit(raw: Uint8Array): Promise<void> {
    for (const chain of this.#chains) await chain.pool.service.submit(raw)
  }

  /** Built on one chain after the other in turn. */
  async mine({ silent = [] }: Turn = {}): Promise<Block> {
    const number = this.number + 1
    const committee = this.committee(number)
    const present = committee.members.filter(member => !silent.includes(member))
    if (present.length < quorumOf(committee.members.length)) throw new Error(`block ${number} finds no quorum`)
    let round = 0
    while (silent.includes(proposerOf(committee, number, round))) round++
    const builder = this.#chains[number % this.#chains.length] as TestChain
    const block = await builder.build(proposerOf(committee, number, round))
    const certificate = this.#certificate(block, committee, round, present)
    for (const chain of this.#chains) {
      chain.clock.ms = builder.clock.ms
      if (chain !== builder)
        expect(await chain.chain.validate(block, { number, round, fresh: true })).toEqual({ valid: true })
      await chain.chain.commit(block, certificate)
    }
    return block
  }

  async mineTo(number: number, turn: Turn = {}): Promise<void> {
    while (this.number < number) await this.mine(turn)
  }

  async restart(): Promise<void> {
    const count = this.#chains.length
    await this.#close()
    await this.#open(count)
  }

  async close(): Promise<void> {
    await this.#close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  /** Two prepares for different blocks that a member of the committee of `number` signed. */
  doublePrepare(number: number, key: Uint8Array, member: Hex): Evidence {
    const sender = this.committee(number).members.indexOf(member)
    assert(sender >= 0, 'the accused served')
    const domain = { chainId: this.genesis.params.chainId, genesisHash: this.first.genesisHash }
    const prepare = (blockHash: Hex): Prepare => {
      const vote = { type: 'prepare', number, round: 0, blockHash } as const
      return { ...vote, sender, signature: sign(blockVoteDigest(domain, vote), key) }
    }
    return { kind: 'conflict', first: prepare(ZERO_HASH), second: prepare(`0x${'11'.repeat(32)}`) }
  }

  #certificate(block: Block, { members }: Committee, round: number, present: readonly Hex[]): Certificate {
    const domain = { chainId: this.genesis.params.chainId, genesisHash: this.first.genesisHash }
    const commit = { type: 'commit', number: block.header.number, round, blockHash: block.hash } as const
    const digest = blockVoteDigest(domain, commit)
    const seals = present.map(member => [members.indexOf(member), this.#sealer(member, digest)] as const)
    return certificateFromSigners(round, members.length, new Map(seals))
  }

  async #open(count: number): Promise<void> {
    const chains: TestChain[] = []
    // One of them holds what it executes against the oracle.
    for (let index = 0; index < count; index++)
      chains.push(
        await openTestChain(join(this.#dir, `${index}`), {
          genesis: this.genesis,
          mode: index === 0 ? 'shadow' : 'wasm',
        }),
      )
    const { timestamp } = (chains[0] as TestChain).chain.head()
    for (const chain of chains) chain.clock.ms = timestamp * 1000
    this.#chains = chains
  }

  async #close(): Promise<void> {
    for (const chain of this.#chains) await chain.close()
  }
}

export const withNet = async (genesis: Genesis, count: number, use: (net: CouncilNet) => Promise<void>) => {
  const net = await CouncilNet.open(genesis, count)
  try {
    await use(net)
  } finally {
    await net.close()
  }
}
