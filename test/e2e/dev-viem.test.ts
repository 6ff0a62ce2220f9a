import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  encodeAbiParameters,
  type Hash,
  http,
  numberToHex,
  pad,
  parseEther,
  parseGwei,
  publicActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RunningNode, startDevnet } from '../support/devnet.ts'

const ALICE: Address = '0xa11ce00000000000000000000000000000000001'
const BOB: Address = '0xb0b0000000000000000000000000000000000002'
/** Answers slot 0. */
const READER = '0x5f545f5260205ff3'
/** Stores the timestamp in slot 0, and logs it. */
const STAMP = '0x425f55425f5260205fa0'

/** Every action of viem's test client, in the modes whose methods this node has. */
describe.each(['anvil', 'hardhat'] as const)("viem's test client, mode %s", mode => {
  let node: RunningNode
  let clean: Hash | undefined
  beforeAll(async () => {
    node = await startDevnet(['--block-time', '0'])
  })
  afterAll(() => node?.stop())

  const clientOf = () => {
    const chain = defineChain({
      id: node.chainId,
      name: 'devnet',
      nativeCurrency: { name: 'd', symbol: 'd', decimals: 18 },
      rpcUrls: { default: { http: [node.http] } },
    })
    return createTestClient({ chain, mode, transport: http(), cacheTime: 0, pollingInterval: 20 })
      .extend(publicActions)
      .extend(walletActions)
  }
  let client: ReturnType<typeof clientOf>
  const account = (index: number) => privateKeyToAccount(node.accounts[index]?.privateKey as Hash)

  beforeEach(async () => {
    client = clientOf()
    // Each test leaves what the next begins with; one that resets takes the snapshots along.
    if (clean === undefined || !(await node.rpc('evm_revert', [clean]))) await client.reset()
    clean = await client.snapshot()
    // Genesis is older than today.
    await client.mine({ blocks: 1 })
    await client.setAutomine(true)
  })

  test('setBalance, setNonce, setCode, setStorageAt are there at once, and no block is made', async () => {
    const number = await client.getBlockNumber()
    await client.setBalance({ address: ALICE, value: parseEther('3') })
    await client.setNonce({ address: ALICE, nonce: 420 })
    await client.setCode({ address: BOB, bytecode: READER })
    await client.setStorageAt({ address: BOB, index: 0, value: pad('0x2a') })
    expect(await client.getBalance({ address: ALICE })).toBe(parseEther('3'))
    expect(await client.getTransactionCount({ address: ALICE })).toBe(420)
    expect(await client.getCode({ address: BOB })).toBe(READER)
    expect(await client.getStorageAt({ address: BOB, slot: '0x0' })).toBe(pad('0x2a'))
    // Calls run in other threads, which must not answer from what they read before.
    expect((await client.call({ to: BOB })).data).toBe(pad('0x2a'))
    await client.setStorageAt({ address: BOB, index: '0x0', value: pad('0x2b') })
    expect((await client.call({ to: BOB })).data).toBe(pad('0x2b'))
    expect(await client.getBlockNumber()).toBe(number)
  })

  test('impersonateAccount and stopImpersonatingAccount; a contract sends as well', async () => {
    await client.setBalance({ address: ALICE, value: parseEther('1') })
    await client.setBalance({ address: BOB, value: parseEther('1') })
    await client.setCode({ address: BOB, bytecode: READER })
    await client.impersonateAccount({ address: ALICE })
    await client.impersonateAccount({ address: BOB })
    for (const from of [ALICE, BOB]) {
      const hash = await client.sendTransaction({ account: from, to: account(1).address, value: 5n })
      const receipt = await client.getTransactionReceipt({ hash })
      expect(receipt).toMatchObject({ status: 'success', from: from.toLowerCase() })
      expect(await client.getTransaction({ hash })).toMatchObject({ from: from.toLowerCase(), r: '0x5' })
    }
    await client.stopImpersonatingAccount({ address: ALICE })
    await expect(client.sendTransaction({ account: ALICE, to: BOB, value: 5n })).rejects.toThrow('unknown account')
  })

  test('mine makes blocks, so many and so far apart', async () => {
    const before = await client.getBlock()
    await client.mine({ blocks: 1 })
    await client.mine({ blocks: 10, interval: 60 })
    const after = await client.getBlock()
    expect(after.number - before.number).toBe(11n)
    const last = await client.getBlock({ blockNumber: after.number - 1n })
    expect(after.timestamp - last.timestamp).toBe(60n)
    expect(after.timestamp - before.timestamp).toBeGreaterThanOrEqual(9n * 60n)
    // The time goes on from there.
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).timestamp - after.timestamp).toBeLessThan(60n)
  })

  test('increaseTime, setNextBlockTimestamp; what contracts see', async () => {
    const before = await client.getBlock()
    expect(await client.increaseTime({ seconds: 3_600 })).toBeGreaterThan(3_500)
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).timestamp - before.timestamp).toBeGreaterThanOrEqual(3_600n)
    const next = (await client.getBlock()).timestamp + 1_000n
    await client.setNextBlockTimestamp({ timestamp: next })
    await client.setCode({ address: BOB, bytecode: STAMP })
    const wallet = createWalletClient({ account: account(2), chain: client.chain, transport: http() })
    const hash = await wallet.sendTransaction({ to: BOB })
    const receipt = await client.getTransactionReceipt({ hash })
    expect((await client.getBlock()).timestamp).toBe(next)
    expect(receipt.logs[0]?.data).toBe(encodeAbiParameters([{ type: 'uint256' }], [next]))
    expect(BigInt((await client.getStorageAt({ address: BOB, slot: '0x0' })) ?? 0)).toBe(next)
    await expect(client.setNextBlockTimestamp({ timestamp: next })).rejects.toThrow('lower than or equal')
  })

  test('setNextBlockBaseFeePerGas holds for one block, also below the floor; setCoinbase and setBlockGasLimit stay', async () => {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 7n })
    await client.setCoinbase({ address: ALICE })
    await client.setBlockGasLimit({ gasLimit: 30_000_000n })
    const wallet = createWalletClient({ account: account(3), chain: client.chain, transport: http() })
    const hash = await wallet.sendTransaction({
      to: BOB,
      value: 1n,
      gas: 21_000n,
      maxFeePerGas: 10n,
      maxPriorityFeePerGas: 0n,
    })
    expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success', effectiveGasPrice: 7n })
    const block = await client.getBlock()
    expect(block).toMatchObject({ baseFeePerGas: 7n, gasLimit: 30_000_000n, miner: ALICE.toLowerCase() })
    await client.mine({ blocks: 1 })
    expect(await client.getBlock()).toMatchObject({
      baseFeePerGas: parseGwei('25'),
      gasLimit: 30_000_000n,
      miner: ALICE.toLowerCase(),
    })
    // A fifth of the fees goes to the beneficiary.
    expect(await client.getBalance({ address: ALICE })).toBe((21_000n * 7n) / 5n)
  })

  test('snapshot and revert: blocks, state, pool and time; later snapshots are gone', async () => {
    const wallet = createWalletClient({ account: account(4), chain: client.chain, transport: http() })
    const before = await client.getBlock()
    await client.setBalance({ address: ALICE, value: 1n })
    const first = await client.snapshot()
    await client.setBalance({ address: ALICE, value: 2n })
    const hash = await wallet.sendTransaction({ to: BOB, value: 9n })
    await client.increaseTime({ seconds: 86_400 })
    await client.mine({ blocks: 3 })
    const second = await client.snapshot()
    await client.setAutomine(false)
    const waiting = await wallet.sendTransaction({ to: BOB, value: 1n })
    await client.revert({ id: first })
    expect(await client.getBalance({ address: ALICE })).toBe(1n)
    expect(await client.getBalance({ address: BOB })).toBe(0n)
    expect(await client.getBlock()).toMatchObject({ number: before.number, hash: before.hash })
    for (const gone of [hash, waiting]) await expect(client.getTransaction({ hash: gone })).rejects.toThrow()
    await expect(client.getTransactionReceipt({ hash })).rejects.toThrow()
    expect(await node.rpc('evm_revert', [second])).toBe(false)
    expect(await node.rpc('evm_revert', [first])).toBe(false)
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).timestamp - before.timestamp).toBeLessThan(3_600n)
    // The same transaction stands in another block now.
    await client.setAutomine(true)
    const again = await wallet.sendTransaction({ to: BOB, value: 9n, nonce: 0 })
    expect(await client.getTransactionReceipt({ hash: again })).toMatchObject({ blockNumber: before.number + 2n })
    expect(await client.getBalance({ address: BOB })).toBe(9n)
  })

  test('a snapshot brings back what waited in the pool', async () => {
    await client.setAutomine(false)
    const wallet = createWalletClient({ account: account(5), chain: client.chain, transport: http() })
    const hash = await wallet.sendTransaction({ to: BOB, value: 9n })
    const id = await client.snapshot()
    await client.mine({ blocks: 1 })
    expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    await client.revert({ id })
    expect(await client.getTransaction({ hash })).toMatchObject({ blockNumber: null })
    await client.mine({ blocks: 1 })
    expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
  })

  test('setAutomine, getAutomine, dropTransaction, and the pool', async () => {
    expect(await client.getAutomine()).toBe(true)
    await client.setAutomine(false)
    expect(await client.getAutomine()).toBe(false)
    const wallet = createWalletClient({ account: account(6), chain: client.chain, transport: http() })
    const hash = await wallet.sendTransaction({ to: BOB, value: 9n })
    expect(await client.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 })
    expect(Object.keys((await client.getTxpoolContent()).pending)).toEqual([account(6).address.toLowerCase()])
    expect(Object.keys((await client.inspectTxpool()).pending)).toHaveLength(1)
    await client.dropTransaction({ hash })
    expect(await client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 })
    await client.mine({ blocks: 1 })
    expect(await client.getBalance({ address: BOB })).toBe(0n)
    await wallet.sendTransaction({ to: BOB, value: 9n })
    await client.setAutomine(true)
    await expect.poll(() => client.getBalance({ address: BOB })).toBe(9n)
  })

  test('setIntervalMining makes blocks as time goes by', async () => {
    const before = await client.getBlockNumber()
    await client.setIntervalMining({ interval: 1 })
    await expect.poll(() => client.getBlockNumber()).toBeGreaterThanOrEqual(before + 2n)
    await client.setIntervalMining({ interval: 0 })
    const after = await client.getBlockNumber()
    await new Promise(resolve => setTimeout(resolve, 1_300))
    expect(await client.getBlockNumber()).toBe(after)
  })

  test('dumpState and loadState', async () => {
    await client.setBalance({ address: ALICE, value: 77n })
    await client.setCode({ address: BOB, bytecode: READER })
    await client.setStorageAt({ address: BOB, index: 0, value: pad('0x2a') })
    const state = await client.dumpState()
    await client.reset()
    expect(await client.getBalance({ address: ALICE })).toBe(0n)
    await client.loadState({ state })
    expect(await client.getBalance({ address: ALICE })).toBe(77n)
    expect((await client.call({ to: BOB })).data).toBe(pad('0x2a'))
    await expect(client.loadState({ state: '0x1234' })).rejects.toThrow('no dumped state')
  })

  test('reset goes back to genesis, in state, blocks, time and mode', async () => {
    await client.setAutomine(false)
    await client.setBalance({ address: ALICE, value: 77n })
    await client.increaseTime({ seconds: 86_400 })
    await client.mine({ blocks: 5 })
    await client.reset()
    expect(await client.getBlockNumber()).toBe(0n)
    expect(await client.getBalance({ address: ALICE })).toBe(0n)
    expect(await client.getAutomine()).toBe(true)
    await client.mine({ blocks: 1 })
    expect(Number((await client.getBlock()).timestamp) - Date.now() / 1_000).toBeLessThan(60)
    await expect(client.reset({ jsonRpcUrl: 'http://127.0.0.1:1', blockNumber: 1n })).rejects.toThrow(
      'forking is not supported',
    )
  })

  test('setLoggingEnabled is taken; setMinGasPrice and setRpcUrl do not exist here', async () => {
    await client.setLoggingEnabled(true)
    await expect(client.setMinGasPrice({ gasPrice: 1n })).rejects.toThrow('does not exist')
    await expect(client.setRpcUrl('http://127.0.0.1:1')).rejects.toThrow('does not exist')
  })

  test('sendUnsignedTransaction needs no key and no impersonation', async () => {
    await client.setBalance({ address: ALICE, value: parseEther('1') })
    const hash = await client.sendUnsignedTransaction({ from: ALICE, to: BOB, value: 3n })
    expect(await client.getTransactionReceipt({ hash })).toMatchObject({ from: ALICE.toLowerCase(), status: 'success' })
  })

  test.runIf(mode === 'anvil')('setBlockTimestampInterval, removeBlockTimestampInterval', async () => {
    await client.setBlockTimestampInterval({ interval: 86_400 })
    const before = await client.getBlock()
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).timestamp - before.timestamp).toBe(86_400n)
    await client.removeBlockTimestampInterval()
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).timestamp - before.timestamp).toBeLessThan(2n * 86_400n)
  })

  test('subscribers and filters follow a chain that goes back', async () => {
    const reader = createPublicClient({ chain: client.chain, transport: http() })
    const filter = await reader.createBlockFilter()
    const id = await client.snapshot()
    await client.mine({ blocks: 2 })
    const gone = await reader.getFilterChanges({ filter })
    expect(gone).toHaveLength(2)
    await client.revert({ id })
    // Else the same block would come again.
    await client.setBalance({ address: ALICE, value: 5n })
    await client.mine({ blocks: 1 })
    const fresh = await reader.getFilterChanges({ filter })
    expect(fresh).toEqual([(await reader.getBlock()).hash])
    expect(await reader.getBlock({ blockHash: gone[0] as Hash }).catch(() => null)).toBeNull()
    expect(numberToHex(await client.getBlockNumber())).toBe(await node.rpc('eth_blockNumber'))
  })
})
