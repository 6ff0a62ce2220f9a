import { systemClock } from '@tandem/base/clock.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import type { NetworkPort } from '../../../src/consensus/ports.ts'
import { ANSWER_NAMES, type MessageName, messageSpec, type Payload } from '../../../src/network/messages/messages.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { PAYLOADS } from '../../property/network-arbitraries.ts'
import { Ledger } from '../../support/consensus/ledger.ts'
import { createMember, type Member, signerOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Said } from '../../support/consensus/said.ts'
import { type NetNode, NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'
import { SEED } from '../../support/seed.ts'

/*
 * Three of four validators with real engines on real connections, and peers that say every kind of message with fields by chance:
 * strangers, and council keys, a fresh one for each kind. An uncaught exception, or a rejection that nobody takes, fails the run.
 */

const SIZE = 4
const HONEST = [0, 1, 2]
const NAMES = (Object.keys(PAYLOADS) as MessageName[]).filter(name => messageSpec(name).from !== 'handshake')
const QUESTIONS = new Map(
  Object.entries(ANSWER_NAMES).map(([question, name]) => [name as MessageName, question as MessageName]),
)
const OF_EACH = 40
/** Messages whose content the node cannot disprove: a head it has not seen, a block or a transaction it lacks. */
const UNBLAMED: ReadonlySet<MessageName> = new Set<MessageName>([
  ...(['links', 'status', 'newBlockHash', 'evidence', 'getBlocks', 'getReceipts', 'getChunk', 'getCodes'] as const),
  ...(['transactionHashes', 'newTransactions', 'getTransactions'] as const),
  // Judged by the proof chain, which these nodes lack.
  'proofHeader',
])
/** Messages of later heights, and the votes of all rounds that are kept of the open one. */
const { bufferedMessages, futureRounds, pastRounds, heldBlocks } = CONSENSUS_LIMITS
const MAX_HELD = bufferedMessages + SIZE * (2 * (futureRounds + pastRounds + 1) + 1) + heldBlocks
/** Council keys that sit in no committee, so that a ban of one hurts no test but its own. */
const COUNCIL = NAMES.map((_, at) => signerOf(100 + at))

interface Validator {
  readonly node: NetNode
  readonly member: Member
  readonly ledger: Ledger
  readonly said: Said
}

const nodes = new NetNodes()
const validators: Validator[] = []

/** The network of a node, with an ear for what its engine says. */
const recording = (network: NetworkPort, said: Said): NetworkPort => {
  const heard = (message: ConsensusMessage): ConsensusMessage => {
    said.add(message)
    return message
  }
  return {
    ...network,
    broadcast: message => network.broadcast(heard(message)),
    send: (peer, message) => network.send(peer, message),
    onMessage: (listener, judge) => network.onMessage(listener, judge),
    reachable: members => network.reachable?.(members) ?? members.length,
    misbehaved: peer => network.misbehaved?.(peer),
  }
}

beforeAll(async () => {
  const members = new Set(
    [...Array.from({ length: SIZE }, (_, index) => signerOf(index)), ...COUNCIL].map(s => s.address),
  )
  for (const index of HONEST) {
    const staticPeers = nodes.nodes.map(({ address }) => address)
    const node = await nodes.start({ member: index, committee: SIZE, members, hears: false, staticPeers })
    const [ledger, said] = [new Ledger(), new Said()]
    const network = recording(node.network.consensus, said)
    const parts = { index, size: SIZE, clock: systemClock, files: new MemoryFiles(), ledger, blockTimeMs: 250 }
    const member = await createMember({ ...parts, network })
    validators.push({ node, member, ledger, said })
  }
  await until('a mesh', () => nodes.nodes.every(({ network }) => network.peerCount === HONEST.length - 1))
  for (const { member } of validators) await member.engine.start()
  await grow(2)
}, 60_000)

afterAll(async () => {
  await Promise.all(validators.map(({ member }) => member.engine.stop()))
  await nodes.stop()
})

const heads = (): readonly number[] => validators.map(({ ledger }) => ledger.head().number)
const grow = async (blocks: number): Promise<void> => {
  const target = Math.max(...heads()) + blocks
  await until(`block ${target}`, () => Math.min(...heads()) >= target)
}

let addresses = 0
const meet = (signer: ReturnType<typeof signerOf> | null): Promise<RawPeer> =>
  RawPeer.meet(validators[0]!.node.port, {}, signer, { from: `127.9.${addresses++ >> 8}.${addresses & 255}` })

const sample = <Name extends MessageName>(name: Name, seed: number): Payload<Name> =>
  fc.sample(PAYLOADS[name] as fc.Arbitrary<Payload<Name>>, { numRuns: 1, seed })[0] as Payload<Name>

/** Answers questions of the node with an answer of the right kind and the wrong content, and then questions that nobody asked. */
const answer = async (peer: RawPeer, question: MessageName, name: MessageName, seed: number): Promise<void> => {
  // It asks for what it is told of.
  for (let at = 0; at < 3; at++) peer.send('transactionHashes', sample('transactionHashes', seed + at))
  await pause()
  for (const { requestId } of peer.take(question)) peer.send(name, sample(name, seed), requestId)
  await pause()
  for (let at = 0; at < OF_EACH && !peer.isClosed; at++) peer.send(name, sample(name, seed + at), 1_000 + at)
}

const say = async (peer: RawPeer, name: MessageName, seed: number): Promise<void> => {
  const question = QUESTIONS.get(name)
  if (question !== undefined) return answer(peer, question, name, seed)
  for (let at = 0; at < OF_EACH && !peer.isClosed; at++) {
    peer.send(name, sample(name, seed + at), name in ANSWER_NAMES ? at + 1 : 0)
    // Slowly enough that no quota is what ends it.
    if (at % 4 === 3) await pause()
  }
}

/** The node has read all that came before. */
const pause = () => new Promise(resolve => setTimeout(resolve, 10))

const isUnharmed = (): void => {
  for (const { node, member, said } of validators) {
    expect(member.errors).toEqual([])
    expect(said.contradictions).toEqual([])
    expect(node.log.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(node.log.lines.filter(({ message }) => message === 'message of a peer not handled')).toEqual([])
    const ids = new Set(validators.map(other => other.node.id))
    const honest = node.network.peers().filter(({ id }) => ids.has(id))
    expect(honest.map(({ score }) => score)).toEqual(HONEST.slice(1).map(() => 0))
    expect(member.engine.status().held).toBeLessThanOrEqual(MAX_HELD)
  }
  const low = Math.min(...heads())
  expect(new Set(validators.map(({ ledger }) => ledger.blocks[low - 1]?.block.hash)).size).toBe(1)
}

describe(`nonsense that can be decoded, SEED=${SEED}`, () => {
  test.each(NAMES.map((name, at) => [name, at] as const))('%s', async (name, at) => {
    const stranger = await meet(null)
    await say(stranger, name, SEED + at * 10_000)
    const council = await meet(COUNCIL[at] as ReturnType<typeof signerOf>)
    await say(council, name, SEED + at * 10_000 + 5_000)
    await pause()
    expect(stranger.reason ?? 'none').toMatch(/^(none|misbehaved|malformed)$/)
    if (UNBLAMED.has(name)) expect(council.reason).toBeUndefined()
    else expect(await council.closed()).toMatch(/^(misbehaved|malformed|banned)$/)
    isUnharmed()
    stranger.close()
    council.close()
  })

  test('and blocks go on', async () => {
    await grow(3)
    isUnharmed()
  })
})
