import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { afterEach, describe, expect, test } from 'vitest'
import type { CatchUp } from '../../../../src/consensus/engine/types.ts'
import { sign } from '../../../../src/crypto/signature.ts'
import { parsePeerUrl } from '../../../../src/network/identity/peer-url.ts'
import { NodePeers } from '../../../../src/node/network/node-peers.ts'
import type { PeerOptions } from '../../../../src/node/options.ts'
import { blockCodec, withSenders } from '../../../../src/node/parts/consensus/block-codec.ts'
import { signerOf } from '../../../../src/node/parts/consensus/consensus.ts'
import { certificateFromSigners } from '../../../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest } from '../../../../src/primitives/consensus/vote.ts'
import { encodeProofHeader, proofHeaderId } from '../../../../src/primitives/proof-header.ts'
import { ACCOUNT_KEYS, openTestChain, signedRaw, type TestChain, VALIDATOR_KEY } from '../../../support/chain.ts'
import { until } from '../../../support/network/net-node.ts'
import { OTHER_MINER } from '../../../support/powchain/headers.ts'
import { mineProof, solved } from '../../../support/powchain/proof-chain.ts'

/** A node without consensus: its chain, its pool and its peers. */
interface Node {
  readonly chain: TestChain
  readonly peers: NodePeers
  readonly gaveUp: Error[]
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const start = async (
  known: readonly Node[],
  key: Uint8Array | null = null,
  blocks = 0,
  verify: PeerOptions['verify'] = 'tips',
): Promise<Node> => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-peers-'))
  const chain = await openTestChain(dir, { mode: 'wasm' })
  closing.push(async () => {
    await chain.close()
    rmSync(dir, { recursive: true, force: true })
  })
  await mine(chain, blocks)
  const peers = await NodePeers.open({
    options: {
      listen: { host: '127.0.0.1', port: 0 },
      discovers: false,
      verify,
      staticPeers: known.map(node => parsePeerUrl(node.peers.url as string)),
    },
    params: chain.genesis.params,
    genesisHash: chain.genesisHash,
    dataDir: dir,
    chain: chain.chain,
    blocks: chain.blocks,
    council: chain.sources.council,
    evidencePool: chain.evidence,
    proofPool: chain.proofPool,
    pool: chain.pool.service,
    codec: blockCodec(chain.pool.recovery),
    withSenders: block => withSenders(chain.pool.recovery, block),
    signer: key && signerOf(key),
    clock: systemClock,
    part: () => silentLogger,
  })
  closing.push(() => peers.stop())
  const gaveUp: Error[] = []
  await peers.start({
    catchUp: (work: CatchUp) => work(({ block, certificate }) => chain.chain.commit(block, certificate)),
    giveUp: error => void gaveUp.push(error),
  })
  return { chain, peers, gaveUp }
}

/** Blocks that the chain's only validator sealed. */
const mine = async ({ chain, build, genesis, genesisHash }: TestChain, count: number): Promise<void> => {
  for (let block = 0; block < count; block++) {
    const built = await build()
    const vote = { type: 'commit', number: built.header.number, round: 0, blockHash: built.hash } as const
    const seal = sign(blockVoteDigest({ chainId: genesis.params.chainId, genesisHash }, vote), VALIDATOR_KEY)
    await chain.commit(built, certificateFromSigners(0, 1, new Map([[0, seal]])))
  }
}

/** The requests of a node from now on, by name. */
const watchRequests = ({ peers }: Node): string[] => {
  const names: string[] = []
  const { request } = peers.network
  const watched: typeof request = (name, question, options) => {
    names.push(name)
    return request(name, question, options)
  }
  Object.assign(peers.network, { request: watched })
  return names
}

const numberOf = ({ chain }: Node) => chain.chain.head().number

describe('a node among its peers', () => {
  test('catches up over the network, then has each block as it comes', async () => {
    const source = await start([], null, 150)
    const follower = await start([source])
    await until('150 blocks', () => numberOf(follower) === 150)
    const asked = watchRequests(follower)
    await mine(source.chain, 1)
    await until('the next block', () => numberOf(follower) === 151)
    // It came whole: nobody was asked for it.
    expect(asked).toEqual([])
    expect(follower.chain.chain.head()).toEqual(source.chain.chain.head())
    expect(follower.chain.world.root).toBe(source.chain.world.root)
    expect(follower.peers.syncing).toBe(false)
    expect(follower.peers.network.peerCount).toBe(1)
  })

  test('catches up with every certificate checked', async () => {
    const source = await start([], null, 150)
    const follower = await start([source], null, 0, 'full')
    await until('150 blocks', () => numberOf(follower) === 150)
    expect(follower.chain.chain.head()).toEqual(source.chain.chain.head())
  })

  test('passes transactions on, also those from before they met', async () => {
    const first = await start([])
    const before = await first.chain.pool.service.submit(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: 0 }))
    const second = await start([first])
    await until('what was there', () => second.chain.pool.service.get(before) !== undefined)
    const after = await second.chain.pool.service.submit(signedRaw(ACCOUNT_KEYS[1] as Uint8Array, { nonce: 0 }))
    await until('what came later', () => first.chain.pool.service.get(after) !== undefined)
  })

  test('passes proof headers on, also those from before they met, to a third node', async () => {
    const first = await start([])
    const early = await mineProof(first.chain)
    const second = await start([first])
    const third = await start([second])
    const all = [first, second, third]
    await until('they met', () => second.peers.network.peerCount === 2)
    // A node that connects later receives the pending headers with the next block.
    await mine(first.chain, 1)
    await until('the block', () => all.every(node => numberOf(node) === 1))
    const proofs = () => all.map(({ chain }) => chain.proofPool.head.proofState.tipHeight)
    expect(proofs()).toEqual([1, 1, 1])
    expect(third.chain.proofRows.byId(proofHeaderId(early))?.includedIn).toBe(1)
    const late = await mineProof(second.chain)
    await until('the header', () => all.every(({ chain }) => chain.proofPool.get(proofHeaderId(late)) !== undefined))
    expect(all.map(({ peers }) => peers.network.peerCount)).toEqual([1, 2, 1])
  })

  test('bans who sends a proof header that is false everywhere, and not who is only ahead or behind', async () => {
    const node = await start([])
    const honest = await start([node])
    await until('they met', () => node.peers.network.peerCount === 1)
    const header = await solved(honest.chain)
    const ahead = await solved(honest.chain, { change: { anchorNumber: 9 } })
    honest.peers.network.proofs.broadcast(encodeProofHeader(ahead))
    const unsolved = { ...header, coinbase: OTHER_MINER, nonce: Uint8Array.of(1, 1, 1, 1, 1, 1, 1, 1) }
    honest.peers.network.proofs.broadcast(encodeProofHeader(header))
    await until('the good one', () => node.chain.proofPool.size === 1)
    expect(node.peers.network.peerCount).toBe(1)
    for (let at = 0; at < 8; at++)
      honest.peers.network.proofs.broadcast(encodeProofHeader({ ...unsolved, extraNonce: Uint8Array.of(at) }))
    await until('the ban', () => node.peers.network.peerCount === 0)
  })

  test('two that hold one validator key both give up, and name each other', async () => {
    const first = await start([], VALIDATOR_KEY)
    const second = await start([first], VALIDATOR_KEY)
    await until('both know', () => first.gaveUp.length > 0 && second.gaveUp.length > 0)
    const address = signerOf(VALIDATOR_KEY).address
    const [id, otherId] = [first, second].map(({ peers }) => peers.network.self().id)
    expect(first.gaveUp[0]).toMatchObject({ code: 'KEY_IN_USE_ELSEWHERE', detail: { address, peer: otherId } })
    expect(second.gaveUp[0]).toMatchObject({ code: 'KEY_IN_USE_ELSEWHERE', detail: { address, peer: id } })
  })
})
