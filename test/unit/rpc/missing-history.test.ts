import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { Economy } from '../../../src/chain/block/economy.ts'
import { createChainView } from '../../../src/chain/view.ts'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey } from '../../../src/storage/keys.ts'
import { ACCOUNT_KEYS, signedRaw } from '../../support/chain.ts'
import { councilTransaction, STAKE } from '../../support/council-contract.ts'
import { councilGenesis, rewardOf, validatorKey, validatorOf } from '../../support/council-genesis.ts'
import { withNet } from '../../support/council-net.ts'
import { signedTransaction } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'

const UNKNOWN: Hex = `0x${'5a'.repeat(32)}`
const BY_HASH = [
  ['eth_getTransactionByHash'],
  ['eth_getRawTransactionByHash'],
  ['eth_getTransactionReceipt'],
  ['eth_getBlockByHash', false],
  ['eth_getHeaderByHash'],
  ['eth_getBlockReceipts'],
  ['eth_getBlockTransactionCountByHash'],
  ['eth_getTransactionByBlockHashAndIndex', '0x0'],
] as const

test('rewards at the border of the blocks that are there: those of a cycle need all of it', () =>
  withNet(councilGenesis(1, { rewards: { cycleBlocks: 4 } }), 1, async net => {
    await net.mineTo(9)
    const { economy, blocks, store } = net.first
    for await (const key of store.keys(BUCKETS.header, { gte: numberKey(1), lt: numberKey(6) }))
      await store.batch().del(BUCKETS.header, key).write()
    blocks.forget()
    blocks.earliest = 6
    for (const number of [1, 4, 5, 8])
      await expect(economy.rewards(number)).rejects.toMatchObject({ code: 'HISTORY_MISSING' })
    for (const number of [6, 7, 9]) expect((await economy.rewards(number))?.minted).toBe(0n)
    await expect(economy.shares(5)).rejects.toMatchObject({ code: 'HISTORY_MISSING' })
    // The shares of a block need no other blocks.
    expect(await economy.shares(8)).toMatchObject({ cycle: 1, totalFee: 0n })
    expect(await economy.shares(10)).toBeUndefined()
  }))

test('rewards of a cycle that pays proof headers below the blocks that are there report missing history', () =>
  withNet(councilGenesis(1, { rewards: { cycleBlocks: 4 } }), 1, async net => {
    const { first, genesis } = net
    await net.mineTo(9)
    const { params, foundation } = genesis
    const parts = { ...first, params, foundation, genesisWei: 0n, council: first.sources.council }
    const economy = new Economy({ ...parts, proofs: { coinbasesAt: () => undefined } })
    first.blocks.earliest = 5
    await expect(economy.rewards(8)).rejects.toMatchObject({ code: 'HISTORY_MISSING' })
    await expect(economy.shares(8)).rejects.toMatchObject({ code: 'HISTORY_MISSING' })
    expect((await economy.rewards(9))?.minted).toBe(0n)
  }))

test('while blocks below a snapshot are fetched, an unknown hash is missing history; known and pending ones are not', () =>
  withNet(councilGenesis(1), 1, async net => {
    const { first } = net
    await net.mineTo(2)
    const args = ['One', validatorOf(1), rewardOf(1)]
    await net.submit(await councilTransaction(first, validatorKey(1), 'register', args, STAKE))
    await net.mineTo(4)
    const included = (await first.blocks.block(3))?.transactions[0]?.hash as Hex
    const unused = () => Promise.reject(new Error('nobody asks'))
    const view = createChainView({
      ...first,
      params: net.genesis.params,
      foundation: net.genesis.foundation,
      council: first.sources.council,
      pending: { state: unused } as never,
      wideLogs: unused,
    })
    const rig = await Rig.start({ view })
    try {
      const pending = signedTransaction({ nonce: 0 })
      rig.pool.add(pending)
      const errorOf = async ([method, ...rest]: (typeof BY_HASH)[number], hash: Hex) =>
        (await rig.call(method, [hash, ...rest])).error?.message
      for (const call of BY_HASH) expect(await rig.result(call[0], [UNKNOWN, ...call.slice(1)]), call[0]).toBeNull()
      first.blocks.earliest = 3
      const message = 'pruned history unavailable: this node has no blocks between genesis and 3'
      for (const call of BY_HASH) expect(await errorOf(call, UNKNOWN), call[0]).toBe(message)
      for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
        expect(await rig.result(method, [included])).toMatchObject({ blockNumber: '0x3' })
      }
      expect(await rig.result('eth_getTransactionByHash', [pending.hash])).toMatchObject({ blockNumber: null })
      expect(await rig.result('eth_getTransactionReceipt', [pending.hash])).toBeNull()
      expect(await rig.result('eth_getBlockByHash', [first.genesisHash, false])).toMatchObject({ number: '0x0' })
      // One that is sent now is in none of the blocks that are missing.
      const sent = bytesToHex(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: 0, to: null, gasLimit: 100_000n }))
      expect((await rig.call('eth_sendRawTransactionSync', [sent, 50])).error?.code).toBe(4)
    } finally {
      await rig.stop()
    }
  }))
