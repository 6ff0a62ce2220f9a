import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { BUILD_LIMITS } from '../../../src/config/limits/execution.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { blockFromParts } from '../../../src/primitives/block.ts'
import { ACCOUNT_KEYS, ACCOUNTS, CERTIFICATE, signedRaw, type TestChain, withChain } from '../../support/chain.ts'
import { SteadyEngine } from '../../support/steady-engine.ts'
import { GatedEngine } from './gated-engine.ts'

const [ALICE_KEY, BOB_KEY, CAROL_KEY] = ACCOUNT_KEYS as [Uint8Array, Uint8Array, Uint8Array]
const [ALICE, BOB, CAROL] = ACCOUNTS as [Hex, Hex, Hex]
const FRESH = { number: 1, round: 0, fresh: true }
const CANCELLED = { valid: false, proven: false, reason: 'cancelled' }

interface Node {
  readonly chain: TestChain
  readonly engine: GatedEngine
}

/** Two chains, and a block of the first that holds code: on the second it does not end before its engine is opened. */
const withSlowProposal = (use: (block: Block, node: Node, other: Node) => Promise<void>): Promise<void> => {
  const quick = new GatedEngine({ isOpen: true })
  const gated = new GatedEngine({ isOpen: false })
  return withChain(
    other =>
      withChain(
        async chain => {
          await other.pool.service.submit(signedRaw(ALICE_KEY, { to: null, data: Uint8Array.of(0), gasLimit: 90_000n }))
          const block = await other.build()
          chain.clock.ms = other.clock.ms
          await use(block, { chain, engine: gated }, { chain: other, engine: quick })
        },
        { mode: 'wasm', engine: gated },
      ),
    { mode: 'wasm', engine: quick },
  )
}

test('while a proposal is validated blocks are built, judged and committed, and the commit ends the validation', () =>
  withSlowProposal(async (slow, { chain, engine }, { chain: other }) => {
    const validating = chain.chain.validate(slow, FRESH)
    await engine.reached(1)
    await chain.pool.service.submit(signedRaw(BOB_KEY, { to: BOB, value: 1n }))
    const built = await chain.build()
    expect(built.transactions).toHaveLength(1)
    other.clock.ms = chain.clock.ms
    expect(await other.chain.validate(built, FRESH)).toEqual({ valid: true })
    await chain.chain.commit(built, CERTIFICATE)
    expect(chain.chain.head()).toMatchObject({ number: 1, hash: built.hash })
    expect(await validating).toEqual(CANCELLED)
    expect(engine).toMatchObject({ begun: 1, interrupted: 1 })
    engine.isOpen = true
    const next = await chain.mine()
    expect(next.header.number).toBe(2)
  }))

test('a validation that was cancelled says nothing about the block, and is done again when asked for', () =>
  withSlowProposal(async (slow, { chain, engine }) => {
    const round = new AbortController()
    const validating = chain.chain.validate(slow, FRESH, round.signal)
    await engine.reached(1)
    round.abort()
    expect(await validating).toEqual(CANCELLED)
    const again = new AbortController()
    const second = chain.chain.validate(slow, { ...FRESH, round: 1 }, again.signal)
    await engine.reached(2)
    engine.isOpen = true
    expect(await second).toEqual({ valid: true })
    await chain.chain.commit(slow, CERTIFICATE)
    expect(engine).toMatchObject({ begun: 2, ended: 1, interrupted: 1 })
  }))

test('a block asked for again before the cancelled validation has ended is validated anew', () =>
  withSlowProposal(async (slow, { chain, engine }) => {
    const round = new AbortController()
    const first = chain.chain.validate(slow, FRESH, round.signal)
    await engine.reached(1)
    round.abort()
    const second = chain.chain.validate(slow, FRESH)
    expect(await first).toEqual(CANCELLED)
    engine.isOpen = true
    expect(await second).toEqual({ valid: true })
  }))

test('a decided block that is under validation is waited for, executed once, and no cancellation ends it then', () =>
  withSlowProposal(async (slow, { chain, engine }) => {
    const round = new AbortController()
    const validating = chain.chain.validate(slow, FRESH, round.signal)
    await engine.reached(1)
    const committing = chain.chain.commit(slow, CERTIFICATE)
    await new Promise(resolve => setImmediate(resolve))
    round.abort()
    engine.isOpen = true
    await committing
    expect(await validating).toEqual({ valid: true })
    expect(chain.chain.head().hash).toBe(slow.hash)
    expect(engine).toMatchObject({ begun: 1, ended: 1, interrupted: 0 })
  }))

test('a decided block that has to be executed has the thread to itself: other validations end', () =>
  withSlowProposal(async (slow, { chain, engine }) => {
    const { transactions, proofHeaders, evidence, header } = slow
    const lie = blockFromParts(
      { ...header, stateRoot: `0x${'11'.repeat(32)}` },
      { transactions, proofHeaders, evidence },
    )
    const validating = chain.chain.validate(lie, FRESH)
    await engine.reached(1)
    const committing = chain.chain.commit(slow, CERTIFICATE)
    expect(await validating).toEqual(CANCELLED)
    engine.isOpen = true
    await committing
    expect(chain.chain.head().hash).toBe(slow.hash)
  }))

test('a block under construction is abandoned once it is cancelled', () =>
  withSlowProposal(async (_, { chain, engine }) => {
    await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: null, data: Uint8Array.of(0), gasLimit: 90_000n }))
    const stopping = new AbortController()
    const { number, hash, timestamp } = chain.chain.head()
    const building = chain.chain.build(
      {
        number: number + 1,
        round: 0,
        parentHash: hash,
        timestamp: timestamp + 1,
        proposer: BOB,
        parentCertificate: null,
        budgetMs: BUILD_LIMITS.buildMs,
        transactionMs: BUILD_LIMITS.buildMs,
        gasShare: 1,
      },
      stopping.signal,
    )
    await engine.reached(1)
    stopping.abort()
    await expect(building).rejects.toMatchObject({ detail: { code: 'EXECUTION_INTERRUPTED' } })
    expect(engine.interrupted).toBe(1)
  }))

test('a transaction that does not end is stopped alone in its block too, and not tried again at once', async () => {
  const engine = new GatedEngine({ isOpen: false })
  await withChain(
    async chain => {
      engine.onWait = () => chain.clock.ms++
      const send = (key: Uint8Array, fields: object) => chain.pool.service.submit(signedRaw(key, fields))
      await send(ALICE_KEY, { to: null, data: Uint8Array.of(0), gasLimit: 90_000_000n })
      await send(ALICE_KEY, { nonce: 1, to: BOB, value: 1n })
      await send(BOB_KEY, { to: BOB, value: 1n })
      expect((await chain.mine()).transactions.map(({ from }) => from)).toEqual([BOB])
      expect(engine).toMatchObject({ begun: 1, interrupted: 1 })
      // A chain that makes blocks on demand makes none for it.
      expect(chain.chain.wantsBlock()).toBe(false)
      expect((await chain.mine()).transactions).toEqual([])
      expect(engine.begun).toBe(1)
      expect(chain.pool.service.counts()).toEqual({ pending: 2, queued: 0 })
    },
    { mode: 'wasm', engine },
  )
})

test('a transaction for which a block had no time left keeps its place by price in the next', async () => {
  const engine = new SteadyEngine(2)
  await withChain(
    async chain => {
      engine.clock = chain.clock
      const tip = (gwei: bigint) => ({ maxFeePerGas: gwei * 10n ** 9n, maxPriorityFeePerGas: gwei * 10n ** 9n })
      // Each takes 160 ms of the 250 that a block has.
      const fields = { to: null, data: Uint8Array.of(0), gasLimit: 80_000_000n }
      const send = (key: Uint8Array, more: object) => chain.pool.service.submit(signedRaw(key, { ...fields, ...more }))
      const mined = async () => (await chain.mine()).transactions.map(({ from }) => from)
      await send(ALICE_KEY, tip(90n))
      await send(BOB_KEY, tip(50n))
      expect(await mined()).toEqual([ALICE])
      await send(CAROL_KEY, tip(90n))
      expect(await mined()).toEqual([CAROL])
      // It had 90 ms, and waits for nothing once a block has twice as much for it.
      expect(await mined()).toEqual([BOB])
    },
    { mode: 'wasm', engine },
  )
})

test('an invalid proposal that takes long and the block after it: the second is decided while the first still runs', () =>
  withSlowProposal(async (slow, { chain, engine }, { chain: other }) => {
    const { transactions, proofHeaders, evidence, header } = slow
    const lies = Array.from({ length: 5 }, (_, at) =>
      blockFromParts(
        { ...header, stateRoot: `0x${`${at}${at}`.repeat(32)}` },
        { transactions, proofHeaders, evidence },
      ),
    )
    const verdicts = lies.map(lie => chain.chain.validate(lie, FRESH))
    await engine.reached(5)
    const honest = await other.build()
    // Its transaction is code as well, so it would wait here; an empty one does not.
    expect(honest.transactions).toHaveLength(1)
    const empty = await chain.build()
    await chain.chain.commit(empty, CERTIFICATE)
    expect(await Promise.all(verdicts)).toEqual(lies.map(() => CANCELLED))
    expect(engine.interrupted).toBe(5)
  }))
