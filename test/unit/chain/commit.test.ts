import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test, vi } from 'vitest'
import { CHAIN_LIMITS } from '../../../src/config/limits/chain.ts'
import { COUNCIL_ADDRESS } from '../../../src/config/networks.ts'
import { Batch } from '../../../src/storage/batch.ts'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey, readNumber } from '../../../src/storage/keys.ts'
import { metaKey } from '../../../src/storage/schema.ts'
import { Store } from '../../../src/storage/store.ts'
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  CERTIFICATE,
  openTestChain,
  signedRaw,
  VALIDATOR,
  withChain,
} from '../../support/chain.ts'

const [ALICE_KEY] = ACCOUNT_KEYS as [Uint8Array]
const [ALICE, BOB] = ACCOUNTS as [Hex, Hex]
const FRESH = { number: 0, round: 0, fresh: true }

test('a decided block is committed also by a node whose clock is behind', () =>
  withChain(async proposer =>
    withChain(async other => {
      const block = await proposer.mine()
      other.clock.ms = proposer.clock.ms - 3_600_000
      // Its own vote it may withhold; what a quorum sealed is final.
      expect(await other.chain.validate(block, FRESH)).toMatchObject({ valid: false })
      await other.chain.commit(block, CERTIFICATE)
      expect(other.chain.head().number).toBe(1)
    }),
  ))

test('head and state move together: at no moment is one seen without the other', () =>
  withChain(async chain => {
    await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: BOB, value: 5n }))
    const block = await chain.build()
    const seen = new Set<string>()
    let done = false
    const committing = chain.chain.commit(block, CERTIFICATE).finally(() => {
      done = true
    })
    while (!done) {
      seen.add(`${chain.chain.headBlock.header.number} ${chain.world.head.account(ALICE)?.nonce}`)
      await new Promise(resolve => setImmediate(resolve))
    }
    await committing
    seen.add(`${chain.chain.headBlock.header.number} ${chain.world.head.account(ALICE)?.nonce}`)
    expect([...seen]).toEqual(['0 0', '1 1'])
  }))

test('blocks put no empty values, of which the addon never frees its copies', () =>
  withChain(async chain => {
    const puts = vi.spyOn(Batch.prototype, 'put')
    await chain.mine()
    await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: `0x${'5'.repeat(40)}`, value: 5n }))
    // Init code that stores 1 in slot 0.
    const storing = { to: null, data: Buffer.from('600160005500', 'hex'), gasLimit: 200_000n, nonce: 1 }
    await chain.pool.service.submit(signedRaw(ALICE_KEY, storing))
    await chain.mine()
    const rows = puts.mock.calls.map(([bucket, , value]) => ({ bucket, bytes: value.byteLength }))
    puts.mockRestore()
    const { accountHistory, slotHistory, supply, transactionPlace } = BUCKETS
    expect(rows.map(({ bucket }) => bucket)).toEqual(
      expect.arrayContaining([accountHistory, slotHistory, supply, transactionPlace]),
    )
    expect(rows.filter(({ bytes }) => bytes === 0)).toEqual([])
  }))

test('a listener that fails stops neither the chain nor the other listeners', () =>
  withChain(async chain => {
    const heard: number[] = []
    chain.chain.onCommitted(() => {
      throw new Error('a face broke')
    })
    chain.chain.onCommitted(({ block }) => heard.push(block.header.number))
    await chain.mine()
    await chain.mine()
    expect(heard).toEqual([1, 2])
    expect(chain.chain.head().number).toBe(2)
  }))

test('what a contract destroys together with itself counts as burnt: the supply stays the sum of all balances', () =>
  withChain(async chain => {
    // ADDRESS SELFDESTRUCT as init code: the contract ends in the transaction that made it, its own beneficiary (EIP-6780).
    const data = Uint8Array.of(0x30, 0xff)
    await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: null, value: 1_000n, data, gasLimit: 200_000n }))
    const block = await chain.mine()
    expect((await chain.blocks.receipts(1))?.[0]?.status).toBe(1)
    const sum = [...ACCOUNTS, VALIDATOR, COUNCIL_ADDRESS].reduce(
      (total, who) => total + (chain.world.head.account(who)?.balance ?? 0n),
      0n,
    )
    const supply = await chain.economy.supply(1)
    const fee = block.header.gasUsed * 27_500_000_000n
    expect(supply).toMatchObject({ totalSupply: sum, totalBurnt: fee / 2n + 1_000n })
  }))

test('the end of a cycle reads the headers of its blocks, not their transactions', () =>
  withChain(async (chain, dir) => {
    for (let number = 1; number < 60; number++) await chain.mine()
    await chain.close()
    const store = await Store.open(join(dir, 'db'))
    const batch = store.batch()
    for (let number = 1; number < 59; number++) batch.del(BUCKETS.body, numberKey(number))
    await batch.write()
    await store.close()
    const again = await openTestChain(dir)
    try {
      await again.mine()
      expect(again.world.head.account(VALIDATOR)?.balance).toBe(2_000n * 10n ** 18n)
    } finally {
      await again.close()
    }
  }))

test('blocks are synced when asked for; a start misses those that a machine lost', () =>
  withChain(async (source, dir) => {
    const path = join(dir, 'follower')
    const follower = await openTestChain(path, { mode: 'wasm' })
    for (let number = 1; number <= 5; number++) {
      const block = await source.mine()
      await follower.chain.commit(block, CERTIFICATE)
      if (number === 2) await follower.chain.flush()
    }
    expect(follower.chain.head()).toEqual(source.chain.head())
    await follower.close()
    const again = await openTestChain(path, { mode: 'wasm' })
    expect(again.chain.head().hash).toBe(source.chain.head().hash)
    await again.close()

    await removeRow(path, 4)
    await expect(openTestChain(path)).rejects.toMatchObject({ detail: { code: 'STORE_INCOMPLETE', since: 2, head: 5 } })
  }))

test('blocks below the last one that was synced are not counted', () =>
  withChain(async (source, dir) => {
    const path = join(dir, 'follower')
    const follower = await openTestChain(path, { mode: 'wasm' })
    for (let number = 1; number <= 3; number++) {
      await follower.chain.commit(await source.mine(), CERTIFICATE)
      if (number < 3) await Promise.all([follower.chain.flush(), follower.chain.flush()])
    }
    await follower.close()
    await removeRow(path, 1)
    const again = await openTestChain(path, { mode: 'wasm' })
    expect(again.chain.head().number).toBe(3)
    await again.close()
  }))

test('of a long run of blocks that nobody syncs few are left to count for a start', { timeout: 120_000 }, () =>
  withChain(async ({ mine, store }) => {
    const head = CHAIN_LIMITS.unsyncedBlocks + 2
    for (let number = 1; number <= head; number++) await mine()
    expect(readNumber(store.getSync(BUCKETS.meta, metaKey('unsynced')) as Uint8Array)).toBe(head - 2)
  }),
)

/** The header of a block is lost. */
const removeRow = async (dir: string, number: number): Promise<void> => {
  const store = await Store.open(join(dir, 'db'))
  await store.batch().del(BUCKETS.header, numberKey(number)).write()
  await store.close()
}
