import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/config/limits.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { sealBlock } from '../../../src/primitives/block.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { ACCOUNT_KEYS, ACCOUNTS, CERTIFICATE, signedRaw, type TestChain, withChain } from '../../support/chain.ts'
import { GatedEngine } from '../../support/gated-engine.ts'

const [ALICE_KEY, BOB_KEY] = ACCOUNT_KEYS as [Uint8Array, Uint8Array]
const BOB = ACCOUNTS[1] as Hex
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
        { mode: 'fast', engine: gated },
      ),
    { mode: 'fast', engine: quick },
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
    const lie = sealBlock({ ...header, stateRoot: `0x${'11'.repeat(32)}` }, { transactions, proofHeaders, evidence })
    const validating = chain.chain.validate(lie, FRESH)
    await engine.reached(1)
    const committing = chain.chain.commit(slow, CERTIFICATE)
    expect(await validating).toEqual(CANCELLED)
    engine.isOpen = true
    await committing
    expect(chain.chain.head().hash).toBe(slow.hash)
  }))

test('a block under construction that nobody wants any more is left', () =>
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
        budgetMs: LIMITS.block.buildMs,
        transactionMs: LIMITS.block.buildMs,
      },
      stopping.signal,
    )
    await engine.reached(1)
    stopping.abort()
    await expect(building).rejects.toMatchObject({ detail: { code: 'EXECUTION_INTERRUPTED' } })
    expect(engine.interrupted).toBe(1)
  }))

test('an invalid proposal that takes long and the block after it: the second is decided while the first still runs', () =>
  withSlowProposal(async (slow, { chain, engine }, { chain: other }) => {
    const { transactions, proofHeaders, evidence, header } = slow
    const lies = Array.from({ length: 5 }, (_, at) =>
      sealBlock({ ...header, stateRoot: `0x${`${at}${at}`.repeat(32)}` }, { transactions, proofHeaders, evidence }),
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
