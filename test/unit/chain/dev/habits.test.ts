import type { Hex } from '@tandem/base/bytes.ts'
import { encodeErrorResult, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { BLOCK_BOUNDS } from '../../../../src/config/protocol-bounds.ts'
import { type Ask, withDevNode } from '../../../support/dev-node.ts'
import type { RpcFailure } from '../../../support/devnet.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`

const begin = async (ask: Ask): Promise<void> => {
  await ask('anvil_autoImpersonateAccount', true)
  await ask('anvil_setBalance', ALICE, '0x3635c9adc5dea00000')
}
/** Code that reverts with what it is called with. */
const ECHO_REVERT = '0x365f5f37365ffd'
const errors = parseAbi(['error Error(string)', 'error Panic(uint256)', 'error Mine(uint256)'])

describe('transactions that fail', () => {
  const send = (ask: Ask, data: Hex, more: object = {}) =>
    ask<Hex>('eth_sendTransaction', { from: ALICE, to: BOB, data, gas: '0x186a0', ...more })

  test.each([
    [
      'a reason',
      encodeErrorResult({ abi: errors, errorName: 'Error', args: ['boom'] }),
      "reverted with reason string 'boom'",
    ],
    ['a panic', encodeErrorResult({ abi: errors, errorName: 'Panic', args: [17n] }), 'reverted with panic code 0x11'],
    [
      'a custom error',
      encodeErrorResult({ abi: errors, errorName: 'Mine', args: [7n] }),
      'reverted with an unrecognized custom error',
    ],
    ['nothing', '0x' as Hex, 'Transaction reverted without a reason string'],
  ])('with %s throw where that was asked for, and stand in their block', async (_, data, text) => {
    await withDevNode(
      async ask => {
        await begin(ask)
        await ask('anvil_setCode', BOB, ECHO_REVERT)
        const failure = await send(ask, data).catch((error: RpcFailure) => error)
        if (typeof failure === 'string') return expect.unreachable('it throws')
        expect(failure.rpcCode).toBe(-32603)
        expect(failure.message).toContain(text)
        const told = failure.data as { message: string; txHash: Hex; data: Hex }
        expect(told).toMatchObject({ message: failure.message, data })
        expect(await ask('eth_getTransactionReceipt', told.txHash)).toMatchObject({ status: '0x0', blockNumber: '0x1' })
      },
      { devnet: { throwOnRevert: true } },
    )
  })

  test('for want of gas or by an invalid opcode throw too; those that succeed or wait do not', async () => {
    await withDevNode(
      async ask => {
        await begin(ask)
        await ask('anvil_setCode', BOB, '0x5b5f56')
        await expect(send(ask, '0x')).rejects.toThrow('Transaction ran out of gas')
        await ask('anvil_setCode', BOB, '0xfe')
        await expect(send(ask, '0x')).rejects.toThrow('VM Exception while processing transaction: invalid opcode')
        await ask('evm_setAutomine', false)
        const hash = await send(ask, '0x')
        await ask('evm_mine')
        expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
        await ask('evm_setAutomine', true)
        await ask('anvil_setCode', BOB, '0x00')
        expect(await send(ask, '0x')).toMatch(/^0x[0-9a-f]{64}$/)
        await ask('anvil_setCode', BOB, '0xfe')
        const unsigned = ask('eth_sendUnsignedTransaction', { from: ALICE, to: BOB, gas: '0x186a0' })
        await expect(unsigned).rejects.toThrow('VM Exception while processing transaction: invalid opcode')
      },
      { devnet: { throwOnRevert: true } },
    )
  })

  test('name no output in calls and estimates either, where that was asked for: matchers tell by it that the call failed', async () => {
    for (const throwOnRevert of [true, false]) {
      await withDevNode(
        async ask => {
          const fail = async (method: string, code: Hex): Promise<unknown> => {
            await ask('anvil_setCode', BOB, code)
            const failure = await ask(method, { from: ALICE, to: BOB, gas: '0x186a0' }, 'latest').catch(
              (error: RpcFailure) => error,
            )
            return { text: (failure as RpcFailure).message, data: (failure as RpcFailure).data }
          }
          const data = throwOnRevert ? '0x' : undefined
          const [invalid, endless, reverts] = ['0xfe', '0x5b5f56', '0x5f5ffd'] as const
          expect(await fail('eth_call', invalid)).toEqual({ text: expect.stringContaining('invalid opcode'), data })
          expect(await fail('eth_call', endless)).toEqual({ text: expect.stringContaining('out of gas'), data })
          expect(await fail('eth_estimateGas', invalid)).toEqual({
            text: expect.stringContaining('invalid opcode'),
            data,
          })
          const estimate = await fail('eth_estimateGas', endless)
          expect(estimate).toEqual({ text: expect.stringContaining('gas required exceeds allowance'), data })
          expect(await fail('eth_call', reverts)).toEqual({
            text: expect.stringContaining('execution reverted'),
            data: '0x',
          })
        },
        { devnet: { throwOnRevert } },
      )
    }
  })

  test('are answered with their hash otherwise', async () => {
    await withDevNode(async ask => {
      await begin(ask)
      await ask('anvil_setCode', BOB, '0xfe')
      const hash = await send(ask, '0x')
      expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
    })
  })
})

describe('gas limit of blocks', () => {
  test('refuses transactions above it, which no block would include', async () => {
    await withDevNode(async ask => {
      await begin(ask)
      const send = (gas: Hex) => ask<Hex>('eth_sendTransaction', { from: ALICE, to: BOB, gas })
      await send('0x1c9c381')
      await ask('evm_setBlockGasLimit', '0x1c9c380')
      await expect(send('0x1c9c381')).rejects.toThrow('exceeds block gas limit')
      expect(await ask('eth_getTransactionReceipt', await send('0x1c9c380'))).toMatchObject({ status: '0x1' })
      await ask('hardhat_reset')
      await begin(ask)
      expect(await ask('eth_getTransactionReceipt', await send('0x1c9c381'))).toMatchObject({ status: '0x1' })
    })
  })
})

test('a transaction that waits stays in sight when the gas limit of blocks falls below its own, and is included when it rises', () =>
  withDevNode(async ask => {
    await begin(ask)
    await ask('evm_setAutomine', false)
    const hash = await ask<Hex>('eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x1c9c381' })
    await ask('evm_setBlockGasLimit', '0x1c9c380')
    await ask('hardhat_mine', 200)
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({ blockNumber: null })
    expect(await ask('txpool_status')).toMatchObject({ pending: '0x1' })
    expect(await ask('eth_getTransactionReceipt', hash)).toBeNull()
    await ask('evm_setBlockGasLimit', '0x1c9c381')
    await ask('hardhat_mine', 2)
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0xc9' })
  }))

describe('large contracts', () => {
  /** Init code that returns so many zeros. */
  const creation = (size: number): Hex => `0x62${size.toString(16).padStart(6, '0')}5ff3`
  const deploy = async (ask: Ask, data: Hex) => {
    const hash = await ask<Hex>('eth_sendTransaction', { from: ALICE, data, gas: '0x2faf080' })
    return ask<{ status: Hex; contractAddress: Hex }>('eth_getTransactionReceipt', hash)
  }
  const ETHEREUM = 24_576

  test('are refused beyond the bytes of Ethereum', async () => {
    await withDevNode(async ask => {
      await begin(ask)
      expect(await deploy(ask, creation(ETHEREUM))).toMatchObject({ status: '0x1' })
      expect(await deploy(ask, creation(ETHEREUM + 1))).toMatchObject({ status: '0x0' })
      const long: Hex = `0x5b${'00'.repeat(2 * ETHEREUM)}`
      await expect(deploy(ask, long)).rejects.toThrow('max initcode size exceeded')
    })
  })

  // Shadow mode: the VM of EthereumJS has to agree about every block.
  test.each(['wasm', 'shadow'] as const)('stand where the chain allows them, in mode %s', async execution => {
    const codeSizeLimit = 60_000
    await withDevNode(
      async ask => {
        await begin(ask)
        const { status, contractAddress } = await deploy(ask, creation(codeSizeLimit))
        expect(status).toBe('0x1')
        expect(await ask('eth_getCode', contractAddress, 'latest')).toHaveLength(2 + 2 * codeSizeLimit)
        expect(await deploy(ask, creation(codeSizeLimit + 1))).toMatchObject({ status: '0x0' })
        const long: Hex = `0x00${'00'.repeat(2 * ETHEREUM)}`
        expect(await deploy(ask, long)).toMatchObject({ status: '0x1' })
        await expect(ask('eth_estimateGas', { from: ALICE, data: creation(codeSizeLimit) })).resolves.toMatch(/^0x/)
        await expect(deploy(ask, `0x${'00'.repeat(2 * codeSizeLimit + 1)}`)).rejects.toThrow(
          'max initcode size exceeded',
        )
        await expect(deploy(ask, `0x${'00'.repeat(BLOCK_BOUNDS.transactionBytes)}`)).rejects.toThrow('oversized data')
      },
      { params: { codeSizeLimit }, execution },
    )
  })
})
