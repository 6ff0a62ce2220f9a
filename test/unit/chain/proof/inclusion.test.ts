import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { COUNCIL_ADDRESS } from '../../../../src/config/networks.ts'
import { type Block, type BlockContents, blockFromParts, hashByteStrings } from '../../../../src/primitives/block.ts'
import { decodeExtraData, type ExtraData, encodeExtraData } from '../../../../src/primitives/consensus/extra-data.ts'
import { encodeProofHeader, type ProofHeader, proofHeaderId } from '../../../../src/primitives/proof-header.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { ACCOUNTS, CERTIFICATE, openTestChain, type TestChain, VALIDATOR, withChain } from '../../../support/chain.ts'
import { MINER, OTHER_MINER } from '../../../support/powchain/headers.ts'
import { mineProof, proofGenesis, solved } from '../../../support/powchain/proof-chain.ts'

const FRESH = { number: 0, round: 0, fresh: true }
const tipOf = (block: Block): Hex => decodeExtraData(block.header.extraData).proofTip

const withTwo = (use: (proposer: TestChain, other: TestChain) => Promise<void>, genesis = proofGenesis()) =>
  withChain(proposer => withChain(other => use(proposer, other), { genesis }), { genesis })

const follow = async (other: TestChain, block: Block, nowMs: number): Promise<void> => {
  other.clock.ms = nowMs
  expect(await other.chain.validate(block, FRESH)).toEqual({ valid: true })
  await other.chain.commit(block, CERTIFICATE)
}

describe('a proof header', () => {
  test('goes into the next block, and its coinbase is the miner from exactly the block after on', () =>
    withTwo(async (proposer, other) => {
      const blocks = [await proposer.mine()]
      const header = await mineProof(proposer)
      for (let i = 0; i < 3; i++) blocks.push(await proposer.mine())
      for (const block of blocks) await follow(other, block, proposer.clock.ms)
      expect(blocks.map(({ proofHeaders }) => proofHeaders.length)).toEqual([0, 1, 0, 0])
      expect(blocks.map(({ header: { miner } }) => miner)).toEqual([ZERO_ADDRESS, ZERO_ADDRESS, MINER, MINER])
      const id = proofHeaderId(header)
      expect(blocks.map(tipOf)).toEqual([ZERO_HASH, id, id, id])
      for (const chain of [proposer, other]) {
        expect(chain.proofRows.byHeight(1)).toMatchObject({ includedIn: 2, header: { coinbase: MINER } })
        expect(chain.proofRows.byId(id)?.includedIn).toBe(2)
      }
      expect(other.world.root).toBe(proposer.world.root)
    }))

  test('changes its version at the fork height, to the header', () =>
    withTwo(async (proposer, other) => {
      const versions: number[] = []
      for (let height = 1; height <= 4; height++) {
        await follow(other, await proposer.mine(), proposer.clock.ms)
        const { version } = await mineProof(proposer)
        versions.push(version)
        const block = await proposer.mine()
        expect(block.proofHeaders).toHaveLength(1)
        await follow(other, block, proposer.clock.ms)
      }
      expect(versions).toEqual([1, 1, 2, 2])
    }, proofGenesis(3)))

  test.each([
    [1, 2, /PROOF_VERSION.*work ahead of the fork/],
    [2, 1, /PROOF_VERSION.*outdated work.*proof height 2.*upgrade/],
    [3, 1, /PROOF_VERSION.*outdated work/],
  ])('at height %i of a fork at 2 is refused with version %i', (height, version, reason) =>
    withTwo(async (proposer, other) => {
      for (let at = 1; at < height; at++) {
        await mineProof(proposer)
        await follow(other, await proposer.mine(), proposer.clock.ms)
      }
      const header = await solved(proposer, { change: { version, target: 2n ** 253n - 1n } })
      expect(await refusal(proposer, other, [header])).toMatch(reason)
    }, proofGenesis(2)),
  )

  test('is paid with the miners’ share, and the supply stays the sum of all balances at every block', () =>
    withChain(
      async chain => {
        const holders = [...ACCOUNTS, VALIDATOR, COUNCIL_ADDRESS, MINER, OTHER_MINER]
        for (let number = 1; number <= 21; number++) {
          if (number % 2 === 0) await mineProof(chain, number % 4 === 0 ? MINER : OTHER_MINER)
          await chain.mine()
          const sum = holders.reduce((total, who) => total + (chain.world.head.account(who)?.balance ?? 0n), 0n)
          expect((await chain.economy.supply(number))?.totalSupply).toBe(sum)
        }
        // MINER has two of the five headers of the first cycle, in blocks 2, 4, 6, 8 and 10. The next cycle pays ten, five of each.
        const part = (2_000n * 10n ** 18n * 40n) / 100n
        const rewards = await chain.economy.rewards(10)
        expect(rewards?.rewards.get(MINER)).toBe((2n * part) / 5n)
        expect(rewards?.rewards.get(OTHER_MINER)).toBe((3n * part) / 5n)
        const later = await chain.economy.rewards(20)
        expect([MINER, OTHER_MINER].map(who => later?.rewards.get(who))).toEqual([part / 2n, part / 2n])
        expect([...(rewards?.rewards.values() ?? [])].reduce((a, b) => a + b, 0n)).toBe(2_000n * 10n ** 18n)
      },
      { genesis: proofGenesis(20, 10) },
    ))

  test('included at the end of a cycle moves the seed of the cycle after the next, and no other', () =>
    withChain(
      async mined =>
        withChain(
          async idle => {
            for (let number = 1; number <= 12; number++) {
              if (number === 4) await mineProof(mined)
              await mined.mine()
              await idle.mine()
            }
            const seeds = ({ sources }: TestChain) => [0, 1, 2, 3, 4].map(cycle => sources.council.seedOf(cycle))
            const [with_, without] = [seeds(mined), seeds(idle)]
            expect(with_.map((seed, cycle) => seed === without[cycle])).toEqual([true, true, false, false, false])
          },
          { genesis: proofGenesis(20, 4) },
        ),
      { genesis: proofGenesis(20, 4) },
    ))
})

/** Reason with which `other` refuses the proposer's next block when it carries these headers; `extra` changes the commitments. */
const refusal = async (
  proposer: TestChain,
  other: TestChain,
  headers: readonly ProofHeader[],
  extra: Partial<ExtraData> = {},
): Promise<string> => {
  const built = await proposer.build()
  const proofHeaders = headers.map(encodeProofHeader)
  const last = headers.at(-1)
  const data: ExtraData = {
    ...decodeExtraData(built.header.extraData),
    proofHeadersHash: hashByteStrings(proofHeaders),
    ...(last && { proofTip: proofHeaderId(last) }),
    ...extra,
  }
  const { transactions, evidence } = built
  const body: BlockContents = { transactions, proofHeaders, evidence }
  other.clock.ms = proposer.clock.ms
  const forged = blockFromParts({ ...built.header, extraData: encodeExtraData(data) }, body)
  const verdict = await other.chain.validate(forged, FRESH)
  if (verdict.valid) return 'valid'
  expect(verdict.proven).toBe(true)
  return verdict.reason
}

describe('a block is proven invalid', () => {
  const mutated: readonly [string, Partial<ProofHeader>, RegExp][] = [
    ['a target one too easy', { target: 2n ** 252n }, /PROOF_TARGET/],
    ['a target one too hard', { target: 2n ** 252n - 2n }, /PROOF_TARGET/],
    ['an anchor that is not committed yet', { anchorNumber: 3 }, /PROOF_ANCHOR_FUTURE/],
    ['another hash of its anchor', { anchorHash: ZERO_HASH }, /PROOF_ANCHOR_HASH/],
    ['nobody to pay', { coinbase: ZERO_ADDRESS }, /PROOF_COINBASE/],
    ['another height', { height: 2 }, /PROOF_HEIGHT/],
    ['another parent', { parentId: `0x${'77'.repeat(32)}` }, /PROOF_PARENT/],
  ]
  test.each(mutated)('whose proof header has %s', (_, change, reason) =>
    withTwo(async (proposer, other) => {
      for (let i = 0; i < 2; i++) await follow(other, await proposer.mine(), proposer.clock.ms)
      expect(await refusal(proposer, other, [await solved(proposer)])).toBe('valid')
      expect(await refusal(proposer, other, [await solved(proposer, { change })])).toMatch(reason)
    }),
  )

  test('whose proof header has no work behind it', () =>
    withTwo(async (proposer, other) => {
      const header = await solved(proposer)
      // Of nonces in a row hardly any meets the target.
      const nonces = Array.from({ length: 40 }, (_, at) => Uint8Array.of(9, 0, 0, 0, 0, 0, 0, at))
      const reasons: string[] = []
      for (const nonce of nonces) reasons.push(await refusal(proposer, other, [{ ...header, nonce }]))
      expect(reasons.filter(reason => /PROOF_WORK/.test(reason)).length).toBeGreaterThan(20)
      expect(reasons.every(reason => reason === 'valid' || /PROOF_WORK/.test(reason))).toBe(true)
    }))

  test('whose proof header claims a mix hash that meets the target and is no Argon2id hash', () =>
    withTwo(async (proposer, other) => {
      const header = await solved(proposer)
      for (let at = 0; ; at++) {
        const reason = await refusal(proposer, other, [{ ...header, mixHash: new Uint8Array(32).fill(at) }])
        expect(reason).toMatch(/PROOF_WORK|PROOF_MIX_HASH/)
        if (/PROOF_MIX_HASH/.test(reason)) return
      }
    }, proofGenesis(0)))

  test('with an anchor of more than 120 blocks ago', () =>
    withTwo(async (proposer, other) => {
      await follow(other, await proposer.mine(), proposer.clock.ms)
      const early = await solved(proposer)
      for (let i = 0; i < 119; i++) await other.chain.commit(await proposer.mine(), CERTIFICATE)
      expect(await refusal(proposer, other, [early])).toBe('valid')
      await other.chain.commit(await proposer.mine(), CERTIFICATE)
      expect(await refusal(proposer, other, [early])).toMatch(/PROOF_ANCHOR_STALE/)
    }))

  test('with the same header twice, three headers, another tip, or another miner', () =>
    withTwo(async (proposer, other) => {
      const header = await solved(proposer)
      expect(await refusal(proposer, other, [header, header])).toMatch(/PROOF_HEIGHT/)
      expect(await refusal(proposer, other, [header, header, header])).toMatch(/PROOF_COUNT/)
      expect(await refusal(proposer, other, [header], { proofTip: ZERO_HASH })).toMatch(/PROOF_TIP/)
      expect(await refusal(proposer, other, [], { proofTip: proofHeaderId(header) })).toMatch(/PROOF_TIP/)
      expect(await refusal(proposer, other, [header], { proofHeadersHash: ZERO_HASH })).toMatch(/BODY_PROOF_HEADERS/)
      await mineProof(proposer)
      await follow(other, await proposer.mine(), proposer.clock.ms)
      const built = await proposer.build()
      const { transactions, proofHeaders, evidence } = built
      const forged = blockFromParts({ ...built.header, miner: OTHER_MINER }, { transactions, proofHeaders, evidence })
      other.clock.ms = proposer.clock.ms
      expect(await other.chain.validate(forged, FRESH)).toMatchObject({ valid: false, proven: true })
    }))
})

describe('the vote', () => {
  const scene = (use: (voter: TestChain, omitting: Block) => Promise<void>) =>
    withTwo(async (proposer, voter) => {
      const omitting = await proposer.build()
      await mineProof(voter)
      await use(voter, omitting)
    })
  const judged = (voter: TestChain, block: Block, afterMs: number, round = 0, fresh = true) => {
    voter.clock.ms += afterMs
    return voter.chain.validate(block, { number: 1, round, fresh })
  }

  test('is withheld, and nothing proven, from a fresh proposal without a header known for 1.5 s', () =>
    scene(async (voter, omitting) => {
      expect(await judged(voter, omitting, 1_501)).toMatchObject({
        valid: false,
        proven: false,
        reason: expect.stringMatching(/leaves out the proof header 0x/),
      })
    }))

  test('is given where the header is as old as that, the round late, or the block proposed again', async () => {
    await scene(async (voter, omitting) => expect(await judged(voter, omitting, 1_500)).toEqual({ valid: true }))
    await scene(async (voter, omitting) => {
      expect(await judged(voter, omitting, 6_001, 2)).toMatchObject({ valid: false, proven: false })
      expect(await judged(voter, omitting, 0, 3)).toEqual({ valid: true })
    })
    await scene(async (voter, omitting) =>
      expect(await judged(voter, omitting, 60_000, 0, false)).toEqual({ valid: true }),
    )
  })

  test('is given to a proposal with a sibling of the header', () =>
    withTwo(async (proposer, voter) => {
      await mineProof(voter)
      await mineProof(proposer, OTHER_MINER)
      expect(await judged(voter, await proposer.build(), 5_000)).toEqual({ valid: true })
    }))
})

test('a node with another fork height stops at the first header it cannot follow, says why, and keeps what it has', () =>
  withChain(
    proposer =>
      withChain(
        async other => {
          expect(other.genesisHash).toBe(proposer.genesisHash)
          await mineProof(proposer)
          await follow(other, await proposer.mine(), proposer.clock.ms)
          await mineProof(proposer)
          const decided = await proposer.mine()
          expect(await other.chain.validate(decided, FRESH)).toMatchObject({ valid: false, proven: true })
          await expect(other.chain.commit(decided, CERTIFICATE)).rejects.toMatchObject({
            code: 'FORK_MISMATCH',
            detail: { fork: 'nativeHash', height: 3 },
          })
          expect(other.chain.head().number).toBe(1)
          expect((await verifyChain(other.store, { from: 0 })).problems).toEqual([])
        },
        { genesis: proofGenesis(3) },
      ),
    { genesis: proofGenesis(2) },
  ))

describe('the store', () => {
  test('has the proof chain after a restart, goes on with it, and its check finds damage', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tandem-proof-'))
    const genesis = proofGenesis(3)
    try {
      const before = await openTestChain(dir, { genesis })
      for (let i = 0; i < 4; i++) {
        await mineProof(before)
        await before.mine()
      }
      await before.close()
      const after = await openTestChain(dir, { genesis })
      after.clock.ms = before.clock.ms
      expect(after.proofPool.head.proofState).toMatchObject({ tipHeight: 4, coinbase: MINER, reference: { height: 2 } })
      expect((await mineProof(after)).height).toBe(5)
      expect((await after.mine()).proofHeaders).toHaveLength(1)
      expect((await verifyChain(after.store, { from: 0 })).problems).toEqual([])
      for (const [bucket, key, problem] of damages(after)) {
        const row = after.store.getSync(bucket, key) as Uint8Array
        const batch = after.store.batch()
        batch.del(bucket, key)
        await batch.write()
        expect((await verifyChain(after.store, { from: 0 })).problems).toEqual([expect.stringMatching(problem)])
        const back = after.store.batch()
        back.put(bucket, key, row)
        await back.write()
      }
      const batch = after.store.batch()
      batch.put(BUCKETS.proofHeight, numberKey(6), new Uint8Array(32))
      await batch.write()
      expect((await verifyChain(after.store, { from: 0 })).problems).toEqual([expect.stringMatching(/is in no block/)])
      await after.close()
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  const damages = ({ proofRows }: TestChain): readonly [5 | 18 | 19 | 27, Uint8Array, RegExp][] => {
    const id = hexToBytes(proofHeaderId(proofRows.byHeight(2)?.header as ProofHeader))
    return [
      [BUCKETS.proofHeader, id, /block 2: row of proof header 2 is wrong/],
      [BUCKETS.proofState, id, /block 2: proof state after proof header 2 is wrong/],
      [BUCKETS.proofHeight, numberKey(2), /block 2: lookup of proof height 2 is wrong/],
    ]
  }
})
