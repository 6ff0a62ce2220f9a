import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { PROOF_CHAIN_LIMITS } from '../../../src/config/limits/chain.ts'
import type { Argon2Provider } from '../../../src/crypto/argon2.ts'
import { argon2Provider } from '../../../src/crypto/argon2.ts'
import { type MainHead, ProofPool } from '../../../src/powchain/proof-pool.ts'
import { createWorkVerifier } from '../../../src/powchain/work-verifier.ts'
import {
  encodeProofHeader,
  type ProofHeader,
  proofHeaderId,
  proofSealHash,
} from '../../../src/primitives/proof-header.ts'
import {
  easiestTarget,
  extendProofState,
  firstProofState,
  type ProofState,
} from '../../../src/rules/proof/proof-header.ts'
import { CHAIN_ID } from '../../support/chain.ts'
import { anchorHashOf, childOf, grow, MINER, OTHER_MINER, paramsWithFork } from '../../support/powchain/headers.ts'
import { solve } from '../../support/powchain/solve.ts'

const headAt = (number: number, proofState: ProofState): MainHead => ({
  number,
  hash: anchorHashOf(number),
  proofState,
})

/** A pool above so many headers, the head five blocks after the last anchor, and a count of Argon2id calls. */
const setUp = (fork: number | null = 20, headers = 3) => {
  const params = paramsWithFork(fork)
  const state = headers === 0 ? firstProofState(params) : grow(params, headers)
  const head = headAt(state.tipAnchor + 5, state)
  const calls = { count: 0, held: Promise.resolve() }
  const provider = async (): Promise<Argon2Provider> => {
    const real = await argon2Provider()
    return {
      ...real,
      async hash(...args) {
        calls.count++
        await calls.held
        return real.hash(...args)
      },
    }
  }
  const pool = new ProofPool({ params, head, hashOf: anchorHashOf, verifier: createWorkVerifier(CHAIN_ID, provider) })
  const work = (coinbase: Hex = MINER): Promise<ProofHeader> => {
    const template = pool.template(coinbase, EMPTY_BYTES)
    if (template === undefined) throw new Error('no work')
    return solve(CHAIN_ID, template)
  }
  return { params, state, head, pool, calls, work }
}

describe('a proof header', () => {
  test('that is valid is added once, announced to listeners, and offered to the next block', async () => {
    const { pool, head, work } = setUp()
    const told: Hex[] = []
    pool.onAdded(({ id }) => told.push(id))
    const header = await work()
    expect(await pool.submit(encodeProofHeader(header), 5)).toBe('added')
    expect(await pool.submit(encodeProofHeader(header), 6)).toBe('known')
    expect(told).toEqual([proofHeaderId(header)])
    expect(pool.forBlock(head.number + 1).map(({ id }) => id)).toEqual(told)
    expect(pool.has(told[0] as Hex)).toBe(true)
  })

  test('that breaks a rule is refused with its code, and one without work behind it never costs an Argon2id hash', async () => {
    const { pool, calls, work } = setUp(0)
    const header = await work()
    const refused = (change: Partial<ProofHeader>) =>
      pool.admit({ ...header, ...change }, 0, 'a peer').then(
        outcome => outcome,
        error => error.code,
      )
    expect(await refused({ target: header.target + 1n })).toBe('PROOF_TARGET')
    expect(await refused({ version: 1, mixHash: EMPTY_BYTES })).toBe('PROOF_VERSION')
    expect(await refused({ anchorHash: anchorHashOf(1) })).toBe('PROOF_ANCHOR_HASH')
    const junk = await Promise.all(
      Array.from({ length: 400 }, (_, at) =>
        refused({ mixHash: new Uint8Array(32).fill(at % 256), extraNonce: Uint8Array.of(at >> 8) }),
      ),
    )
    // Devnet's target lets one in eight of such forgeries through the cheap hash.
    const passed = junk.filter(outcome => outcome === 'PROOF_MIX_HASH').length
    expect(junk.filter(outcome => outcome === 'PROOF_WORK').length).toBeGreaterThan(200)
    expect(passed).toBeGreaterThan(0)
    // Forgeries of one seal hash and nonce have one true hash, computed once.
    const hashed = calls.count
    expect(hashed).toBeLessThanOrEqual(2)
    expect(await pool.submit(encodeProofHeader(header), 0)).toBe('added')
    expect(calls.count).toBe(hashed + 1)
  })

  test('whose bytes are no header is refused', async () => {
    const { pool } = setUp()
    await expect(pool.submit(new Uint8Array(321), 0)).rejects.toMatchObject({ code: 'PROOF_HEADER_MALFORMED' })
    await expect(pool.submit(Uint8Array.of(0xc0), 0)).rejects.toMatchObject({ code: 'PROOF_HEADER_MALFORMED' })
  })

  test('of a final height is stale', async () => {
    const { pool, state } = setUp()
    const { params } = setUp()
    expect(await pool.admit({ ...childOf(params, state, 5), height: state.tipHeight }, 0)).toBe('stale')
  })

  test('that comes before its anchor or its parent is tried again when that has come', async () => {
    const { pool, params, state, head } = setUp()
    const next = headAt(head.number + 2, state)
    const late = setUp()
    late.pool.onBlock(next, 0)
    const parent = await late.work()
    await late.pool.admit(parent, 0)
    late.pool.onBlock(headAt(head.number + 3, state), 0)
    const child = await late.work(OTHER_MINER)
    expect(child.parentId).toBe(proofHeaderId(parent))
    expect(params.chainId).toBe(CHAIN_ID)
    expect(await pool.admit(child, 0)).toBe('early')
    expect(await pool.admit(parent, 0)).toBe('early')
    expect(pool.size).toBe(0)
    const added = new Promise<void>(resolve => {
      pool.onAdded(({ id }) => {
        if (id === proofHeaderId(child)) resolve()
      })
    })
    pool.onBlock(headAt(head.number + 3, state), 7)
    await added
    expect(pool.best()).toMatchObject({ id: proofHeaderId(child), seenAtMs: 7 })
  })

  test('that is early outlasts a flood of easier ones, and those that nothing can make valid are not kept', async () => {
    // Harder than the easiest target: headers came twice as fast as wanted.
    const { params } = setUp(null)
    const state = grow(params, 100, params.proofChain.spacingBlocks >> 1)
    const head = headAt(state.tipAnchor + 1, state)
    const verifier = createWorkVerifier(CHAIN_ID, argon2Provider)
    const pool = new ProofPool({ params, head, hashOf: anchorHashOf, verifier })
    const next = headAt(head.number + 1, state)
    const honest = await solve(CHAIN_ID, childOf(params, state, next.number))
    const limit = params.proofChain.maxTargetBefore
    expect(honest.target).toBeLessThan(limit / 4n)
    expect(await pool.admit(honest, 0)).toBe('early')
    const forged = async (change: Partial<ProofHeader>) =>
      pool.admit(await solve(CHAIN_ID, { ...honest, parentId: anchorHashOf(7), ...change }), 0)
    const outcomes = new Set<string>()
    for (let at = 0; at <= PROOF_CHAIN_LIMITS.earlyHeaders; at++)
      outcomes.add(await forged({ target: limit, extraNonce: Uint8Array.of(at) }))
    expect([...outcomes]).toEqual(['ahead'])
    expect(await forged({ height: state.tipHeight + PROOF_CHAIN_LIMITS.pendingDepth + 1 })).toBe('ahead')
    expect(await forged({ anchorNumber: head.number + params.proofChain.maxAnchorAgeBlocks + 1 })).toBe('ahead')
    // The bound does not know the headers between: a somewhat easier one is kept, and dropped first.
    for (let at = 0; at <= PROOF_CHAIN_LIMITS.earlyHeaders; at++)
      expect(await forged({ target: (honest.target * 5n) / 4n, extraNonce: Uint8Array.of(1, at) })).toBe('early')
    pool.onBlock(next, 0)
    await expect.poll(() => pool.best()?.id).toBe(proofHeaderId(honest))
  })

  test('of any chain above the tip meets the bound of targets', () => {
    const { params } = setUp(null)
    const { spacingBlocks } = params.proofChain
    const state = grow(params, 100, spacingBlocks >> 1)
    for (const gaps of [
      [1],
      [1, 1, 1, 1],
      [spacingBlocks, 1],
      [13 * spacingBlocks],
      [1, 15 * spacingBlocks],
      [12 * spacingBlocks + 1, 1, 7],
    ]) {
      let tip = state
      for (const gap of gaps) {
        const header = childOf(params, tip, tip.tipAnchor + gap)
        expect(header.target, `${gaps}`).toBeLessThanOrEqual(easiestTarget(params, state, header))
        tip = extendProofState(params, tip, header, proofHeaderId(header))
      }
    }
  })

  test('is answered with busy while too many are in verification, and verified when one of them is done', async () => {
    const { pool, calls, work } = setUp(0)
    const headers: ProofHeader[] = []
    for (let at = 0; at <= PROOF_CHAIN_LIMITS.verifying; at++)
      headers.push(await work(`0x${(at + 1).toString(16).padStart(40, '0')}`))
    let release = () => {}
    calls.held = new Promise(resolve => {
      release = resolve
    })
    const outcomes = headers.map(header => pool.admit(header, 0))
    release()
    const [last, ...first] = (await Promise.all(outcomes)).reverse()
    expect(last).toBe('busy')
    expect(new Set(first)).toEqual(new Set(['added']))
    // Its sender counts it as delivered and does not send it again.
    const late = proofHeaderId(headers.at(-1) as ProofHeader)
    await expect.poll(() => pool.get(late)?.id).toBe(late)
  })

  test('that is pending is dropped when blocks are taken back', async () => {
    const { pool, head, work } = setUp()
    await pool.admit(await work(), 0)
    pool.reset(head)
    expect(pool.size).toBe(0)
  })

  test('that is in verification when blocks are taken back is judged again on the chain as it is then', async () => {
    const { pool, calls, head, work } = setUp(0)
    const header = await work()
    const gate = Promise.withResolvers<void>()
    calls.held = gate.promise
    const outcome = pool.admit(header, 0).catch(error => error.code)
    await expect.poll(() => calls.count).toBe(1)
    pool.reset({ ...head, hash: anchorHashOf(1) })
    gate.resolve()
    expect(await outcome).toBe('PROOF_ANCHOR_HASH')
    expect(pool.size).toBe(0)
    pool.reset(head)
    expect(await pool.admit(header, 0), 'with its anchor').toBe('added')
  })
})

describe('the mix hash of a header', () => {
  test('is computed once, however often it is asked about, also at the same time, and for forgeries', async () => {
    const { calls, work, params } = setUp(0)
    const header = await work()
    const real = await argon2Provider()
    const verifier = createWorkVerifier(params.chainId, async () => ({
      ...real,
      hash: (...args) => {
        calls.count++
        return real.hash(...args)
      },
    }))
    await Promise.all([verifier.verify(header), verifier.verify(header)])
    await verifier.verify(header)
    expect(calls.count).toBe(1)
    const forged = { ...header, mixHash: new Uint8Array(32) }
    for (const _ of [1, 2]) await expect(verifier.verify(forged)).rejects.toMatchObject({ code: 'PROOF_MIX_HASH' })
    expect(calls.count).toBe(1)
    const { sealHash, nonce } = {
      sealHash: proofSealHash(params.chainId, header),
      nonce: Uint8Array.of(9, 9, 9, 9, 9, 9, 9, 9),
    }
    const share = await verifier.mixHash(sealHash, nonce)
    expect(calls.count).toBe(2)
    verifier.keep(sealHash, nonce, share)
    await verifier.verify({ ...header, nonce, mixHash: share })
    expect(calls.count).toBe(2)
  })
})
