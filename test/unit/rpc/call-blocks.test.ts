import { toQuantity } from '@tandem/base/bytes.ts'
import { MAX_UINT64 } from '@tandem/base/uint64.ts'
import { describe, expect, test } from 'vitest'
import { type Ask, withDevNode } from '../../support/dev-node.ts'

const ACCOUNT = `0x${'aa'.repeat(20)}`
/** Returns the word that the code leaves on the stack. */
const returning = (code: string) => `0x${code}5f5260205ff3`
const PARENT_HASH = returning('6001430340')
const [BLOB_BASE_FEE, TIMESTAMP, NUMBER] = ['4a', '42', '43'].map(returning)

/** One word, read by each method that takes overrides of the block. */
const read = (ask: Ask, code: string | undefined, block: string, blockOverrides: object) => {
  const overrides = { [ACCOUNT]: { code } }
  return Promise.all([
    ask<string>('eth_call', { to: ACCOUNT }, block, overrides, blockOverrides),
    ask<{ output: string }>('debug_traceCall', { to: ACCOUNT }, block, {
      tracer: 'callTracer',
      stateOverrides: overrides,
      blockOverrides,
    }).then(({ output }) => output),
  ])
}
const expectWord = async (reading: Promise<readonly string[]>, word: string | bigint): Promise<void> => {
  const words = new Set(await reading)
  expect(words).toEqual(new Set([typeof word === 'string' ? word : `0x${word.toString(16).padStart(64, '0')}`]))
}

describe('overrides of the block', () => {
  test('its number moves BLOCKHASH: to the hash of the head, of any older block, and to none where none is', () =>
    withDevNode(async ask => {
      await ask('hardhat_mine', '0x12c')
      const hash = async (number: number) =>
        (await ask<{ hash: string }>('eth_getBlockByNumber', toQuantity(number), false)).hash
      for (const number of [301, 300, 299, 200, 20, 1])
        await expectWord(read(ask, PARENT_HASH, 'latest', { number: toQuantity(number) }), await hash(number - 1))
      await expectWord(read(ask, PARENT_HASH, 'latest', {}), await hash(299))
      for (const number of [0n, 302n, 303n, 2n ** 53n + 1n, MAX_UINT64])
        await expectWord(read(ask, PARENT_HASH, 'latest', { number: toQuantity(number) }), 0n)
      // On an older block, later ones do not exist yet.
      await expectWord(read(ask, PARENT_HASH, '0xfa', { number: '0xfb' }), await hash(250))
      await expectWord(read(ask, PARENT_HASH, '0xfa', { number: '0xfc' }), 0n)
      // On a state with overrides the call runs in a worker; without them here.
      await ask('hardhat_setCode', ACCOUNT, PARENT_HASH)
      expect(await ask('eth_call', { to: ACCOUNT }, 'latest', {}, { number: toQuantity(301) })).toBe(await hash(300))
      expect(await ask('eth_call', { to: ACCOUNT }, 'pending', null, { number: toQuantity(301) })).toBe(await hash(300))
      expect(await ask('eth_call', { to: ACCOUNT }, 'latest', null, { number: toQuantity(301) })).toBe(await hash(300))
    }))

  test('count for estimates', () =>
    withDevNode(async ask => {
      // Jumps over a STOP to a hundred JUMPDESTs when the number is above 1,000.
      const overrides = { [ACCOUNT]: { code: `0x436103e810600957005b${'5b'.repeat(100)}` } }
      const estimate = async (blockOverrides?: object) =>
        Number(await ask<string>('eth_estimateGas', { to: ACCOUNT }, 'latest', overrides, blockOverrides))
      const low = await estimate()
      expect(await estimate({ number: '0x7d0' })).toBe(low + 101)
      await expect(ask('eth_estimateGas', { to: ACCOUNT }, 'latest', overrides, { number: 'x' })).rejects.toThrow(
        'invalid argument 4',
      )
    }))

  test('numbers and times are exact to their 64 bits', () =>
    withDevNode(async ask => {
      for (const value of [1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n + 3n, MAX_UINT64]) {
        await expectWord(read(ask, TIMESTAMP, 'latest', { time: toQuantity(value) }), value)
        await expectWord(read(ask, NUMBER, 'latest', { number: toQuantity(value) }), value)
      }
      await expect(read(ask, NUMBER, 'latest', { number: '0x10000000000000000' })).rejects.toThrow('> 64 bits')
      const simulate = (blockOverrides: object) => ask('eth_simulateV1', { blockStateCalls: [{ blockOverrides }] })
      await expect(simulate({ number: toQuantity(MAX_UINT64) })).rejects.toThrow('at most 256 blocks')
      await expect(simulate({ time: toQuantity(MAX_UINT64) })).rejects.toThrow('at most a time of 9007199254740991')
    }))

  test('the blob base fee is read by code', () =>
    withDevNode(async ask => {
      await expectWord(read(ask, BLOB_BASE_FEE, 'latest', {}), 0n)
      await expectWord(read(ask, BLOB_BASE_FEE, 'latest', { blobBaseFee: '0x1234' }), 0x1234n)
      const block = {
        blockOverrides: { blobBaseFee: '0x1234' },
        stateOverrides: { [ACCOUNT]: { code: BLOB_BASE_FEE } },
        calls: [{ to: ACCOUNT }],
      }
      const [simulated] = await ask<[{ calls: [{ returnData: string }] }]>('eth_simulateV1', {
        blockStateCalls: [block],
      })
      expect(BigInt(simulated.calls[0].returnData)).toBe(0x1234n)
    }))
})

test('numbers of blocks that none can have are repeated exactly, and are no other block', () =>
  withDevNode(async ask => {
    const beyond = toQuantity(2n ** 53n + 1n)
    for (const [method, ...params] of [
      ['eth_call', { to: ACCOUNT }],
      ['eth_getBalance', ACCOUNT],
      ['eth_getProof', ACCOUNT, []],
    ] as const)
      await expect(ask(method, ...params, beyond)).rejects.toThrow('(block number: 9007199254740993)')
    await expect(ask('eth_feeHistory', 1, beyond, [])).rejects.toThrow('requested 9007199254740993, head 0')
    for (const method of ['eth_getBlockByNumber', 'eth_getHeaderByNumber'])
      expect(await ask(method, beyond, ...(method === 'eth_getBlockByNumber' ? [false] : []))).toBeNull()
    expect(await ask('eth_getBlockTransactionCountByNumber', beyond)).toBeNull()
    expect(await ask('eth_getLogs', { fromBlock: beyond })).toEqual([])
    const wrong = { fromBlock: toQuantity(2n ** 53n + 2n), toBlock: beyond }
    await expect(ask('eth_getLogs', wrong)).rejects.toThrow('invalid block range params')
    await expect(ask('native_getBlockWithConsensusInfoRange', '0x0', beyond, false)).rejects.toThrow(
      'at most 100 blocks',
    )
  }))

test('a call with the id of another chain is refused by every method that runs one', () =>
  withDevNode(async ask => {
    const own = Number(await ask('eth_chainId'))
    const runs = (chainId: number): Promise<unknown>[] => {
      const call = { to: ACCOUNT, chainId: toQuantity(chainId) }
      return [
        ask('eth_call', call, 'latest'),
        ask('eth_call', call, 'latest', { [ACCOUNT]: { balance: '0x1' } }),
        ask('eth_estimateGas', call),
        ask('eth_createAccessList', call, 'latest'),
        ask('eth_createAccessList', call),
        ask('debug_traceCall', call, 'latest'),
        ask('eth_simulateV1', { blockStateCalls: [{ calls: [call] }] }),
      ]
    }
    const refused = {
      status: 'rejected',
      reason: expect.objectContaining({
        rpcCode: -32_000,
        message: expect.stringContaining(`chainId does not match node's (have=3, want=${own})`),
      }),
    }
    expect(await Promise.allSettled(runs(3))).toEqual(Array(7).fill(refused))
    await Promise.all(runs(own))
  }))

test('a simulated call with more gas than its block has left fails for that, whatever else is wrong', () =>
  withDevNode(async ask => {
    const poor = { from: `0x${'bb'.repeat(20)}`, to: ACCOUNT, value: '0x1', nonce: '0x9', maxFeePerGas: '0x1' }
    const simulate = (validation: boolean, gas: string, calls: readonly object[] = []) =>
      ask('eth_simulateV1', {
        blockStateCalls: [
          { blockOverrides: { gasLimit: '0x186a0', baseFeePerGas: '0x0' }, calls: [...calls, { ...poor, gas }] },
        ],
        validation,
      })
    for (const validation of [true, false]) {
      await expect(simulate(validation, '0x186a1')).rejects.toMatchObject({ rpcCode: -38_015 })
      await expect(simulate(validation, '0x15f90', [{ to: ACCOUNT, gas: '0x5208' }])).rejects.toMatchObject({
        rpcCode: -38_015,
      })
    }
    await expect(simulate(true, '0x186a0')).rejects.toMatchObject({ rpcCode: -38_011 })
  }))
