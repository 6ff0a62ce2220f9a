import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { MINING_LIMITS } from '../../../../src/config/limits/chain.ts'
import { MiningService } from '../../../../src/powchain/mining/mining-service.ts'
import { searchNonces } from '../../../../src/powchain/mining/search.ts'
import { type TestChain, withChain } from '../../../support/chain.ts'
import { MINER, OTHER_MINER } from '../../../support/powchain/headers.ts'
import { mineProof, proofGenesis } from '../../../support/powchain/proof-chain.ts'

const serviceOf = ({ proofPool: pool, genesis: { params }, clock }: TestChain, coinbase: Hex | null = MINER) =>
  new MiningService({ params, pool, coinbase, extraNonce: Uint8Array.of(1), clock, logger: silentLogger })

/** Nonce and mix hash of work, as a miner finds them; searches longer than any target of devnet takes. */
const solution = async ([sealHash, , target]: readonly [Hex, Hex, Hex, Hex], version: number) => {
  const search = {
    version,
    sealHash,
    target: BigInt(target),
    prefix: Uint8Array.of(0),
    from: 0,
    budgetMs: Number.POSITIVE_INFINITY,
  }
  const { found } = await searchNonces(search)
  if (found === undefined) throw new Error('a search without an end finds')
  return { nonce: bytesToHex(found.nonce), mixHash: version === 1 ? ZERO_HASH : bytesToHex(found.mixHash) }
}

describe('work', () => {
  test('is handed out, solved and paid; its seed and target change at the fork', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain)
        const seeds: Hex[] = []
        for (let height = 1; height <= 3; height++) {
          const work = service.work(undefined)
          if (work === undefined) throw new Error('no work')
          expect(work[3]).toBe(`0x${height}`)
          seeds.push(work[1])
          const { nonce, mixHash } = await solution(work, height < 2 ? 1 : 2)
          expect(await service.submitWork(nonce, work[0], mixHash)).toBe(true)
          expect(await service.submitWork(nonce, work[0], mixHash), 'twice').toBe(false)
          expect((await chain.mine()).proofHeaders).toHaveLength(1)
        }
        expect(seeds).toEqual([
          '0x3cef128dcf1b5465c4f30c5b92cb2dabdeb70395109856c5d0cc74540f8cbcf7',
          '0x52e1cae7d98aa478ee08596f00f12b3703cc01f2a7c1e2432b0d5de5999a8a1d',
          '0x52e1cae7d98aa478ee08596f00f12b3703cc01f2a7c1e2432b0d5de5999a8a1d',
        ])
        expect(service.found).toBe(3)
      },
      { genesis: proofGenesis(2) },
    ))

  test('pays whom the request names; there is none without a payee', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain, null)
        expect(service.work(undefined)).toBeUndefined()
        const work = service.work(OTHER_MINER)
        if (work === undefined) throw new Error('no work')
        const { nonce, mixHash } = await solution(work, 1)
        expect(await service.submitWork(nonce, work[0], mixHash)).toBe(true)
        await chain.mine()
        expect((await chain.mine()).header.miner).toBe(OTHER_MINER)
      },
      { genesis: proofGenesis() },
    ))

  test('that a miner asked for again is still accepted after many others asked for theirs', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain, null)
        const others = (count: number, from: number) => {
          for (let at = from; at < from + count; at++) service.work(`0x${at.toString(16).padStart(40, 'e')}`)
        }
        const work = service.work(MINER)
        if (work === undefined) throw new Error('no work')
        others(MINING_LIMITS.jobs - 1, 0)
        expect(service.work(MINER)).toEqual(work)
        others(MINING_LIMITS.jobs - 1, MINING_LIMITS.jobs)
        const { nonce, mixHash } = await solution(work, 1)
        expect(await service.submitWork(nonce, work[0], mixHash)).toBe(true)
      },
      { genesis: proofGenesis() },
    ))

  test('of the default payee is accepted however many others were asked for', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain)
        const work = service.work(undefined)
        if (work === undefined) throw new Error('no work')
        for (let at = 0; at < 2 * MINING_LIMITS.jobs; at++) service.work(`0x${at.toString(16).padStart(40, 'e')}`)
        const { nonce, mixHash } = await solution(work, 1)
        expect(await service.submitWork(nonce, work[0], mixHash)).toBe(true)
      },
      { genesis: proofGenesis() },
    ))

  test('stays the same while it is good enough, and changes with the tip', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain)
        const first = service.work(undefined)
        expect(service.work(undefined)).toEqual(first)
        expect(service.work(OTHER_MINER)?.[0]).not.toBe(first?.[0])
        await mineProof(chain)
        expect(service.work(undefined), 'the tip has the anchor of the head').toBeUndefined()
        await chain.mine()
        expect(service.work(undefined)?.[3]).toBe('0x2')
      },
      { genesis: proofGenesis() },
    ))

  test('changes when its anchor is taken back, also when it is not the head any more', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain)
        const { proofPool: pool } = chain
        const { head } = pool
        const first = service.work(undefined)
        pool.reset({ ...head, hash: ZERO_HASH })
        const second = service.work(undefined)
        expect(second?.[0]).not.toBe(first?.[0])
        pool.reset({ ...head, number: head.number + 1, hash: ZERO_HASH })
        expect(service.work(undefined)?.[0]).not.toBe(second?.[0])
      },
      { genesis: proofGenesis() },
    ))

  test('that is unknown, wrongly solved or stale is refused', () =>
    withChain(
      async chain => {
        const service = serviceOf(chain)
        const work = service.work(undefined)
        if (work === undefined) throw new Error('no work')
        const { nonce } = await solution(work, 1)
        expect(await service.submitWork(nonce, ZERO_HASH, ZERO_HASH)).toBe(false)
        const wrong = await Promise.all(
          Array.from({ length: 64 }, (_, at) =>
            service.submitWork(`0xff000000000000${at.toString(16).padStart(2, '0')}`, work[0], ZERO_HASH),
          ),
        )
        expect(wrong.filter(isAccepted => !isAccepted).length).toBeGreaterThan(32)
        if (chain.proofPool.size === 0) await mineProof(chain)
        await chain.mine()
        expect(await service.submitWork(nonce, work[0], ZERO_HASH)).toBe(false)
      },
      { genesis: proofGenesis() },
    ))
})

test('hash rates of miners count for ten seconds, the last of each, beside the own one', () =>
  withChain(async chain => {
    const service = serviceOf(chain)
    expect(service.running()).toBe(false)
    service.submitHashrate(100n, ZERO_HASH)
    service.submitHashrate(50n, ZERO_HASH)
    chain.clock.ms += 5_000
    service.submitHashrate(7n, `0x${'11'.repeat(32)}`)
    service.ownRate = () => 3
    expect(service.running()).toBe(true)
    expect(service.hashrate()).toBe(60n)
    chain.clock.ms += 5_000
    expect(service.hashrate()).toBe(10n)
    for (let at = 0; at <= MINING_LIMITS.rates; at++)
      service.submitHashrate(1n, `0x${at.toString(16).padStart(64, '0')}`)
    expect(service.hashrate()).toBe(BigInt(MINING_LIMITS.rates) + 3n)
  }))

test('two searches with different prefixes share no nonce, and each goes on where it stopped', async () => {
  const job = { version: 1, sealHash: ZERO_HASH, target: 0n, budgetMs: 0 }
  const first = await searchNonces({ ...job, prefix: Uint8Array.of(0), from: 0 })
  expect(first.found).toBeUndefined()
  expect(first.next).toBe(first.hashes)
  const easy = { ...job, target: 2n ** 256n - 1n }
  const { found } = await searchNonces({ ...easy, prefix: Uint8Array.of(7), from: first.next })
  expect(found?.nonce).toEqual(Uint8Array.of(7, 0, 0, 0, 0, 0, first.next >> 8, first.next & 255))
  const long = await searchNonces({ ...easy, prefix: Uint8Array.of(1, 2, 3), from: 258 })
  expect(long.found?.nonce).toEqual(Uint8Array.of(1, 2, 3, 0, 0, 0, 1, 2))
})
