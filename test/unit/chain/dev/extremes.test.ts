import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { MAX_UINT64 } from '@tandem/base/uint64.ts'
import { describe, expect, test } from 'vitest'
import { DEV_LIMITS } from '../../../../src/config/limits/chain.ts'
import { createAddress } from '../../../../src/primitives/receipt/address.ts'
import { type Ask, withDevNode as withNode } from '../../../support/dev-node.ts'
import { withTempDir } from '../../../support/devnet.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const CAROL = `0x${'ca'.repeat(20)}`
const MOST = `0x${'f'.repeat(64)}`
const headTime = async (ask: Ask) =>
  Number((await ask<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)).timestamp)

describe('the largest balance', () => {
  const balance = (ask: Ask, account: string) => ask<string>('eth_getBalance', account, 'latest')
  const send = async (ask: Ask, transaction: Record<string, string>) =>
    ask('eth_getTransactionReceipt', await ask('eth_sendTransaction', { gas: '0x186a0', ...transaction }))

  test('stays as it is: transfers to it fail, blocks go on, and what is paid without a call stops at it', () =>
    withNode(async ask => {
      const { miner } = await ask<{ miner: string }>('eth_getBlockByNumber', 'pending', false)
      await ask('anvil_autoImpersonateAccount', true)
      for (const account of [ALICE, BOB, miner]) await ask('anvil_setBalance', account, MOST)
      expect(await send(ask, { from: ALICE, to: BOB, value: '0x1', gas: '0x5208' })).toMatchObject({ status: '0x0' })
      expect(await balance(ask, BOB)).toBe(MOST)
      // A contract that destroys itself in favour of Bob.
      await ask('anvil_setCode', CAROL, `0x73${BOB.slice(2)}ff`)
      expect(await send(ask, { from: ALICE, to: CAROL, value: '0x5' })).toMatchObject({ status: '0x1' })
      expect([await balance(ask, BOB), await balance(ask, CAROL), await balance(ask, miner)]).toEqual([
        MOST,
        '0x0',
        MOST,
      ])
      expect(await send(ask, { from: BOB, to: CAROL, value: '0x7' })).toMatchObject({ status: '0x1' })
      expect(await ask('eth_blockNumber')).toBe('0x3')
    }))

  test('in overrides of a simulation has a block as result', () =>
    withNode(async ask => {
      const stateOverrides = { [ALICE]: { balance: MOST }, [BOB]: { balance: MOST } }
      const calls = [{ from: ALICE, to: BOB, value: '0x1' }]
      const options = { blockStateCalls: [{ stateOverrides, calls }], validation: false }
      const [block] = await ask<[{ calls: unknown[] }]>('eth_simulateV1', options, 'latest')
      expect(block.calls).toMatchObject([{ status: '0x0', error: { message: 'value overflow' } }])
    }))
})

describe('nonces of overrides', () => {
  test('are exact, and the last two are answered like any', () =>
    withNode(async ask => {
      for (const nonce of [2n ** 63n + 3n, MAX_UINT64 - 1n, MAX_UINT64]) {
        const stateOverrides = { [ALICE]: { nonce: toQuantity(nonce), balance: MOST } }
        const creation = { from: ALICE, data: '0x00' }
        const transfer = { from: ALICE, to: BOB, maxFeePerGas: '0xffffffffff' }
        expect(await ask('eth_call', creation, 'latest', stateOverrides)).toBe('0x')
        const trace = await ask('debug_traceCall', creation, 'latest', { stateOverrides, tracer: 'callTracer' })
        // The last nonce cannot be raised: it creates where the one before it does.
        const used = nonce < MAX_UINT64 ? nonce : MAX_UINT64 - 1n
        expect(trace).toMatchObject({ type: 'CREATE', to: createAddress(ALICE as Hex, used) })
        const simulate = (validation: boolean) =>
          ask('eth_simulateV1', { blockStateCalls: [{ stateOverrides, calls: [transfer] }], validation }, 'latest')
        expect(await simulate(false)).toMatchObject([{ calls: [{ status: '0x1' }] }])
        if (nonce < MAX_UINT64) expect(await simulate(true)).toMatchObject([{ calls: [{ status: '0x1' }] }])
        else await expect(simulate(true)).rejects.toThrow('nonce has max value')
      }
    }))
})

test('a nonce is set to any of 64 bits, and no transaction has the last', () =>
  withNode(async ask => {
    await ask('anvil_autoImpersonateAccount', true)
    await ask('anvil_setBalance', ALICE, MOST)
    for (const nonce of [2n ** 53n + 1n, MAX_UINT64]) {
      await ask('anvil_setNonce', ALICE, toQuantity(nonce))
      expect(await ask('eth_getTransactionCount', ALICE, 'latest')).toBe(toQuantity(nonce))
    }
    await expect(ask('eth_sendTransaction', { from: ALICE, to: BOB })).rejects.toThrow('nonce has max value')
    await expect(ask('hardhat_setNonce', ALICE, toQuantity(MAX_UINT64 + 1n))).rejects.toThrow('number > 64 bits')
  }))

describe('timestamps', () => {
  test('of blocks asked for at once never go back', () =>
    withNode(async ask => {
      const now = (await headTime(ask)) + 1_000
      const mine = (timestamp: number) => ask('evm_mine', { timestamp }).catch((error: Error) => error.message)
      await Promise.all([now + 10, now + 5, now + 10, now + 3, now + 20].map(mine))
      const count = Number(await ask('eth_blockNumber'))
      let last = 0
      for (let number = 1; number <= count; number++) {
        const { timestamp } = await ask<{ timestamp: string }>('eth_getBlockByNumber', `0x${number}`, false)
        expect(Number(timestamp)).toBeGreaterThan(last)
        last = Number(timestamp)
      }
    }))

  test('end at the last that a date can have; the chain opens again', () =>
    withTempDir(async dataDir => {
      const last = DEV_LIMITS.lastTimestamp
      const late = 'later than the last'
      await withNode(
        async ask => {
          await ask('evm_mine')
          for (const timestamp of [last + 1, Number.MAX_SAFE_INTEGER]) {
            await expect(ask('evm_setNextBlockTimestamp', timestamp)).rejects.toThrow(late)
            await expect(ask('evm_increaseTime', timestamp)).rejects.toThrow(late)
            await expect(ask('evm_mine', { timestamp })).rejects.toThrow(late)
            await expect(ask('hardhat_mine', 2, timestamp)).rejects.toThrow(late)
          }
          // In milliseconds.
          await expect(ask('evm_setTime', Number.MAX_SAFE_INTEGER)).rejects.toThrow(late)
          await expect(ask('anvil_setBlockTimestampInterval', last)).rejects.toThrow(late)
          await ask('evm_mine', { timestamp: last })
          await expect(ask('evm_mine')).rejects.toThrow(late)
          expect(await headTime(ask)).toBe(last)
          expect(await ask('eth_call', { to: BOB }, 'pending')).toBe('0x')
        },
        { dataDir },
      )
      await withNode(async ask => expect(await headTime(ask)).toBe(last), { dataDir })
    }))
})

test('a state after more transactions than a block has is refused', () =>
  withNode(async ask => {
    await ask('anvil_autoImpersonateAccount', true)
    await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
    await ask('eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x5208' })
    const trace = (txIndex: string) => ask('debug_traceCall', { to: BOB }, 'latest', { txIndex, tracer: 'callTracer' })
    const storage = (txIndex: number) => ask('debug_storageRangeAt', 'latest', txIndex, BOB, '0x00', 1)
    expect(await trace('0x1')).toMatchObject({ to: BOB })
    expect(await storage(1)).toEqual({ storage: {}, nextKey: null })
    const { hash } = await ask<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
    for (const read of [trace('0x2'), storage(2)])
      await expect(read).rejects.toThrow(`transaction index 2 out of range for block ${hash}`)
  }))
