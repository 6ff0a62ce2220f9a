import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { PROOF_CHAIN_LIMITS } from '../../../src/config/limits/chain.ts'
import type { Argon2Provider } from '../../../src/crypto/argon2.ts'
import { argon2Provider } from '../../../src/crypto/argon2.ts'
import { nativeSealHash } from '../../../src/crypto/proof-hash.ts'
import { type MainHead, ProofPool } from '../../../src/powchain/proof-pool.ts'
import { createProofRelay } from '../../../src/powchain/proof-relay.ts'
import { createWorkVerifier } from '../../../src/powchain/work-verifier.ts'
import {
  encodeProofHeader,
  type ProofHeader,
  proofHeaderId,
  proofSealHash,
} from '../../../src/primitives/proof-header.ts'
import { CHAIN_ID } from '../../support/chain.ts'
import { anchorHashOf, childOf, grow, MINER, paramsWithFork } from '../../support/powchain/headers.ts'
import { solve } from '../../support/powchain/solve.ts'
import { SEED } from '../../support/seed.ts'

const FLOOD = 10_000

const wordOf = (random: Random): Hex =>
  `0x${Array.from({ length: 8 }, () =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('')}`

/** A pool under version 2 with counts of Argon2id calls and of look-ups of anchors. */
const setUp = () => {
  const params = paramsWithFork(0)
  const state = grow(params, 3)
  const head: MainHead = { number: state.tipAnchor + 5, hash: anchorHashOf(state.tipAnchor + 5), proofState: state }
  const counts = { argon2: 0, seals: 0 }
  const provider = async (): Promise<Argon2Provider> => {
    const real = await argon2Provider()
    return {
      ...real,
      hash(...args) {
        counts.argon2++
        return real.hash(...args)
      },
    }
  }
  const pool = new ProofPool({
    params,
    head,
    hashOf: anchorHashOf,
    verifier: createWorkVerifier(CHAIN_ID, provider),
  })
  /** The same header; each computation of its seal is counted. */
  const counted = (header: ProofHeader): ProofHeader => ({
    ...header,
    get nonce() {
      counts.seals++
      return header.nonce
    },
  })
  return { params, state, head, pool, counts, counted }
}

/** A header whose seal meets its target over a mix hash that is none: it costs its maker a search by Keccak alone. */
const forge = (header: ProofHeader): ProofHeader => {
  const sealHash = proofSealHash(CHAIN_ID, header)
  for (let value = 0; ; value++) {
    const mixHash = new Uint8Array(32)
    new DataView(mixHash.buffer).setUint32(0, value)
    if (nativeSealHash(sealHash, header.nonce, mixHash) <= header.target) return { ...header, mixHash }
  }
}

/** The exchange of a pool with neighbours that say what a test tells them. */
const relayOf = (pool: ProofPool) => {
  const blamed: string[] = []
  let listener: (encoded: Uint8Array, from: string) => void = () => {}
  const network = {
    broadcast: () => {},
    onReceived: (given: typeof listener) => {
      listener = given
      return () => {}
    },
    misbehaved: (peer: string) => void blamed.push(peer),
  }
  createProofRelay({ pool, network, clock: systemClock, logger: silentLogger }).start()
  return { blamed, hear: (header: ProofHeader, from: string) => listener(encodeProofHeader(header), from) }
}

const codeOf = (error: unknown): string => (isCoded(error) ? error.code : String(error))

/** Counts of outcomes and error codes. */
const tally = async (outcomes: readonly Promise<string>[]): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const outcome of await Promise.all(outcomes.map(each => each.catch(codeOf))))
    counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

describe(`a flood of proof headers, SEED=${SEED}`, () => {
  test('without work costs no Argon2id hash and keeps nothing, whatever they claim', async () => {
    const { params, state, head, pool, counts } = setUp()
    const random = createRandom(SEED)
    const junk = Array.from({ length: FLOOD }, (_, at): ProofHeader => {
      const header = childOf(params, state, head.number, { extraNonce: Uint8Array.of(at >> 8, at & 255) })
      // A target of 1 is one that no forger meets by chance.
      const changes: readonly Partial<ProofHeader>[] = [
        { target: 1n },
        { parentId: wordOf(random), target: 1n },
        { anchorNumber: head.number + 1 + random.below(1_000), target: 1n },
        { height: header.height + random.below(100), parentId: wordOf(random), target: 1n },
        { target: header.target + 1n },
        { coinbase: `0x${'00'.repeat(20)}` },
        { anchorHash: wordOf(random) },
      ]
      return { ...header, ...changes[at % changes.length] }
    })
    const outcomes = await tally(junk.map(header => pool.submit(encodeProofHeader(header), 0)))
    expect(counts.argon2).toBe(0)
    expect(pool.size).toBe(0)
    expect(Object.keys(outcomes).sort()).toEqual(['PROOF_ANCHOR_HASH', 'PROOF_COINBASE', 'PROOF_TARGET', 'PROOF_WORK'])
    // Nothing of it waits for a later block.
    pool.onBlock({ ...head, number: head.number + 1_001 }, 0)
    expect(counts.argon2).toBe(0)
  })

  test('whose parents are unknown is kept in small number, and not checked again when another header is added', async () => {
    const { params, state, head, pool, counts, counted } = setUp()
    const random = createRandom(SEED)
    const kept: ProofHeader[] = []
    for (let i = 0; kept.length < 4 * PROOF_CHAIN_LIMITS.earlyHeaders; i++) {
      const orphan = childOf(params, state, head.number, {
        parentId: wordOf(random),
        extraNonce: Uint8Array.of(i >> 8, i),
      })
      const outcome = await pool.admit(counted(orphan), 0).catch(codeOf)
      if (outcome === 'early') kept.push(orphan)
    }
    const valid = await solve(CHAIN_ID, childOf(params, state, head.number))
    counts.seals = 0
    expect(await pool.admit(valid, 0)).toBe('added')
    expect(counts.seals, 'seals of orphans computed when a stranger to them was added').toBe(0)
    // With the next block each one kept is looked at once, since its anchor may have come.
    pool.onBlock({ ...head, number: head.number + 1 }, 0)
    await Promise.resolve()
    expect(counts.seals).toBeLessThanOrEqual(2 * PROOF_CHAIN_LIMITS.earlyHeaders)
    expect(counts.argon2).toBe(1)
  })

  test('in a chain that comes last header first is admitted with one look at each for each header before it', async () => {
    const { state, head, pool, counts, counted } = setUp()
    const maker = setUp()
    const chain: ProofHeader[] = []
    let number = head.number
    for (let i = 0; i < PROOF_CHAIN_LIMITS.pendingDepth; i++) {
      const template = maker.pool.template(MINER, EMPTY_BYTES)
      if (template === undefined) throw new Error('no work')
      const header = await solve(CHAIN_ID, template)
      expect(await maker.pool.admit(header, 0)).toBe('added')
      chain.push(header)
      number++
      maker.pool.onBlock({ number, hash: anchorHashOf(number), proofState: state }, 0)
    }
    pool.onBlock({ number, hash: anchorHashOf(number), proofState: state }, 0)
    for (const header of chain.slice(1).reverse()) expect(await pool.admit(counted(header), 0)).toBe('early')
    counts.seals = 0
    const all = new Promise<void>(resolve => {
      pool.onAdded(() => pool.size === chain.length && resolve())
    })
    await pool.admit(chain[0] as ProofHeader, 0)
    await all
    expect(counts.argon2).toBe(chain.length)
    // Its id, seal and Argon2id hash: each header is tried again when its parent came, not with every other one.
    expect(counts.seals).toBeLessThanOrEqual(6 * chain.length)
  })

  test('with a seal alone, that waited for a block, costs each sender one hash and its name, and delays no other header', async () => {
    const { params, state, head, pool, counts } = setUp()
    const { blamed, hear } = relayOf(pool)
    const next = { ...head, number: head.number + 1, hash: anchorHashOf(head.number + 1) }
    const liars = Array.from({ length: 2 * PROOF_CHAIN_LIMITS.verifying }, (_, index) => `liar ${index}`)
    const early = (index: number) => childOf(params, state, next.number, { extraNonce: Uint8Array.of(index) })
    const honest = await solve(CHAIN_ID, early(255))
    for (let count = 0; count < 3; count++)
      for (const [at, liar] of liars.entries()) hear(forge(early(3 * at + count)), liar)
    hear(honest, 'honest')
    // Sent late, and as hard as it is: it does not drive out that of another sender.
    for (let count = 0; count < PROOF_CHAIN_LIMITS.earlyHeaders; count++) hear(forge(early(100 + count)), 'liar 0')
    const added = new Promise<void>(resolve => pool.onAdded(({ id }) => id === proofHeaderId(honest) && resolve()))
    await Promise.resolve()
    pool.onBlock(next, 0)
    await added
    while (blamed.length < liars.length) await new Promise(resolve => setImmediate(resolve))
    expect(blamed.toSorted()).toEqual(liars.toSorted())
    expect(counts.argon2).toBe(liars.length + 1)
  })
})
