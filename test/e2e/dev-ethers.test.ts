import {
  hexlify,
  JsonRpcProvider,
  parseEther,
  TypedDataEncoder,
  toUtf8Bytes,
  verifyMessage,
  verifyTypedData,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningNode, startDevnet } from '../support/devnet.ts'

const ALICE = '0xa11ce00000000000000000000000000000000001'
const BOB = '0xb0b0000000000000000000000000000000000002'

/** Calls that suites written for hardhat make through ethers, with the keys in the node. */
describe('ethers on a devnet that holds keys', () => {
  let node: RunningNode
  let provider: JsonRpcProvider
  let began = 0
  beforeAll(async () => {
    began = Math.floor(Date.now() / 1_000)
    node = await startDevnet(['--block-time', '0', '--client-name', 'hardhat', '--unlock'])
    provider = new JsonRpcProvider(node.http, undefined, { cacheTimeout: -1, batchMaxCount: 1 })
  })
  afterAll(async () => {
    provider?.destroy()
    await node?.stop()
  })

  test('a new chain is of today, so that suites may count from its first block', async () => {
    const genesis = await provider.getBlock(0)
    expect(genesis?.timestamp).toBeGreaterThanOrEqual(began - 1)
    expect(genesis?.timestamp).toBeLessThan(Date.now() / 1_000)
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

  test('accounts of the node sign messages and typed data', async () => {
    const signer = await provider.getSigner(0)
    const address = await signer.getAddress()
    expect(verifyMessage('hello', await signer.signMessage('hello'))).toBe(address)
    expect(verifyMessage('hello', await provider.send('eth_sign', [address, hexlify(toUtf8Bytes('hello'))]))).toBe(
      address,
    )
    const domain = { name: 'Suite', chainId: node.chainId, verifyingContract: BOB }
    const types = {
      Permit: [
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
    }
    const value = { spender: ALICE, value: 2n ** 200n }
    expect(verifyTypedData(domain, types, value, await signer.signTypedData(domain, types, value))).toBe(address)
    const stranger = await provider
      .send('eth_signTypedData_v4', [ALICE, TypedDataEncoder.getPayload(domain, types, value)])
      .catch(error => error)
    expect(stranger.message).toContain('unknown account')
  })
})
