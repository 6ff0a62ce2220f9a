import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  getContractAddress,
  type Hash,
  type Hex,
  http,
  InsufficientFundsError,
  InvalidParamsRpcError,
  NonceTooLowError,
  parseEther,
  type TransactionReceipt,
  webSocket,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import {
  type CompiledLedger,
  compileLedger,
  GWEI,
  LEDGER_ABI,
  RESTING_BASE_FEE,
  RESTING_GAS_PRICE,
  SINK,
  signal,
} from './clients-ledger.ts'

const abi = LEDGER_ABI

const clientsOf = (node: RunningNode, index: number) => {
  const chain = defineChain({
    id: node.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'dTNDM', symbol: 'dTNDM', decimals: 18 },
    rpcUrls: { default: { http: [node.http], webSocket: [node.ws] } },
  })
  const account = privateKeyToAccount(node.accounts[index]?.privateKey as Hex)
  const reader = createPublicClient({ chain, transport: http(), pollingInterval: 100, cacheTime: 0 })
  const wallet = createWalletClient({ account, chain, transport: http(), pollingInterval: 100 })
  return { chain, account, reader, wallet }
}

let node: RunningNode
let compiled: CompiledLedger
let clients: ReturnType<typeof clientsOf>
let address: Hex
let deployedAt: bigint

const receiptOf = (hash: Hash): Promise<TransactionReceipt> => clients.reader.waitForTransactionReceipt({ hash })
const transfer = (value: bigint, over: object = {}): Promise<Hash> =>
  clients.wallet.writeContract({ address, abi, functionName: 'transfer', args: [SINK, value], ...over })

/** The error of the wanted kind inside what viem throws. */
const causeOf = async <Kind extends Error>(
  promise: Promise<unknown>,
  kind: abstract new (...args: never[]) => Kind,
): Promise<Kind> => {
  const error = await promise.then(
    () => new Error('nothing was thrown'),
    (thrown: Error) => thrown,
  )
  const cause = error instanceof BaseError ? error.walk(inner => inner instanceof kind) : null
  if (!(cause instanceof kind)) throw error
  return cause
}

beforeAll(async () => {
  compiled = compileLedger()
  node = await startDevnet(['--block-time', '0.25'])
  clients = clientsOf(node, 1)
})

afterAll(async () => {
  await node?.stop()
})

describe('viem over HTTP', () => {
  test('reads fees: no tip, base fee at its floor, history in the usual shape', async () => {
    const { reader } = clients
    expect(await reader.getChainId()).toBe(node.chainId)
    expect(await reader.getGasPrice()).toBe(RESTING_GAS_PRICE)
    expect(await reader.estimateMaxPriorityFeePerGas()).toBe(0n)
    expect(await reader.estimateFeesPerGas()).toEqual({ maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 0n })
    const history = await reader.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] })
    expect(history.baseFeePerGas.every(fee => fee === RESTING_BASE_FEE)).toBe(true)
  })

  test('deploys with default fees', async () => {
    const { reader, wallet, account } = clients
    const hash = await wallet.deployContract({ abi, bytecode: compiled.bytecode, args: [1_000_000n] })
    const receipt = await receiptOf(hash)
    expect(receipt).toMatchObject({ status: 'success', type: 'eip1559', effectiveGasPrice: RESTING_BASE_FEE })
    const { nonce } = await reader.getTransaction({ hash })
    address = receipt.contractAddress as Hex
    expect(address).toBe(getContractAddress({ from: account.address, nonce: BigInt(nonce) }).toLowerCase())
    deployedAt = receipt.blockNumber
    expect(await reader.getCode({ address })).toBe(compiled.runtime)
  })

  test.each(['eip1559', 'legacy', 'eip2930'] as const)('sends a transaction of type %s', async type => {
    const accessList = [{ address, storageKeys: [`0x${'00'.repeat(32)}` as Hex] }]
    const receipt = await receiptOf(await transfer(1n, { type, ...(type === 'eip2930' && { accessList }) }))
    expect(receipt).toMatchObject({ status: 'success', type })
    const found = await clients.reader.getTransaction({ hash: receipt.transactionHash })
    expect(found).toMatchObject({ type, blockNumber: receipt.blockNumber })
    // The library puts a fifth on top of the suggested price for the two plain types, and they pay it whole.
    expect(receipt.effectiveGasPrice).toBe(type === 'eip1559' ? RESTING_BASE_FEE : 33n * GWEI)
  })

  test('waits for confirmations, and finds the transaction in its block', async () => {
    const { reader } = clients
    const hash = await transfer(1n)
    const receipt = await reader.waitForTransactionReceipt({ hash, confirmations: 3 })
    expect(await reader.getTransactionConfirmations({ hash })).toBeGreaterThanOrEqual(3n)
    const block = await reader.getBlock({ blockHash: receipt.blockHash, includeTransactions: true })
    expect(block.transactions.map(transaction => transaction.hash)).toContain(hash)
    expect(block.totalDifficulty).toBe(block.number + 1n)
  })

  test('simulates, reads, estimates, makes an access list', async () => {
    const { reader, account } = clients
    const call = { account, address, abi, functionName: 'transfer', args: [SINK, 1n] } as const
    expect((await reader.simulateContract(call)).result).toBe(true)
    expect(await reader.estimateGas({ account, to: SINK, value: 1n })).toBe(21_000n)
    const estimate = await reader.estimateContractGas(call)
    const { gasUsed } = await receiptOf(await transfer(1n, { gas: estimate }))
    expect(gasUsed).toBeLessThanOrEqual(estimate)
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [SINK, 1n] })
    const listed = await reader.createAccessList({ account, to: address, data })
    expect(listed.accessList.map(entry => entry.address)).toContain(address)
    const [number, chain] = await reader.readContract({
      address,
      abi,
      functionName: 'blockFacts',
      blockNumber: deployedAt,
    })
    expect([number, chain]).toEqual([deployedAt, BigInt(node.chainId)])
  })

  test('calls with another state than the real one', async () => {
    const { reader } = clients
    const elsewhere = '0x00000000000000000000000000000000000c0de0'
    const call = { address: elsewhere, abi, functionName: 'divide', args: [42n, 6n] } as const
    const stateOverride = [{ address: elsewhere, code: compiled.runtime }] as const
    expect(await reader.readContract({ ...call, stateOverride: [...stateOverride] })).toBe(7n)
    await expect(reader.readContract(call)).rejects.toThrow(/returned no data/)
  })

  test('decodes why a call reverts: custom error, string, panic', async () => {
    const { reader, account } = clients
    const poor = reader.simulateContract({ account, address, abi, functionName: 'transfer', args: [SINK, 10n ** 30n] })
    const custom = await causeOf(poor, ContractFunctionRevertedError)
    expect(custom.data).toMatchObject({ errorName: 'InsufficientBalance', args: [expect.any(BigInt), 10n ** 30n] })
    const refused = reader.readContract({ address, abi, functionName: 'refuse' })
    expect((await causeOf(refused, ContractFunctionRevertedError)).reason).toBe('refused as asked')
    const panicked = reader.readContract({ address, abi, functionName: 'divide', args: [1n, 0n] })
    expect((await causeOf(panicked, ContractFunctionRevertedError)).data).toMatchObject({
      errorName: 'Panic',
      args: [18n],
    })
    const data = encodeFunctionData({ abi, functionName: 'refuse' })
    await expect(reader.estimateGas({ account, to: address, data })).rejects.toThrow(/refused as asked/)
  })

  test('past logs by event, argument and block hash', async () => {
    const { reader, account } = clients
    const range = { fromBlock: 'earliest', toBlock: 'latest' } as const
    const all = await reader.getContractEvents({ address, abi, eventName: 'Transfer', ...range })
    expect(all[0]?.args).toMatchObject({ to: account.address, value: 1_000_000n })
    const paid = await reader.getContractEvents({ address, abi, eventName: 'Transfer', args: { to: SINK }, ...range })
    expect(paid).toHaveLength(all.length - 1)
    const blockHash = paid[0]?.blockHash as Hash
    expect(await reader.getLogs({ address, blockHash })).toHaveLength(1)
  })

  test('watches events, blocks and pending transactions by polling', async () => {
    const { reader } = clients
    const event = signal<bigint | undefined>('event')
    const block = signal<bigint>('block')
    const pending = signal<Hash>('pending transaction')
    const onError = (error: Error) => expect.unreachable(error.message)
    const stops = [
      reader.watchContractEvent({
        address,
        abi,
        eventName: 'Transfer',
        onLogs: logs => event.arrived(logs[0]?.args.value),
        onError,
      }),
      reader.watchBlocks({ onBlock: ({ number }) => block.arrived(number), onError }),
      reader.watchPendingTransactions({ onTransactions: ([hash]) => hash && pending.arrived(hash), onError }),
    ]
    await block.promise
    const hash = await transfer(19n)
    expect(await pending.promise).toBe(hash)
    expect(await event.promise).toBe(19n)
    for (const stop of stops) stop()
  })

  test('the pending block and its nonce', async () => {
    const { reader, account } = clients
    const block = await reader.getBlock({ blockTag: 'pending' })
    expect(block).toMatchObject({ number: null, hash: null })
    const nonce = await reader.getTransactionCount({ address: account.address, blockTag: 'pending' })
    const hash = await transfer(1n)
    expect(await reader.getTransactionCount({ address: account.address, blockTag: 'pending' })).toBe(nonce + 1)
    await receiptOf(hash)
  })

  test('notices that a waiting transaction was replaced', async () => {
    const { reader, wallet, account } = clientsOf(node, 2)
    // The transaction after the next one waits for it, so it can be replaced in peace.
    const next = await reader.getTransactionCount({ address: account.address })
    const fees = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: GWEI }
    await wallet.sendTransaction({ to: SINK, value: 1n, nonce: next + 1, gas: 21_000n, ...fees })
    const better = { maxFeePerGas: 60n * GWEI, maxPriorityFeePerGas: 2n * GWEI }
    const winner = await wallet.sendTransaction({ to: SINK, value: 2n, nonce: next + 1, gas: 21_000n, ...better })
    await wallet.sendTransaction({ to: SINK, value: 1n, nonce: next, gas: 21_000n, ...fees })
    const receipt = await reader.waitForTransactionReceipt({ hash: winner })
    expect(receipt).toMatchObject({ status: 'success', effectiveGasPrice: RESTING_BASE_FEE + 2n * GWEI })
  })

  test.each(['safe', 'finalized'] as const)('refuses the tag %s', async blockTag => {
    const error = await causeOf(clients.reader.getBlock({ blockTag }), InvalidParamsRpcError)
    expect(error.details).toBe('invalid argument 1: hex string without 0x prefix')
  })

  test('knows the errors of the pool', async () => {
    const { wallet, account, reader } = clients
    const spent = parseEther('1000000')
    await causeOf(wallet.sendTransaction({ to: SINK, value: spent, gas: 21_000n }), InsufficientFundsError)
    const nonce = (await reader.getTransactionCount({ address: account.address })) - 1
    await causeOf(wallet.sendTransaction({ to: SINK, value: 1n, gas: 21_000n, nonce }), NonceTooLowError)
    await expect(wallet.sendTransaction({ to: SINK, value: 1n, gas: 20_999n })).rejects.toThrow(/intrinsic gas too low/)
  })

  test('batches calls, and takes a block by its hash (EIP-1898)', async () => {
    const batching = createPublicClient({ chain: clients.chain, transport: http(node.http, { batch: true }) })
    const balances = await Promise.all(node.accounts.map(account => batching.getBalance({ address: account.address })))
    expect(balances).toHaveLength(10)
    const { hash } = await batching.getBlock()
    const balance = await batching.request({
      method: 'eth_getBalance',
      params: [clients.account.address, { blockHash: hash } as never],
    })
    expect(BigInt(balance)).toBeGreaterThan(0n)
  })
})

describe('viem over WebSocket', () => {
  test('watches heads, logs and pending transactions, and sends on the same socket', async () => {
    const { chain, account } = clients
    const transport = webSocket(node.ws)
    const reader = createPublicClient({ chain, transport })
    const wallet = createWalletClient({ chain, account, transport })
    const head = signal<bigint>('head')
    const log = signal<bigint | undefined>('log')
    const pending = signal<Hash>('pending transaction')
    const stops = [
      reader.watchBlockNumber({ onBlockNumber: head.arrived }),
      reader.watchContractEvent({
        address,
        abi,
        eventName: 'Transfer',
        onLogs: logs => log.arrived(logs[0]?.args.value),
      }),
      reader.watchPendingTransactions({ onTransactions: ([hash]) => hash && pending.arrived(hash) }),
    ]
    await head.promise
    const hash = await wallet.writeContract({ address, abi, functionName: 'transfer', args: [SINK, 29n] })
    expect(await pending.promise).toBe(hash)
    expect(await log.promise).toBe(29n)
    expect((await reader.waitForTransactionReceipt({ hash })).status).toBe('success')
    for (const stop of stops) stop()
    const socket = await reader.transport.getRpcClient()
    socket.close()
  })
})

test('sendTransactionSync and sendRawTransactionSync return receipts that are final, fillTransaction what to sign', async () => {
  const { wallet, reader, account } = clientsOf(node, 3)
  const receipt = await wallet.sendTransactionSync({ to: SINK, value: 1n })
  expect(receipt).toMatchObject({ status: 'success', from: account.address.toLowerCase() })
  const { transaction } = await reader.fillTransaction({ account: account.address, to: SINK, value: 2n })
  const { type, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, to, value } = transaction
  expect({ type, nonce }).toEqual({ type: 'eip1559', nonce: 1 })
  const fees = { maxFeePerGas, maxPriorityFeePerGas, type: 'eip1559' } as const
  const serializedTransaction = await wallet.signTransaction({ nonce, gas, to, value, ...fees })
  const raw = await wallet.sendRawTransactionSync({ serializedTransaction, timeout: 10_000 })
  expect(raw.blockNumber).toBeGreaterThan(receipt.blockNumber)
  const gap = await wallet.signTransaction({ nonce: 9, gas, to, value, ...fees })
  const error = await node.rpc('eth_sendRawTransactionSync', [gap]).catch(thrown => thrown)
  expect(error).toMatchObject({ rpcCode: 5, data: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
})
