import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { DEV_LIMITS } from '../../../../src/config/limits/chain.ts'
import { type Ask, withDevNode as withNode } from '../../../support/dev-node.ts'
import { withTempDir } from '../../../support/devnet.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const head = async (ask: (method: string) => Promise<unknown>) => Number(await ask('eth_blockNumber'))

describe('what comes at once', () => {
  test('edits, blocks, transactions and reverts asked for together leave one whole chain', async () => {
    await withNode(async ask => {
      await ask('anvil_autoImpersonateAccount', true)
      await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
      const id = await ask('evm_snapshot')
      const send = (nonce: number) =>
        ask('eth_sendTransaction', {
          from: ALICE,
          to: BOB,
          value: '0x1',
          gas: '0x5208',
          nonce: `0x${nonce.toString(16)}`,
        })
      const work = [0, 1, 2, 3, 4, 5, 6, 7].flatMap(i => [
        send(i),
        ask('hardhat_mine', 3),
        ask('anvil_setBalance', `0x${i.toString(16).padStart(40, 'c')}`, i + 1),
      ])
      await Promise.all(work)
      expect(await ask('eth_getBalance', BOB, 'latest')).toBe('0x8')
      expect(await head(ask)).toBeGreaterThanOrEqual(24 + 1)
      const [reverted] = await Promise.all([ask('evm_revert', id), ask('evm_mine'), ask('evm_mine')])
      expect(reverted).toBe(true)
      expect(await head(ask)).toBe(2)
      expect(await ask('eth_getBalance', BOB, 'latest')).toBe('0x0')
      expect(await ask('eth_getTransactionCount', ALICE, 'pending')).toBe('0x0')
    })
  })

  test('a stop ends a long row of blocks, and a transaction sent meanwhile', async () => {
    await withNode(async (ask, { stop }) => {
      const long = ask('hardhat_mine', DEV_LIMITS.mineBlocks).catch(() => 'ended')
      await sleep(100)
      await stop()
      await long
    })
  })
})

describe('timestamps of blocks for transactions', () => {
  const timestamps = async (ask: Ask) => {
    await ask('anvil_autoImpersonateAccount', true)
    await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
    for (let i = 0; i < 4; i++) await ask('eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x5208' })
    const of = async (number: number) =>
      Number((await ask<{ timestamp: string }>('eth_getBlockByNumber', `0x${number}`, false)).timestamp)
    return Promise.all([1, 2, 3, 4].map(of))
  }

  test('are a second apart at least, ahead of the clock if need be, and so is the pending one', async () => {
    await withNode(async ask => {
      const began = Math.floor(Date.now() / 1_000)
      const [first = 0, ...rest] = await timestamps(ask)
      expect(first).toBeGreaterThanOrEqual(began)
      let last = first
      for (const timestamp of rest) {
        expect(timestamp).toBeGreaterThan(last)
        last = timestamp
      }
      const pending = await ask<{ timestamp: string }>('eth_getBlockByNumber', 'pending', false)
      expect(Number(pending.timestamp)).toBeGreaterThan(last)
      // The time goes on from the last block: helpers that move it count from there.
      await ask('evm_increaseTime', 100)
      await ask('evm_mine')
      const mined = await ask<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
      expect(Number(mined.timestamp) - last).toBeGreaterThanOrEqual(100)
    })
  })

  test('follow the clock alone where that was asked for', async () => {
    await withNode(
      async ask => {
        const began = performance.now()
        const [first = 0, , , last = 0] = await timestamps(ask)
        expect(last - first).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 1_000))
      },
      { devnet: { sameTimestamps: true } },
    )
  })
})

describe('blocks by time', () => {
  const interval = { params: { blockTimeMs: 1_000 } }
  const timestampOfHead = async (ask: Ask) =>
    Number((await ask<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)).timestamp)
  const nextBlock = async (ask: Ask) => {
    const before = await head(ask)
    await expect.poll(() => head(ask)).toBeGreaterThan(before)
  }

  test('go on after a restart of a chain whose time is ahead of the clock, and from its time', () =>
    withTempDir(async dataDir => {
      await withNode(
        async ask => {
          await ask('evm_increaseTime', 40 * 86_400)
          await nextBlock(ask)
        },
        { dataDir, ...interval },
      )
      await withNode(
        async ask => {
          const before = await timestampOfHead(ask)
          await nextBlock(ask)
          expect((await timestampOfHead(ask)) - before).toBeGreaterThan(0)
          expect((await timestampOfHead(ask)) - before).toBeLessThan(86_400)
        },
        { dataDir, ...interval },
      )
    }))

  test('go on when the time is set before that of the head', () =>
    withNode(async ask => {
      await nextBlock(ask)
      await ask('evm_setTime', 0)
      await nextBlock(ask)
    }, interval))
})

describe('bounds', () => {
  test('more blocks, snapshots and numbers than there may be are refused in words', async () => {
    await withNode(async ask => {
      await expect(ask('hardhat_mine', DEV_LIMITS.mineBlocks + 1)).rejects.toThrow('at most 100000 blocks at once')
      await expect(ask('evm_increaseTime', '-1')).rejects.toThrow('invalid argument 1: want a number from 0 on')
      await expect(ask('evm_increaseTime', 2 ** 60)).rejects.toThrow('invalid argument 1')
      await expect(ask('hardhat_setBalance', ALICE, `0x${'f'.repeat(65)}`)).rejects.toThrow('invalid argument 2')
      await expect(ask('hardhat_setStorageAt', ALICE, '0x0', '0x1')).rejects.toThrow('invalid argument 3')
      await expect(ask('evm_setNextBlockTimestamp', 5)).rejects.toThrow('lower than or equal')
      expect(await ask('evm_revert', '0x63')).toBe(false)
      expect(await head(ask)).toBe(0)
    })
  })
})

test('automine waits for nothing it cannot have, and a transaction behind a gap is answered', async () => {
  await withNode(async ask => {
    await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
    const gap = { from: ALICE, to: BOB, value: '0x1', gas: '0x5208', nonce: '0x1' }
    const hash = await ask('eth_sendUnsignedTransaction', gap)
    expect(await ask('eth_getTransactionReceipt', hash)).toBeNull()
    expect(await head(ask)).toBe(0)
    await ask('eth_sendUnsignedTransaction', { ...gap, nonce: '0x0' })
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0x1' })
    // An edit takes the money of one that waits.
    await ask('evm_setAutomine', false)
    const waiting = await ask('eth_sendUnsignedTransaction', { ...gap, nonce: '0x2' })
    await ask('anvil_setBalance', ALICE, '0x1')
    expect(await ask('eth_getTransactionByHash', waiting)).toBeNull()
    await ask('evm_setAutomine', true)
    expect(await head(ask)).toBe(1)
  })
})

test.each([true, false])(
  'snapshots go back, again and again, where the chain ends with the process: %s',
  async ephemeral => {
    await withNode(
      async (ask, { dataDir }) => {
        await ask('anvil_autoImpersonateAccount', true)
        await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
        await ask('evm_mine')
        let id = await ask('evm_snapshot')
        const send = (value: string) =>
          ask<string>('eth_sendTransaction', { from: ALICE, to: BOB, value, gas: '0x5208' })
        const hashes: string[] = []
        for (let round = 1; round <= 5; round++) {
          hashes.push(await send(`0x${round}`), await send('0x10'))
          expect(await ask('eth_getBalance', BOB, 'latest')).toBe(`0x1${round}`)
          expect(await ask('evm_revert', id)).toBe(true)
          id = await ask('evm_snapshot')
          expect(await head(ask)).toBe(1)
          for (const hash of hashes) expect(await ask('eth_getTransactionReceipt', hash)).toBeNull()
        }
        // The consensus log and the transaction journal matter only after a restart, so an ephemeral chain writes neither.
        expect(existsSync(join(dataDir, 'consensus'))).toBe(!ephemeral)
        expect(existsSync(join(dataDir, 'transactions.journal'))).toBe(!ephemeral)
      },
      { ephemeral },
    )
  },
)

test.each([
  ['all', async (ask: Ask) => ask('anvil_dropAllTransactions')],
  ['of an account', async (ask: Ask) => ask('anvil_removePoolTransactions', ALICE)],
  ['by hash', async (ask: Ask, hash: unknown) => ask('anvil_dropTransaction', hash)],
])('transactions dropped %s are no longer in the pending block', (_, drop) =>
  withNode(async ask => {
    await ask('anvil_autoImpersonateAccount', true)
    await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
    await ask('evm_setAutomine', false)
    // The time of the pending block stands: no later second renews it.
    await ask('evm_setNextBlockTimestamp', 4_000_000_000)
    const hash = await ask('eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1', gas: '0x5208' })
    expect(await ask('eth_getBalance', BOB, 'pending')).toBe('0x1')
    await drop(ask, hash)
    expect(await ask('eth_getBalance', BOB, 'pending')).toBe('0x0')
  }),
)
