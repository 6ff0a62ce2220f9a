import { describe, expect, test } from 'vitest'
import {
  anchorFromHeader,
  genesisAnchor,
  hasHonestSealer,
  type SealedHeader,
  trustBlock,
} from '../../../../../src/chain/snapshot/sync/skipping-verification.ts'
import { SNAPSHOT_LIMITS } from '../../../../../src/config/limits/sync.ts'
import { recoverAddress } from '../../../../../src/crypto/signature.ts'
import { DOMAIN, signerOf } from '../../../../support/consensus/member.ts'
import { sealedChain } from '../../../../support/consensus/sealed-chain.ts'

const RULES = { domain: DOMAIN, recover: recoverAddress }
const addresses = (...indexes: number[]) => indexes.map(index => signerOf(index).address)

const sealedAt = (chain: ReturnType<typeof sealedChain>, number: number): SealedHeader => {
  const { block, certificate } = chain[number - 1]!
  return { header: block.header, hash: block.hash, certificate }
}

/** One of four changes every ten blocks, so that after forty nobody is left. */
const DRIFT = sealedChain(80, number => {
  const shift = Math.floor(number / 10)
  return [shift, shift + 1, shift + 2, shift + 3]
})
const GENESIS = genesisAnchor(1_000, addresses(0, 1, 2, 3))
const STRANGERS = sealedChain(80, () => [50, 51, 52, 53])

const trust = (target: SealedHeader, anchor = GENESIS, chain = DRIFT, nowSeconds = 2_000) => {
  const fetched: number[] = []
  const done = trustBlock(anchor, target, {
    ...RULES,
    nowSeconds,
    fetch: async number => {
      fetched.push(number)
      return sealedAt(chain, number)
    },
  })
  return { done, fetched }
}

describe('whether a block is of the chain', () => {
  test('as long as enough of the anchor seal it, in one step', async () => {
    const { done, fetched } = trust(sealedAt(DRIFT, 9))
    await done
    expect(fetched).toEqual([])
  })

  test('by blocks between, where the validators have changed one by one', async () => {
    const { done, fetched } = trust(sealedAt(DRIFT, 80))
    await done
    expect(fetched.length).toBeGreaterThan(1)
    expect(fetched.length).toBeLessThan(SNAPSHOT_LIMITS.trustSteps)
  })

  test('a chain sealed by strangers is not, with any headers in between', async () => {
    await expect(trust(sealedAt(STRANGERS, 80), GENESIS, STRANGERS).done).rejects.toMatchObject({
      code: 'TRUST_BROKEN',
    })
    // Nor one that leaves the true one somewhere.
    const forked = [...DRIFT.slice(0, 30), ...STRANGERS.slice(30)]
    await expect(trust(sealedAt(STRANGERS, 80), GENESIS, forked).done).rejects.toMatchObject({ code: 'TRUST_BROKEN' })
  })

  test('an anchor too old vouches for nothing', async () => {
    const late = 1_001 + SNAPSHOT_LIMITS.trustSeconds
    await expect(trust(sealedAt(DRIFT, 9), GENESIS, DRIFT, late).done).rejects.toMatchObject({ code: 'ANCHOR_TOO_OLD' })
  })

  test('f faulty members of the anchor are not enough, one more is; the same member twice counts once', () => {
    const { block, certificate } = DRIFT[4]!
    const target = sealedAt(DRIFT, 5)
    expect(GENESIS.enough).toBe(2)
    const withSeals = (seals: readonly Uint8Array[]) => ({ ...target, certificate: { ...certificate, seals } })
    const [first, second] = certificate.seals as [Uint8Array, Uint8Array]
    expect(hasHonestSealer(GENESIS, withSeals([first]), RULES)).toBe(false)
    expect(hasHonestSealer(GENESIS, withSeals([first, first]), RULES)).toBe(false)
    expect(hasHonestSealer(GENESIS, withSeals([first, second]), RULES)).toBe(true)
    // Seals of one block say nothing of another.
    expect(hasHonestSealer(GENESIS, { ...target, hash: block.header.parentHash }, RULES)).toBe(false)
  })

  test('a checkpoint names in its header who sealed before it', () => {
    const anchor = anchorFromHeader(sealedAt(DRIFT, 45).header, RULES)
    expect([...(anchor?.sealers ?? [])].sort()).toEqual(addresses(4, 5, 6).sort())
    expect(anchor).toMatchObject({ number: 45, enough: 2 })
    expect(anchorFromHeader(sealedAt(DRIFT, 1).header, RULES)).toBeUndefined()
  })
})
