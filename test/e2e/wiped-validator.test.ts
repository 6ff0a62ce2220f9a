import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { sign } from '../../src/crypto/signature.ts'
import { parsePeerUrl } from '../../src/network/identity/peer-url.ts'
import type { SealedBlock } from '../../src/network/messages/consensus-messages.ts'
import type { MessageName } from '../../src/network/messages/messages.ts'
import type { BlockRange } from '../../src/network/messages/sync-messages.ts'
import { certificateFromSigners } from '../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest } from '../../src/primitives/consensus/vote.ts'
import { decodeRlpList, encodeRlp } from '../../src/primitives/rlp/rlp.ts'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { membersInCycle } from '../support/consensus/eligible.ts'
import { RawPeer } from '../support/network/raw-peer.ts'
import { eventually } from '../support/node-process.ts'

const BLOCK_SECONDS = 0.25
/** Blocks that sync brings; those after them come one by one, as if they were decided now. */
const SYNCED = 12
const REPLAYED = 12
/** Messages that a validator signs as a member. */
const SIGNED: readonly MessageName[] = ['vote', 'proposal']
/** Statuses that it sends without a vote before it counts as silent: each tells its height and round. */
const STATUSES = 8

let committee: Committee
beforeAll(async () => {
  committee = await Committee.open(4, BLOCK_SECONDS, { args: ['--execution', 'wasm'] })
  await committee.start()
})
afterAll(() => committee.close())

/** Blocks of a node with their certificates, as any peer gets them. */
const archiveOf = async (node: NodeOfMany, count: number): Promise<readonly SealedBlock[]> => {
  const peer = await RawPeer.meet(parsePeerUrl(node.url).port, {}, null, { domain: committee.domain })
  const archive: SealedBlock[] = []
  while (archive.length < count) {
    peer.send('getBlocks', { from: archive.length + 1, count: count - archive.length }, archive.length + 1)
    const [answer] = await eventually('blocks', async () => {
      const answers = peer.take('blocks')
      return answers.length > 0 ? answers : undefined
    })
    archive.push(...((answer?.value ?? []) as readonly SealedBlock[]))
  }
  peer.close()
  return archive
}

/** The same decisions by the seals of all others: what a member can keep of a height in which the victim's vote came last. */
const withoutSealOf = (victim: NodeOfMany, archive: readonly SealedBlock[]): readonly SealedBlock[] => {
  const validators = committee.nodes.map(({ validator }) => validator)
  const members = membersInCycle(validators, committee.domain.genesisHash)
  return archive.map(({ block, certificate: { round } }, index) => {
    const [header] = decodeRlpList(block)
    const vote = { type: 'commit', number: index + 1, round, blockHash: keccak256Hex(encodeRlp(header!)) } as const
    const digest = blockVoteDigest(committee.domain, vote)
    const seals = committee
      .others(victim)
      .map(({ validator, key }) => [members.indexOf(validator), sign(digest, key as Uint8Array)] as const)
    return { block, certificate: certificateFromSigners(round, members.length, new Map(seals)) }
  })
}

test('a validator whose folder is lost, alone with a member that replays old heights, signs nothing', async () => {
  const [liar, , , victim] = committee.nodes as [NodeOfMany, NodeOfMany, NodeOfMany, NodeOfMany]
  await Promise.all(committee.nodes.map(node => node.reach(SYNCED + REPLAYED + 2)))
  const archive = withoutSealOf(victim, await archiveOf(liar, SYNCED + REPLAYED))
  const hash = await liar.hashAt(SYNCED)
  await Promise.all(committee.nodes.map(node => node.kill()))
  for (const name of readdirSync(victim.dataDir))
    if (name !== 'node-key.pem') rmSync(join(victim.dataDir, name), { recursive: true })

  await victim.start([])
  const key = liar.key as Uint8Array
  const signer = { address: liar.validator, sign: (digest: Uint8Array) => sign(digest, key) }
  const head = { number: SYNCED, hash: hash ?? committee.domain.genesisHash }
  const peer = await RawPeer.meet(parsePeerUrl(victim.url).port, { head }, signer, { domain: committee.domain })
  /** Answers what the victim asks, until it has a block; a decided one is said again, since it counts for the open height alone. */
  const serveUntil = (number: number, decided?: SealedBlock) =>
    eventually(`block ${number} at the victim`, async () => {
      if (decided !== undefined) peer.send('decided', decided)
      for (const { value, requestId } of peer.take('getBlocks')) {
        const { from, count } = value as BlockRange
        peer.send('blocks', archive.slice(from - 1, Math.min(SYNCED, from - 1 + count)), requestId)
      }
      return (await victim.number()) >= number ? true : undefined
    })
  await serveUntil(SYNCED)
  for (const [index, sealed] of archive.slice(SYNCED).entries()) await serveUntil(SYNCED + index + 1, sealed)
  peer.take('status')
  await eventually('statuses', async () => peer.said('status').length >= STATUSES || undefined)
  expect(peer.isClosed).toBe(false)
  expect(peer.heard.filter(({ name }) => SIGNED.includes(name))).toEqual([])
  peer.close()

  // Among the others it votes again, and nothing that it signs contradicts what it signed before.
  await victim.kill()
  await Promise.all(committee.nodes.map(node => node.start(committee.others(node))))
  await eventually('its votes', async () => victim.log.includes('voting again') || undefined)
  const from = await victim.number()
  await Promise.all(committee.nodes.map(node => node.reach(from + 6)))
  for (const node of committee.nodes) expect(node.log).not.toContain('validator misbehaved')
})
