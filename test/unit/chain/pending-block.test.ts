import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { PendingBlockBuilder } from '../../../src/chain/pending-block.ts'
import type { TransactionSource } from '../../../src/evm/executor-types.ts'
import { devnetGenesis } from '../../../src/node/genesis/devnet-genesis.ts'
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  CERTIFICATE,
  START_WEI,
  signedRaw,
  type TestChain,
  VALIDATOR,
  withChain,
} from '../../support/chain.ts'
import { GatedEngine } from './gated-engine.ts'

const [ALICE_KEY, BOB_KEY] = ACCOUNT_KEYS as [Uint8Array, Uint8Array]
const [ALICE, BOB] = ACCOUNTS as [Hex, Hex]

const poolOf = (chain: TestChain) => ({
  select: (baseFee: bigint) => chain.pool.service.select(baseFee),
  version: chain.pool.version,
})

const pendingOf = (chain: TestChain, select?: (baseFee: bigint) => TransactionSource): PendingBlockBuilder =>
  new PendingBlockBuilder({
    chain: chain.chain,
    world: chain.world,
    executor: chain.executor,
    rules: chain.rules,
    blockTimeMs: chain.blockTimeMs,
    pool: { select: select ?? (baseFee => chain.pool.service.select(baseFee)), version: chain.pool.version },
    coinbase: VALIDATOR,
    clock: chain.clock,
  })

test.each([
  [0, 0],
  [250, 0],
  [1_000, 1],
  [3_000, 3],
])(
  'with a block time of %i ms the pending block lies at least %i s after its parent, as a real one',
  (blockTimeMs, step) =>
    withChain(
      async chain => {
        await chain.mine()
        const { timestamp } = chain.chain.headBlock.header
        chain.clock.ms = timestamp * 1_000
        expect((await pendingOf(chain).state()).block.header.timestamp).toBe(timestamp + step)
      },
      { genesis: devnetGenesis({ accounts: ACCOUNTS, balanceWei: START_WEI, validator: VALIDATOR, blockTimeMs }) },
    ),
)

test('the pending state is that of the head with what the pool changes, and reading it keeps nothing', () =>
  withChain(async chain => {
    await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: BOB, value: 5n }))
    const pending = await pendingOf(chain).state()
    expect(pending.state.account(ALICE)?.nonce).toBe(1)
    expect(pending.state.account(BOB)?.balance).toBe(START_WEI + 5n)
    expect(pending.state.account(`0x${'77'.repeat(20)}`)).toBeUndefined()
    expect(pending.state.storage(BOB, `0x${'00'.repeat(32)}`)).toBe(`0x${'00'.repeat(32)}`)
  }))

test('a build that failed is tried again by the next who asks', () =>
  withChain(async chain => {
    let broken = true
    const pending = pendingOf(chain, baseFee => {
      if (broken) throw new Error('not now')
      return chain.pool.service.select(baseFee)
    })
    await expect(pending.state()).rejects.toThrow('not now')
    broken = false
    expect((await pending.state()).block.header.number).toBe(1)
  }))

test('however many ask while the pool moves, one build at most waits: blocks are not held up behind a queue of them', () =>
  withChain(async chain => {
    let version = 0
    let builds = 0
    const pending = new PendingBlockBuilder({
      ...chain,
      pool: {
        select(baseFee) {
          builds++
          return chain.pool.service.select(baseFee)
        },
        version: () => version,
      },
      coinbase: VALIDATOR,
    })
    const asked: Promise<unknown>[] = []
    for (; version < 100; version++) {
      asked.push(pending.state())
      if (version % 10 === 0) await Promise.resolve()
    }
    await Promise.all(asked)
    expect(builds).toBeLessThanOrEqual(2)
    await pending.state()
    const before = builds
    await pending.state()
    expect(builds).toBe(before)
  }))

test('a transaction that does not end leaves the pending block to the others, and is not tried a second time', async () => {
  const engine = new GatedEngine({ isOpen: false })
  await withChain(
    async chain => {
      await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: null, data: Uint8Array.of(0), gasLimit: 9_000_000n }))
      await chain.pool.service.submit(signedRaw(BOB_KEY, { to: BOB, value: 1n }))
      const clock = { nowMs: () => chain.clock.ms + performance.now(), schedule: () => () => {} }
      const pending = new PendingBlockBuilder({ ...chain, pool: poolOf(chain), coinbase: VALIDATOR, clock })
      expect((await pending.state()).block.transactions.map(({ from }) => from)).toEqual([BOB])
      expect(engine).toMatchObject({ begun: 1, interrupted: 1 })
      await chain.pool.service.submit(signedRaw(BOB_KEY, { nonce: 1, to: BOB, value: 1n }))
      await expect.poll(async () => (await pending.state()).block.transactions.length).toBe(2)
      expect(engine.begun).toBe(1)
    },
    { mode: 'wasm', engine },
  )
})

test('the pending block is built beside the chain: a block under construction does not hold it up, and it holds up no commit', async () => {
  const engine = new GatedEngine({ isOpen: false })
  await withChain(
    async chain => {
      const next = await chain.build()
      await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: null, data: Uint8Array.of(0), gasLimit: 90_000n }))
      const pending = pendingOf(chain)
      const asked = pending.state()
      await engine.reached(1)
      // The head moves under it: it is built again on the new one.
      await chain.chain.commit(next, CERTIFICATE)
      engine.isOpen = true
      expect((await asked).block.header.number).toBe(2)
      engine.isOpen = false
      const building = chain.build()
      await engine.reached(engine.begun + 1)
      await chain.pool.service.drop([...chain.pool.service.content().pending.values()].flat().map(({ hash }) => hash))
      await chain.pool.service.submit(signedRaw(BOB_KEY, { to: BOB, value: 1n }))
      expect((await pending.state()).block.transactions).toHaveLength(1)
      engine.isOpen = true
      await building
    },
    { mode: 'wasm', engine },
  )
})
