import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { recoverTransaction } from '../../../devtools/state-test/transaction-sender.ts'
import type { CommittedEvent } from '../../../src/chain/store/types.ts'
import { verifyChain } from '../../../src/chain/verify-chain.ts'
import { COUNCIL_ADDRESS } from '../../../src/config/networks.ts'
import { type Block, blockFromParts } from '../../../src/primitives/block.ts'
import type { Header } from '../../../src/primitives/header.ts'
import { transactionsRoot } from '../../../src/primitives/roots.ts'
import { decodeTransaction, type Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey } from '../../../src/storage/keys.ts'
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  CERTIFICATE,
  openTestChain,
  START_WEI,
  signedRaw,
  type TestChain,
  VALIDATOR,
  withChain,
} from '../../support/chain.ts'
import { GatedEngine } from './gated-engine.ts'

const [ALICE_KEY, BOB_KEY] = ACCOUNT_KEYS as [Uint8Array, Uint8Array]
const [ALICE, BOB] = ACCOUNTS as [Hex, Hex]
const FRESH = { number: 0, round: 0, fresh: true }

const send = (chain: TestChain, nonce: number, value = 5n, key = ALICE_KEY) =>
  chain.pool.service.submit(signedRaw(key, { nonce, to: BOB, value }))

test('a transaction is built into a block, committed, found again and paid for', () =>
  withChain(async chain => {
    const events: CommittedEvent[] = []
    chain.chain.onCommitted(event => events.push(event))
    const hash = await send(chain, 0)
    const block = await chain.mine()
    expect(block.transactions.map(tx => tx.hash)).toEqual([hash])
    expect(events).toHaveLength(1)
    expect(await chain.blocks.locate(hash)).toEqual({ number: 1, index: 0 })
    expect(chain.world.head.account(BOB)?.balance).toBe(START_WEI + 5n)
    const fee = 21_000n * 27_500_000_000n
    expect(chain.world.head.account(ALICE)).toMatchObject({ nonce: 1, balance: START_WEI - 5n - fee })
    expect(chain.pool.service.counts()).toEqual({ pending: 0, queued: 0 })
  }))

test('a warm-up builds and validates, takes nothing from the pool and leaves no block', () =>
  withChain(async chain => {
    await send(chain, 0)
    const { number } = chain.chain.headBlock.header
    await chain.chain.warmUp(VALIDATOR)
    expect(chain.chain.headBlock.header.number).toBe(number)
    expect(chain.pool.service.counts()).toEqual({ pending: 1, queued: 0 })
    expect((await chain.mine()).transactions).toHaveLength(1)
    await chain.chain.warmUp(VALIDATOR)
  }))

test('half of a fee is burnt, a fifth is the proposer’s, the rest the foundation’s without a miner', () =>
  withChain(async chain => {
    await send(chain, 0)
    await chain.mine()
    const fee = 21_000n * 27_500_000_000n
    // The devnet's validator is also its foundation.
    expect(chain.world.head.account(VALIDATOR)?.balance).toBe(fee / 2n)
    expect(await chain.economy.supply(1)).toMatchObject({ totalBurnt: fee / 2n, totalMinted: 0n })
    const rewards = await chain.economy.rewards(1)
    expect(rewards).toMatchObject({
      totalFee: fee,
      burntFee: fee / 2n,
      proposer: fee / 5n,
      miner: 0n,
      foundation: (fee * 3n) / 10n,
    })
  }))

test('the sum of all balances is genesis + minted - burnt at every block, over a reward cycle', () =>
  withChain(async chain => {
    for (let nonce = 0; nonce < 61; nonce++) {
      await send(chain, nonce, BigInt(nonce) * 10n ** 15n + 1n)
      await chain.mine()
      const sum = [...ACCOUNTS, VALIDATOR, COUNCIL_ADDRESS].reduce(
        (total, who) => total + (chain.world.head.account(who)?.balance ?? 0n),
        0n,
      )
      expect((await chain.economy.supply(nonce + 1))?.totalSupply).toBe(sum)
    }
    expect((await chain.economy.supply(61))?.totalMinted).toBe(2_000n * 10n ** 18n)
  }))

test('another node judges a block valid, commits it and stands on the same state', () =>
  withChain(async proposer =>
    withChain(async other => {
      await send(proposer, 0)
      await send(proposer, 0, 9n, BOB_KEY)
      const block = await proposer.mine()
      other.clock.ms = proposer.clock.ms
      expect(await other.chain.validate(block, FRESH)).toEqual({ valid: true })
      await other.chain.commit(block, CERTIFICATE)
      expect(other.world.root).toBe(proposer.world.root)
      expect(other.chain.head()).toEqual(proposer.chain.head())
    }),
  ))

const bodyOf = ({ transactions, proofHeaders, evidence }: Block) => ({ transactions, proofHeaders, evidence })
const tampered = (block: Block, change: Partial<Header>): Block =>
  blockFromParts({ ...block.header, ...change }, bodyOf(block))

test.each<[string, Partial<Header>, RegExp]>([
  ['state root', { stateRoot: `0x${'11'.repeat(32)}` }, /stateRoot/],
  ['receipts root', { receiptsRoot: `0x${'11'.repeat(32)}` }, /receiptsRoot/],
  ['transactions root', { transactionsRoot: `0x${'11'.repeat(32)}` }, /BODY_TRANSACTIONS_ROOT/],
  ['gas used', { gasUsed: 20_999n }, /gasUsed/],
  ['base fee', { baseFeePerGas: 26n * 10n ** 9n }, /HEADER_BASE_FEE/],
  ['bloom', { logsBloom: new Uint8Array(256).fill(1) }, /logsBloom/],
  ['miner', { miner: `0x${'22'.repeat(20)}` }, /miner/],
  ['timestamp', { timestamp: 1_735_689_600 }, /HEADER_TIMESTAMP_TOO_EARLY/],
  ['number', { number: 7 }, /HEADER_NUMBER/],
  ['difficulty', { difficulty: 2n }, /HEADER_DIFFICULTY/],
])('a block with a wrong %s is proven invalid, and nothing of it stays', (_, change, reason) =>
  withChain(async proposer =>
    withChain(async other => {
      await send(proposer, 0)
      const block = await proposer.mine()
      other.clock.ms = proposer.clock.ms
      const proposalVerdict = await other.chain.validate(tampered(block, change), FRESH)
      expect(proposalVerdict).toMatchObject({ valid: false, proven: true, reason: expect.stringMatching(reason) })
      expect(await other.chain.validate(block, FRESH)).toEqual({ valid: true })
      expect(other.chain.head().number).toBe(0)
    }),
  ),
)

/** The same header over other transactions. */
const withTransactions = (block: Block, transactions: readonly Transaction[], gasUsed: bigint): Block =>
  blockFromParts(
    { ...block.header, transactionsRoot: transactionsRoot(transactions), gasUsed },
    { ...bodyOf(block), transactions },
  )

test('a block with an unpayable transaction is proven invalid', () =>
  withChain(async chain => {
    const empty = await chain.build()
    const unpayable = recoverTransaction(
      decodeTransaction(signedRaw(ALICE_KEY, { nonce: 0, to: BOB, value: START_WEI })),
    )
    const verdict = await chain.chain.validate(withTransactions(empty, [unpayable], 21_000n), FRESH)
    expect(verdict).toMatchObject({ valid: false, proven: true })
    expect(verdict).toMatchObject({
      reason: expect.stringMatching(/INVALID_TRANSACTION.*"index":0.*INSUFFICIENT_FUNDS/),
    })
  }))

test('a block ahead of this clock is refused without proof, and validates once its second has come', () =>
  withChain(async proposer =>
    withChain(async other => {
      await send(proposer, 0)
      proposer.clock.ms += 10_000
      const block = await proposer.build()
      const verdict = await other.chain.validate(block, FRESH)
      expect(verdict).toMatchObject({ valid: false, proven: false, reason: expect.stringMatching(/IN_FUTURE/) })
      other.clock.ms = proposer.clock.ms
      expect(await other.chain.validate(block, FRESH)).toEqual({ valid: true })
    }),
  ))

describe('an engine that breaks on a transaction', () => {
  /** Fails as often as told, then runs code as it should. */
  class FlakyEngine extends GatedEngine {
    failures = 0

    override async run(...args: Parameters<GatedEngine['run']>): ReturnType<GatedEngine['run']> {
      if (this.failures-- > 0) throw new RangeError('no memory')
      return super.run(...args)
    }
  }

  /** A block with code of one chain, and another chain whose engine breaks. */
  const withBroken = (use: (block: Block, chain: TestChain, engine: FlakyEngine) => Promise<void>): Promise<void> => {
    const engine = new FlakyEngine({ isOpen: true })
    return withChain(
      proposer =>
        withChain(
          async chain => {
            await proposer.pool.service.submit(
              signedRaw(ALICE_KEY, { to: null, data: Uint8Array.of(0), gasLimit: 90_000n }),
            )
            const block = await proposer.build()
            expect(block.transactions).toHaveLength(1)
            chain.clock.ms = proposer.clock.ms
            await use(block, chain, engine)
          },
          { mode: 'wasm', engine },
        ),
      { mode: 'wasm', engine: new GatedEngine({ isOpen: true }) },
    )
  }

  test('proves nothing about the block: it validates once the engine works', () =>
    withBroken(async (block, { chain }, engine) => {
      engine.failures = 1
      const verdict = await chain.validate(block, FRESH)
      expect(verdict).toMatchObject({ valid: false, proven: false })
      expect(verdict).toMatchObject({ reason: expect.stringMatching(/EXECUTION_FAULT.*no memory/) })
      expect(await chain.validate(block, FRESH)).toEqual({ valid: true })
    }))

  test('refuses the commit of a decided block with its own fault, and the head stays', () =>
    withBroken(async (block, { chain }, engine) => {
      engine.failures = Number.POSITIVE_INFINITY
      await expect(chain.commit(block, CERTIFICATE)).rejects.toMatchObject({
        detail: { code: 'EXECUTION_FAULT', index: 0, hash: block.transactions[0]?.hash, message: 'no memory' },
      })
      expect(chain.head().number).toBe(0)
    }))

  test('that worked again by the time of the decision is asked anew', () =>
    withBroken(async (block, { chain }, engine) => {
      engine.failures = 1
      await Promise.all([chain.validate(block, FRESH), chain.commit(block, CERTIFICATE)])
      expect(chain.head().number).toBe(1)
    }))
})

test('committing twice is harmless, and a committed number is never given another block', () =>
  withChain(async chain => {
    const first = await chain.mine()
    await chain.chain.commit(first, CERTIFICATE)
    expect(chain.chain.head().number).toBe(1)
    await expect(chain.chain.commit(tampered(first, { gasUsed: 1n }), CERTIFICATE)).rejects.toThrow(/never replaced/)
  }))

test('candidates of several rounds leave no trace but the one committed', () =>
  withChain(async chain => {
    await send(chain, 0)
    const a = await chain.build()
    await send(chain, 0, 3n, BOB_KEY)
    const b = await chain.build()
    expect(a.hash).not.toBe(b.hash)
    await chain.chain.commit(a, CERTIFICATE)
    expect(chain.chain.headBlock.transactions).toHaveLength(1)
    const next = await chain.mine()
    expect(next.transactions).toHaveLength(1)
    expect((await verifyChain(chain.store, { from: 0 })).problems).toEqual([])
  }))

test('a check that begins after the head is refused, and does not find nothing consistent', () =>
  withChain(async chain => {
    await chain.mine()
    expect(await verifyChain(chain.store, { from: 1 })).toMatchObject({ blocks: 1, problems: [] })
    await expect(verifyChain(chain.store, { from: 2 })).rejects.toThrow('The chain ends at block 1, before block 2.')
  }))

test('a reopened folder goes on where it stood, with the pool’s local transactions', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-chain-'))
  try {
    const before = await openTestChain(dir)
    await send(before, 0)
    await before.mine()
    await send(before, 1)
    const head = before.chain.head()
    await before.close()
    const after = await openTestChain(dir)
    expect(plain(after.chain.head())).toEqual(plain(head))
    expect(after.pool.service.counts().pending).toBe(1)
    const block = await after.mine()
    expect(block.transactions).toHaveLength(1)
    expect((await verifyChain(after.store, { from: 0 })).problems).toEqual([])
    await after.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

/** Rows come back as Buffers, which vitest tells from Uint8Arrays. */
const plain = (value: unknown) => structuredClone(value)

test.each([
  ['receipts', BUCKETS.receipts, /receipts root|one receipt for each/],
  ['certificate', BUCKETS.certificate, /no certificate/],
] as const)('verification finds a damaged %s row', (_, bucket, problem) =>
  withChain(async chain => {
    await send(chain, 0)
    await chain.mine()
    const batch = chain.store.batch()
    if (bucket === BUCKETS.receipts) {
      const row = (await chain.store.get(bucket, numberKey(1))) as Uint8Array
      row[row.length - 2] = (row[row.length - 2] as number) ^ 1
      batch.put(bucket, numberKey(1), row)
    } else batch.del(bucket, numberKey(1))
    await batch.write()
    const { problems } = await verifyChain(chain.store, { from: 0 })
    expect(problems.join('\n')).toMatch(problem)
  }),
)

test.each([
  ['header', BUCKETS.header],
  ['body', BUCKETS.body],
  ['receipts', BUCKETS.receipts],
  ['certificate', BUCKETS.certificate],
] as const)('verification names a %s row that cannot be read, and goes on behind it', (_, bucket) =>
  withChain(async chain => {
    for (let nonce = 0; nonce < 3; nonce++) {
      await send(chain, nonce)
      await chain.mine()
    }
    const batch = chain.store.batch()
    batch.put(bucket, numberKey(1), Uint8Array.of(1, 2, 3))
    batch.del(BUCKETS.blockNumber, hexToBytes(chain.chain.headBlock.hash))
    await batch.write()
    const { problems } = await verifyChain(chain.store, { from: 0 })
    expect(problems.join('\n')).toMatch(/block 1: cannot be read/)
    expect(problems.join('\n')).toMatch(/block 3: lookup of its hash/)
  }),
)
