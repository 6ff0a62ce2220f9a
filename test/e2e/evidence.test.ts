import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { parseGenesis } from '../../src/config/genesis/genesis.ts'
import { COUNCIL_ADDRESS } from '../../src/config/networks.ts'
import { encodeEvidence } from '../../src/consensus/evidence/codec.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import { parsePeerUrl } from '../../src/network/identity/peer-url.ts'
import type { ChainDomain } from '../../src/network/messages/control-messages.ts'
import { startNode } from '../../src/node/node.ts'
import { blockVoteDigest, type Prepare } from '../../src/primitives/consensus/vote.ts'
import type { NodeOfMany } from '../support/committee.ts'
import { membersInCycle } from '../support/consensus/eligible.ts'
import { encodeCouncilCall } from '../support/council-contract.ts'
import { CouncilOfNodes, validatorKey, validatorOf } from '../support/council-nodes.ts'
import { RawPeer } from '../support/network/raw-peer.ts'
import { eventually } from '../support/node-process.ts'

/** A validator that a test has the key of: no node holds it back from signing what contradicts itself. */
class DoubleSigner {
  readonly address: Hex
  readonly #key: Uint8Array
  readonly #domain: ChainDomain
  readonly #index: number

  /** `council`: all validators of genesis in its order, whose committee decides the blocks of the first cycle. */
  constructor(key: Uint8Array, domain: ChainDomain, council: readonly Hex[]) {
    this.address = addressFromPrivateKey(key)
    this.#key = key
    this.#domain = domain
    this.#index = membersInCycle(council, domain.genesisHash).indexOf(this.address)
  }

  prepare(number: number, blockHash: Hex): Prepare {
    const vote = { type: 'prepare', number, round: 0, blockHash } as const
    return { ...vote, sender: this.#index, signature: sign(blockVoteDigest(this.#domain, vote), this.#key) }
  }

  /** Proves who it is to the node at this port. */
  meet(port: number): Promise<RawPeer> {
    const signer = { address: this.address, sign: (digest: Uint8Array) => sign(digest, this.#key) }
    return RawPeer.meet(port, {}, signer, { domain: this.#domain })
  }
}

const BLOCK_SECONDS = 0.25
const hashOf = (digit: string): Hex => `0x${digit.repeat(64)}`

let council: CouncilOfNodes | undefined
afterEach(() => council?.close())

/** The block in which a node's state says that a validator was jailed. */
const jailedAt = (node: NodeOfMany, validator: Hex) =>
  eventually(`${validator} jailed`, async () => {
    const data = encodeCouncilCall('jailedAt', [validator])
    const at = Number(await node.rpc<Hex>('eth_call', { to: COUNCIL_ADDRESS, data }, 'latest'))
    return at > 0 ? at : undefined
  })

const timesIn = (text: string, words: string): number => text.split(words).length - 1

describe('a validator that signs two blocks', () => {
  test('is found by one node, which is killed, and jailed once on every node', async () => {
    council = await CouncilOfNodes.open(5, BLOCK_SECONDS)
    const { genesis } = council.committee
    await council.run(0)
    const { chainId, genesisHash } = council.first.ready
    const members = [0, 1, 2, 3, 4].map(validatorOf)
    const liar = new DoubleSigner(validatorKey(4), { chainId, genesisHash }, members)
    expect(parseGenesis(readFileSync(genesis, 'utf8')).council.map(({ validator }) => validator)).toEqual(members)

    // One of five makes no block, so what it finds is in none when it dies.
    const peer = await liar.meet(parsePeerUrl(council.first.url).port)
    peer.send('vote', liar.prepare(1, hashOf('1')))
    peer.send('vote', liar.prepare(1, hashOf('2')))
    await eventually('found', async () =>
      council?.first.log.includes('evidence against a validator') ? true : undefined,
    )
    const { log } = council.first
    expect(log).toContain('validator misbehaved')
    await council.first.kill()
    peer.close()

    const net = council
    await Promise.all([0, 1, 2, 3].map(index => net.run(index)))
    const nodes = [0, 1, 2, 3].map(index => net.node(index))
    const blocks = await Promise.all(nodes.map(node => jailedAt(node, liar.address)))
    expect(new Set(blocks).size).toBe(1)
    // A cycle and the next one later it serves no more, and four decide alone.
    await council.serving([0, 1, 2, 3])
    await council.goOn([0, 1, 2, 3], 2)
    for (const node of nodes) expect(timesIn(node.log, 'validators jailed')).toBe(1)

    // Whatever else it signed is of no use any more: nobody passes it on, and nobody is blamed for it.
    const again = await liar.meet(parsePeerUrl(council.first.url).port)
    const [first, second] = [liar.prepare(2, hashOf('1')), liar.prepare(2, hashOf('2'))]
    again.send('evidence', encodeEvidence({ kind: 'conflict', first, second }))
    await council.goOn([0, 1, 2, 3], 4)
    expect(again.isClosed).toBe(false)
    for (const node of nodes) expect(timesIn(node.log, 'evidence against a validator')).toBeLessThanOrEqual(1)
    again.close()
  })
})

describe('two instances of one validator', () => {
  test('meet, both stop and say why, and the others go on', async () => {
    council = await CouncilOfNodes.open(4, BLOCK_SECONDS)
    await Promise.all([0, 1, 2, 3].map(index => (council as CouncilOfNodes).run(index)))
    await council.goOn([0, 1, 2, 3], 3)
    const dataDir = join(council.committee.dir, 'twin')
    mkdirSync(dataDir)
    const errors: Error[] = []
    const fatal = Promise.withResolvers<Error>()
    // In this process: on one machine the lock of the key would stop it, as `tandem start` does.
    const twin = await startNode(
      {
        genesis: parseGenesis(readFileSync(council.committee.genesis, 'utf8')),
        dataDir,
        execution: 'wasm',
        stateHistory: 128,
        host: '127.0.0.1',
        port: 0,
        peers: {
          listen: { host: '127.0.0.1', port: 0 },
          staticPeers: [council.node(3).url].map(parsePeerUrl),
        },
        allowUnprotected: false,
        validatorKey: validatorKey(3),
        unlocked: [],
      },
      {
        logger: silentLogger,
        clock: systemClock,
        onFatal: error => {
          errors.push(error)
          fatal.resolve(error)
        },
      },
    )
    const code = await council.node(3).exited
    await fatal.promise
    await twin.stop()
    expect(code).toBe(3)
    expect(council.node(3).log).toMatch(/The validator key of 0x[0-9a-f]{40} is in use by another node of the network/)
    expect(errors).toMatchObject([{ code: 'KEY_IN_USE_ELSEWHERE', detail: { address: validatorOf(3) } }])
    await council.goOn([0, 1, 2], 4)
  })
})
