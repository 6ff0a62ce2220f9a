import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { DEV_LIMITS } from '../../../../src/config/limits/chain.ts'
import { type Ask, withDevNode } from '../../../support/dev-node.ts'
import { eventually, withTempDir } from '../../../support/devnet.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
/** Contract with the hashes of recent blocks (EIP-2935). */
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935'
const head = async (ask: Ask): Promise<number> => Number(await ask('eth_blockNumber'))
const send = (ask: Ask, nonce: number) =>
  ask<Hex>('eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1', gas: '0x5208', nonce: toQuantity(nonce) })
const begin = async (ask: Ask): Promise<void> => {
  await ask('anvil_autoImpersonateAccount', true)
  await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
}
/** Everything that is said about a block. */
const told = async (ask: Ask, number: number): Promise<unknown> => {
  const at = toQuantity(number)
  return {
    block: await ask('native_getBlockWithConsensusInfoByNumber', at, true),
    receipts: await ask('eth_getBlockReceipts', at),
    rewards: await ask('native_getRewards', at),
    supply: await ask('native_getTotalSupply', at),
    council: await ask('native_getCouncil', at),
    balance: await ask('eth_getBalance', ALICE, at),
    proof: await ask('eth_getProof', ALICE, [], at),
    fees: await ask('eth_feeHistory', 1, at, []),
    raw: await ask('debug_getRawBlock', at),
    hashes: await Promise.all(
      [number - 1, number].map(of => ask('eth_getStorageAt', HISTORY, `0x${of.toString(16).padStart(64, '0')}`, at)),
    ),
    history: await ask('eth_getProof', HISTORY, [`0x${(number - 1).toString(16).padStart(64, '0')}`], at),
    logs: await ask('eth_getLogs', { fromBlock: at, toBlock: at }),
    certificate: await ask('native_getCertificate', at),
    committee: await ask('native_getCommittee', at),
  }
}

describe('many blocks at once', () => {
  test('are to the bit those that come one by one: past the ends of cycles, with what waits in the pool, settings and proofs', async () => {
    const blocks = 150
    const timestamps: number[] = []
    const first: unknown[] = []
    const prepare = async (ask: Ask): Promise<void> => {
      await begin(ask)
      await ask('evm_setAutomine', false)
      await ask('hardhat_setCoinbase', BOB)
      await ask('hardhat_setNextBlockBaseFeePerGas', '0x5d21dba000')
      await ask('evm_setNextBlockTimestamp', 2_000_000_000)
      for (let nonce = 0; nonce < 3; nonce++) await send(ask, nonce)
    }
    const places = [1, 2, 59, 60, 61, 119, 120, 121, 150]
    await withDevNode(async ask => {
      await prepare(ask)
      await ask('hardhat_mine', toQuantity(blocks), '0x7')
      expect(await head(ask)).toBe(blocks)
      for (let number = 1; number <= blocks; number++)
        timestamps.push(
          Number((await ask<{ timestamp: Hex }>('eth_getBlockByNumber', toQuantity(number), false)).timestamp),
        )
      for (const place of places) first.push(await told(ask, place))
    })
    expect(timestamps.slice(0, 3)).toEqual([2_000_000_000, 2_000_000_007, 2_000_000_014])
    await withDevNode(async ask => {
      await prepare(ask)
      for (const [i, timestamp] of timestamps.entries())
        await (i === 0 ? ask('evm_mine') : ask('evm_mine', { timestamp }))
      for (const [i, place] of places.entries()) expect([place, await told(ask, place)]).toEqual([place, first[i]])
    })
  })

  test('are heard by subscribers and filters, one by one', () =>
    withDevNode(async (ask, { urls }) => {
      const filter = await ask('eth_newBlockFilter')
      const socket = new WebSocket(urls.ws)
      const heads: { number: Hex; hash: Hex }[] = []
      socket.on('message', (data: Buffer) => {
        const { params } = JSON.parse(data.toString())
        if (params !== undefined) heads.push(params.result)
      })
      await new Promise(resolve => socket.once('open', resolve))
      const subscribed = new Promise(resolve => socket.once('message', resolve))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
      await subscribed
      await ask('hardhat_mine', 200)
      await eventually(
        'notifications',
        async () => heads.length,
        length => length === 200,
      )
      expect(heads.map(({ number }) => Number(number))).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
      expect(await ask('eth_getFilterChanges', filter)).toEqual(heads.map(({ hash }) => hash))
      socket.close()
    }))

  test('take transactions that come meanwhile, and leave time to others', () =>
    withDevNode(async ask => {
      await begin(ask)
      const mining = ask('hardhat_mine', 3_000)
      await eventually(
        'blocks',
        () => head(ask),
        number => number > 100,
      )
      const hash = await send(ask, 0)
      await mining
      const receipt = await ask<{ blockNumber: Hex }>('eth_getTransactionReceipt', hash)
      expect(Number(receipt.blockNumber)).toBeLessThanOrEqual(3_000)
      expect(await head(ask)).toBe(3_000)
    }))

  test('are taken back by a revert, and stand after a restart', () =>
    withTempDir(async dataDir => {
      const hashes: unknown[] = []
      await withDevNode(
        async ask => {
          await ask('hardhat_mine', 10)
          const id = await ask('evm_snapshot')
          await ask('hardhat_mine', 500)
          expect(await ask('evm_revert', id)).toBe(true)
          expect(await head(ask)).toBe(10)
          expect(await ask('eth_getBlockByNumber', '0xb', false)).toBeNull()
          await ask('hardhat_mine', 300)
          for (const number of [0, 11, 200, 310])
            hashes.push(await ask('eth_getBlockByNumber', toQuantity(number), false))
        },
        { dataDir },
      )
      await withDevNode(
        async ask => {
          expect(await head(ask)).toBe(310)
          for (const [i, number] of [0, 11, 200, 310].entries())
            expect(await ask('eth_getBlockByNumber', toQuantity(number), false)).toEqual(hashes[i])
          await begin(ask)
          await send(ask, 0)
          await ask('hardhat_mine', 100)
          expect(await head(ask)).toBe(411)
        },
        { dataDir },
      )
    }))

  test('end soon after their client is gone', () =>
    withDevNode(async (ask, { urls }) => {
      const gone = new AbortController()
      const request = { jsonrpc: '2.0', id: 1, method: 'hardhat_mine', params: [DEV_LIMITS.mineBlocks] }
      const mining = fetch(urls.http, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        signal: gone.signal,
      })
      await eventually(
        'blocks',
        () => head(ask),
        number => number > 100,
      )
      gone.abort()
      await expect(mining).rejects.toThrow()
      // A block that comes after it is the next task: the row before it has ended.
      await ask('evm_mine')
      const ended = await head(ask)
      expect(ended).toBeLessThan(DEV_LIMITS.mineBlocks)
      await ask('evm_mine')
      expect(await head(ask)).toBe(ended + 1)
    }))
})
