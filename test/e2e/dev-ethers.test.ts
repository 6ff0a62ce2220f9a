import { JsonRpcProvider, parseEther } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningNode, startDevnet } from '../support/devnet.ts'

const ALICE = '0xa11ce00000000000000000000000000000000001'
const BOB = '0xb0b0000000000000000000000000000000000002'

/** What suites written for hardhat do through ethers, with the keys in the node. */
describe('ethers on a devnet that holds keys', () => {
  let node: RunningNode
  let provider: JsonRpcProvider
  beforeAll(async () => {
    node = await startDevnet(['--block-time', '0', '--client-name', 'hardhat', '--unlock'])
    provider = new JsonRpcProvider(node.http, undefined, { cacheTimeout: -1, batchMaxCount: 1 })
  })
  afterAll(async () => {
    provider?.destroy()
    await node?.stop()
  })

  test('a transaction of an impersonated account is read like any other', async () => {
    await provider.send('hardhat_setBalance', [ALICE, `0x${parseEther('1').toString(16)}`])
    await provider.send('hardhat_impersonateAccount', [ALICE])
    for (const fees of [{ gasPrice: '0x6fc23ac00' }, { maxFeePerGas: '0x6fc23ac00', maxPriorityFeePerGas: '0x1' }]) {
      const hash = await provider.send('eth_sendTransaction', [{ from: ALICE, to: BOB, value: '0x1', ...fees }])
      const transaction = await provider.getTransaction(hash)
      expect(transaction?.from.toLowerCase()).toBe(ALICE)
      // ethers 6.14 looks at it at once, later ones here: an s in the upper half is refused.
      expect(BigInt(transaction?.signature.s ?? 0)).toBeGreaterThan(0n)
      expect(await transaction?.wait()).toMatchObject({ status: 1 })
      const block = await provider.getBlock(transaction?.blockNumber ?? 0, true)
      expect(block?.prefetchedTransactions.map(({ from }) => from.toLowerCase())).toEqual([ALICE])
    }
  })
})
