import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NETWORKS, type NetworkParams } from '../../../src/config/networks.ts'
import { recoverSender } from '../../../src/crypto/recovery/recover-sender.ts'
import { recoverAddress } from '../../../src/crypto/signature.ts'
import { decodeTransaction } from '../../../src/primitives/transaction/transaction.ts'
import { personalDigest } from '../../../src/rpc/methods/eth/signing.ts'
import { SENDER } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'
import { ONE_KEY } from '../../support/rpc/services.ts'

let rig: Rig
beforeAll(async () => {
  rig = await Rig.start({ wallet: ONE_KEY })
})
afterAll(() => rig.stop())

const to = `0x${'12'.repeat(20)}`

test('signs a message that can be verified', async () => {
  const signature = hexToBytes(await rig.result<Hex>('eth_sign', [SENDER, '0xdeadbeef']))
  expect(signature).toHaveLength(65)
  const v = signature[64] ?? 0
  expect([27, 28]).toContain(v)
  const digest = personalDigest(hexToBytes('0xdeadbeef'))
  expect(recoverAddress(digest, Uint8Array.from([...signature.subarray(0, 64), v - 27]))).toBe(SENDER)
})

test.each([
  ['legacy', { gasPrice: '0x6fc23ac00' }, 0],
  ['access list', { gasPrice: '0x6fc23ac00', accessList: [] }, 1],
  ['dynamic fee', { maxFeePerGas: '0x6fc23ac00', maxPriorityFeePerGas: '0x1' }, 2],
  ['a tip alone', { maxPriorityFeePerGas: '0x1' }, 2],
])('signs a transaction: %s', async (_, fees, type) => {
  const raw = hexToBytes(await rig.result<Hex>('eth_signTransaction', [{ from: SENDER, to, value: '0x5', ...fees }]))
  const decoded = decodeTransaction(raw)
  expect(decoded).toMatchObject({ type, to, value: 5n, nonce: 5, gasLimit: 21_000n, chainId: 20_250_217 })
  expect(recoverSender(raw).from).toBe(SENDER)
})

test('sends, at the suggested price when none is named', async () => {
  const hash = await rig.result<Hex>('eth_sendTransaction', [
    { from: SENDER, to, gas: '0x7530', nonce: '0x9', input: '0x01' },
  ])
  expect(rig.pool.get(hash)).toMatchObject({
    from: SENDER,
    gasLimit: 30_000n,
    nonce: 9,
    type: 0,
    maxFeePerGas: 27_500_000_000n,
    data: Uint8Array.of(1),
  })
  expect(await rig.result<unknown[]>('eth_pendingTransactions')).toHaveLength(1)
})

test('refuses another chain, and accounts it does not hold', async () => {
  expect(await rig.failure('eth_sendTransaction', [{ from: SENDER, to, chainId: '0x1' }])).toBe(
    "-32000 chainId does not match node's (have=1, want=20250217)",
  )
  expect(await rig.failure('eth_sendTransaction', [{ from: to, to }])).toBe('-32000 unknown account')
  expect(await rig.failure('eth_sendTransaction', [{ to }])).toBe('-32000 unknown account')
  expect(await rig.result('eth_accounts')).toEqual([SENDER])
})

test('gives each of many transactions sent at once its own nonce', async () => {
  const before = await rig.result<string>('eth_getTransactionCount', [SENDER, 'pending'])
  const hashes = await Promise.all(
    ['0x1', '0x2', '0x3', '0x3'].map(value => rig.result<Hex>('eth_sendTransaction', [{ from: SENDER, to, value }])),
  )
  const nonces = hashes.map(hash => rig.pool.get(hash)?.nonce)
  expect(nonces.sort()).toEqual([0, 1, 2, 3].map(more => Number(before) + more))
})

test('says that it does not hold the account before it looks at the rest of the fees', async () => {
  const odd = { from: to, to, gasPrice: '0x1', maxFeePerGas: '0x2' }
  expect(await rig.failure('eth_sendTransaction', [odd])).toBe('-32000 unknown account')
  expect(await rig.failure('eth_signTransaction', [odd])).toBe('-32000 unknown account')
  expect(await rig.failure('eth_signTransaction', [{ ...odd, from: SENDER }])).toBe(
    '-32000 both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified',
  )
  expect(await rig.failure('eth_sendTransaction', [{ ...odd, from: SENDER }])).toBe(
    '-32000 both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified',
  )
})

test('a development chain without keys says how it gets them, other nodes say nothing of themselves', async () => {
  const errorOf = async (network: NetworkParams) => {
    const other = await Rig.start({ network })
    const { error } = await other.call('eth_sendTransaction', [{ from: to, to }])
    await other.stop()
    return error
  }
  expect(await errorOf(NETWORKS.devnet)).toEqual({
    code: -32000,
    message: 'unknown account',
    data: { hint: expect.stringContaining('--unlock') },
  })
  expect(await errorOf(NETWORKS.mainnet)).toEqual({ code: -32000, message: 'unknown account' })
})

test.each([
  ['0x0', {}, 0],
  ['0x1', {}, 1],
  ['0x2', {}, 2],
  ['0x2', { accessList: [] }, 2],
  [null, {}, 2],
])('fills in a transaction of the type %s that the call names', async (type, more, filled) => {
  const call = { from: SENDER, to, gas: '0x7530', nonce: '0x0', type, ...more }
  const { tx } = await rig.result<{ tx: { type: string } }>('eth_fillTransaction', [call])
  expect(tx.type).toBe(`0x${filled}`)
})

test('sends a transaction of the type that the call names, and none with blobs', async () => {
  const hash = await rig.result<Hex>('eth_sendTransaction', [
    { from: SENDER, to, gas: '0x7530', nonce: '0x20', type: '0x2' },
  ])
  expect(rig.pool.get(hash)).toMatchObject({ type: 2, maxFeePerGas: 27_500_000_000n, maxPriorityFeePerGas: 0n })
  const blobs: object[] = [{ type: '0x3' }, { blobs: ['0x00'] }, { blobVersionedHashes: [`0x01${'00'.repeat(31)}`] }]
  for (const named of blobs)
    for (const method of ['eth_sendTransaction', 'eth_fillTransaction'])
      expect(await rig.failure(method, [{ from: SENDER, to, ...named }])).toBe('-32000 transaction type not supported')
})
