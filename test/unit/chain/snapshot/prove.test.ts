import { expect, test } from 'vitest'
import { fetchFailed, type PeerSource } from '../../../../src/chain/snapshot/sync/fetch-headers.ts'
import { genesisAnchor } from '../../../../src/chain/snapshot/sync/skipping-verification.ts'
import { proveBlock } from '../../../../src/chain/snapshot/sync/snapshot-selector.ts'
import type { DecidedBlock } from '../../../../src/consensus/ports.ts'
import { recoverAddress } from '../../../../src/crypto/signature.ts'
import { encodeBlock } from '../../../../src/primitives/block.ts'
import { makeBlock } from '../../../support/consensus/ledger.ts'
import { DOMAIN, signerOf } from '../../../support/consensus/member.ts'
import { seal, sealedChain } from '../../../support/consensus/sealed-chain.ts'

const COMMITTEE = [0, 1, 2, 3]
const CHAIN = sealedChain(12, () => COMMITTEE)
const NUMBER = 5
const FINAL = CHAIN[NUMBER - 1]!

/** Block 5 as a round proposed it that was given up: honest member 0 and faulty member 1 sealed it, and later another one was decided. */
const givenUp = (): DecidedBlock => {
  const { header } = FINAL.block
  const { parentHash, timestamp } = header
  const block = makeBlock(
    { number: NUMBER, parentHash, timestamp },
    signerOf(1).address,
    CHAIN[NUMBER - 2]!.certificate,
    99,
  )
  return { block, certificate: seal(block, COMMITTEE, { signers: 2 }) }
}

/** Peers by name, each with the blocks that it returns. */
const peersWith = (chains: Readonly<Record<string, readonly (DecidedBlock | undefined)[]>>): PeerSource => ({
  reportForgery: () => {},
  request: (async (
    _: string,
    { from }: { from: number },
    { among, validate }: { among: (peer: { id: string }) => boolean; validate: (blocks: unknown[]) => string },
  ) => {
    const [id, chain] = Object.entries(chains).find(([name]) => among({ id: name }))!
    const found = chain[from - 1]
    const answer = found === undefined ? [] : [{ block: encodeBlock(found.block), certificate: found.certificate }]
    if (validate(answer) !== 'good') throw fetchFailed('no such block')
    return { answer, from: id }
  }) as unknown as PeerSource['request'],
})

const prove = (block: DecidedBlock, chains: Parameters<typeof peersWith>[0]) =>
  proveBlock(
    { number: NUMBER, hash: block.block.hash },
    {
      network: peersWith(chains),
      witnesses: Object.keys(chains),
      anchor: genesisAnchor(
        1_000,
        COMMITTEE.map(index => signerOf(index).address),
      ),
      rules: { domain: DOMAIN, recover: recoverAddress },
      nowSeconds: 2_000,
    },
  )

const withGivenUp = CHAIN.map((decided, at) => (at === NUMBER - 1 ? givenUp() : decided))

test('a final block is true, whoever shows another one that an honest member sealed', async () => {
  expect(await prove(FINAL, { honest: CHAIN })).toBe('true')
  expect(await prove(FINAL, { lying: withGivenUp, honest: CHAIN })).toBe('true')
})

test('a block that one honest member sealed and a later round replaced is false, not true', async () => {
  expect(await prove(givenUp(), { honest: CHAIN })).toBe('false')
  expect(await prove(givenUp(), { lying: withGivenUp })).toBe('false')
})

test('a block without a child proves nothing, nor does a child that only faulty members sealed', async () => {
  expect(await prove(FINAL, { short: CHAIN.slice(0, NUMBER) })).toBe('unknown')
  const { block } = givenUp()
  const child = makeBlock(
    { number: NUMBER + 1, parentHash: block.hash, timestamp: 1_007 },
    signerOf(1).address,
    null,
    98,
  )
  const sealed = { block: child, certificate: seal(child, COMMITTEE, { signers: 1, as: () => 1 }) }
  const lie = [...CHAIN.slice(0, NUMBER - 1), givenUp(), sealed]
  expect(await prove(givenUp(), { lying: lie })).toBe('unknown')
})
