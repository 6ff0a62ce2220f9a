import {
  AbiCoder,
  Contract,
  ContractFactory,
  type ContractTransactionReceipt,
  type ContractTransactionResponse,
  getCreateAddress,
  Interface,
  JsonRpcProvider,
  keccak256,
  type TransactionReceipt,
  Wallet,
  WebSocketProvider,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, type RunningNode, startDevnet } from '../support/devnet.ts'
import { scrape } from '../support/scrape.ts'
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

const ABI = new Interface(LEDGER_ABI)

let node: RunningNode
let compiled: CompiledLedger
let provider: JsonRpcProvider
let wallet: Wallet
let ledger: Contract
let deployedAt: number

const key = (index: number): string => node.accounts[index]?.privateKey as string
const send = (name: string, ...args: readonly unknown[]): Promise<ContractTransactionResponse> =>
  ledger.getFunction(name).send(...args)
const mined = async (response: { wait(): Promise<TransactionReceipt | null> }): Promise<TransactionReceipt> => {
  const receipt = await response.wait()
  if (receipt === null) throw new Error('no receipt')
  return receipt
}

beforeAll(async () => {
  compiled = compileLedger()
  node = await startDevnet(['--block-time', '0.25', '--metrics-port', '0'])
  provider = new JsonRpcProvider(node.http, undefined, { polling: true, pollingInterval: 100, cacheTimeout: -1 })
  wallet = new Wallet(key(0), provider)
})

afterAll(async () => {
  provider?.destroy()
  await node?.stop()
})

describe('ethers 6 over HTTP', () => {
  test('asks the network for its fees: 27.5 gwei at rest, no tip', async () => {
    const fees = await provider.getFeeData()
    expect(fees).toMatchObject({ gasPrice: RESTING_GAS_PRICE, maxPriorityFeePerGas: 0n })
    expect(fees.maxFeePerGas).toBe(2n * RESTING_BASE_FEE)
    expect((await provider.getNetwork()).chainId).toBe(BigInt(node.chainId))
  })

  test('deploys with default fees, at the address of sender and nonce', async () => {
    const deployed = await new ContractFactory(ABI, compiled.bytecode, wallet).deploy(1_000_000n)
    await deployed.waitForDeployment()
    ledger = new Contract(await deployed.getAddress(), ABI, wallet)
    const transaction = deployed.deploymentTransaction()
    expect(transaction?.type).toBe(2)
    expect(await ledger.getAddress()).toBe(getCreateAddress({ from: wallet.address, nonce: transaction?.nonce ?? -1 }))
    const receipt = await provider.getTransactionReceipt(transaction?.hash ?? '')
    expect(receipt).toMatchObject({ status: 1, type: 2, contractAddress: await ledger.getAddress(), to: null })
    deployedAt = receipt?.blockNumber ?? -1
    expect(await provider.getCode(ledger)).toBe(compiled.runtime)
  })

  test('sends with default fees, and the sender pays what the receipt says', async () => {
    const before = await provider.getBalance(wallet)
    const receipt = await mined(await send('buy', { value: 7n }))
    expect(receipt).toMatchObject({ status: 1, type: 2, gasPrice: RESTING_BASE_FEE })
    expect(await provider.getBalance(wallet)).toBe(before - receipt.fee - 7n)
  })

  test.each([
    { name: 'legacy', type: 0, paid: RESTING_GAS_PRICE },
    { name: 'access list', type: 1, paid: RESTING_GAS_PRICE },
    { name: 'dynamic fee with a tip of 1.5 gwei', type: 2, paid: RESTING_BASE_FEE + 15n * 10n ** 8n },
  ])('sends a $name transaction', async ({ type, paid }) => {
    const tip = { maxPriorityFeePerGas: 15n * 10n ** 8n, maxFeePerGas: 60n * GWEI }
    const accessList = [{ address: await ledger.getAddress(), storageKeys: [`0x${'00'.repeat(32)}`] }]
    const response = await send('transfer', SINK, 1n, {
      type,
      ...(type === 1 && { accessList }),
      ...(type === 2 && tip),
    })
    const receipt = await mined(response)
    expect(receipt).toMatchObject({ status: 1, type, gasPrice: paid })
    const found = await provider.getTransaction(receipt.hash)
    expect(found).toMatchObject({ type, from: wallet.address, blockNumber: receipt.blockNumber })
    expect(found?.accessList ?? []).toHaveLength(type === 1 ? 1 : 0)
    expect(found?.chainId).toBe(BigInt(node.chainId))
  })

  test('waits for three confirmations', async () => {
    const receipt = await (await send('transfer', SINK, 1n)).wait(3)
    expect(await receipt?.confirmations()).toBeGreaterThanOrEqual(3)
  })

  test('calls, and the called code sees its block', async () => {
    expect(await ledger.getFunction('balanceOf')(SINK)).toBeGreaterThanOrEqual(4n)
    const blockTag = await provider.getBlockNumber()
    const facts = (overrides: object) => ledger.getFunction('blockFacts')({ blockTag, ...overrides })
    // Without a price the base fee is 0, as in geth.
    for (const [overrides, fee] of [
      [{}, 0n],
      [{ gasPrice: RESTING_GAS_PRICE }, RESTING_BASE_FEE],
    ] as const) {
      const [number, chain, baseFee] = await facts(overrides)
      expect([Number(number), chain, baseFee]).toEqual([blockTag, BigInt(node.chainId), fee])
    }
    // The state of old blocks answers too: nothing was there before the deployment.
    expect(await provider.getCode(ledger, deployedAt - 1)).toBe('0x')
  })

  test("reads a mapping's slot where the interface says it is", async () => {
    const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [SINK, 0]))
    expect(BigInt(await provider.getStorage(ledger, slot))).toBe(await ledger.getFunction('balanceOf')(SINK))
  })

  test('decodes why a call reverts: string, custom error, panic', async () => {
    await expect(ledger.getFunction('refuse').staticCall()).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      reason: 'refused as asked',
    })
    await expect(ledger.getFunction('transfer').staticCall(SINK, 10n ** 30n)).rejects.toMatchObject({
      revert: { name: 'InsufficientBalance', args: [expect.any(BigInt), 10n ** 30n] },
    })
    await expect(ledger.getFunction('divide').staticCall(1n, 0n)).rejects.toMatchObject({
      reason: 'Panic due to DIVIDE_BY_ZERO(18)',
    })
  })

  test('an estimate of a reverting call says why, before anything is sent', async () => {
    const nonce = await provider.getTransactionCount(wallet, 'pending')
    // The wallet that estimates knows no contract: it passes the data of the error on as it came.
    await expect(send('transfer', SINK, 10n ** 30n)).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      action: 'estimateGas',
      data: expect.stringMatching(new RegExp(`^${ABI.getError('InsufficientBalance')?.selector}[0-9a-f]{128}$`)),
    })
    await expect(send('refuse')).rejects.toMatchObject({ reason: 'refused as asked' })
    expect(await provider.getTransactionCount(wallet, 'pending')).toBe(nonce)
  })

  test('a transaction that fails in its block has a receipt with status 0 and no logs', async () => {
    const response = await send('transfer', SINK, 10n ** 30n, { gasLimit: 100_000n })
    const failed = (await response.wait().catch((error: { receipt: ContractTransactionReceipt }) => error.receipt)) as
      | ContractTransactionReceipt
      | undefined
    expect(failed).toMatchObject({ status: 0, logs: [] })
    expect(failed?.gasUsed).toBeLessThan(100_000n)
  })

  test('estimates: exact for a transfer of value, enough for a call', async () => {
    expect(await provider.estimateGas({ from: wallet.address, to: SINK, value: 1n })).toBe(21_000n)
    const estimate = await ledger.getFunction('transfer').estimateGas(wallet.address, 1n)
    const receipt = await mined(await send('transfer', wallet.address, 1n, { gasLimit: estimate }))
    expect(receipt.status).toBe(1)
  })

  test('finds past events by topic and range', async () => {
    const mint = await ledger.queryFilter(ledger.getEvent('Transfer')(`0x${'00'.repeat(20)}`), 0)
    expect(mint.map(log => log.blockNumber)).toContain(deployedAt)
    const paid = await ledger.queryFilter(ledger.getEvent('Transfer')(wallet.address, SINK), deployedAt)
    expect(paid.length).toBeGreaterThanOrEqual(4)
    expect(await ledger.queryFilter('Transfer', 0, deployedAt - 1)).toEqual([])
  })

  test('watches events, blocks and pending transactions by polling', async () => {
    const event = signal<bigint>('event')
    const block = signal<number>('block')
    await ledger.on('Transfer', (_from, _to, value: bigint) => event.arrived(value))
    await provider.on('block', block.arrived)
    await send('transfer', SINK, 17n)
    expect(await event.promise).toBe(17n)
    expect(await block.promise).toBeGreaterThan(deployedAt)
    await ledger.removeAllListeners()
    await provider.removeAllListeners()
  })

  test('a transaction is pending until it is in a block', async () => {
    const other = new Wallet(key(9), provider)
    // A gap: it cannot be included before its predecessor comes.
    const nonce = await provider.getTransactionCount(other, 'pending')
    const late = await other.sendTransaction({ to: SINK, value: 1n, nonce: nonce + 1 })
    const found = await provider.send('eth_getTransactionByHash', [late.hash])
    expect(found).toMatchObject({ blockHash: null, blockNumber: null, transactionIndex: null })
    expect(await provider.getTransactionReceipt(late.hash)).toBeNull()
    const first = await other.sendTransaction({ to: SINK, value: 1n, nonce })
    expect(await provider.getTransactionCount(other, 'pending')).toBe(nonce + 2)
    const receipts = await Promise.all([mined(first), mined(late)])
    expect(receipts.map(({ status }) => status)).toEqual([1, 1])
  })

  test('the pending block has neither number nor hash', async () => {
    const pending = await provider.send('eth_getBlockByNumber', ['pending', false])
    expect(pending).toMatchObject({ number: null, hash: null })
    expect(await provider.getBalance(wallet, 'pending')).toBeGreaterThan(0n)
  })

  test.each(['safe', 'finalized'])('refuses the tag %s: a block is final when it is there', async tag => {
    const refusal = { error: { code: -32602, message: 'invalid argument 1: hex string without 0x prefix' } }
    await expect(provider.getBlock(tag)).rejects.toMatchObject(refusal)
    await expect(provider.getBalance(wallet, tag)).rejects.toMatchObject({
      error: { code: -32602, message: 'invalid argument 2: hex string without 0x prefix' },
    })
  })

  test('what the pool refuses becomes the error ethers knows', async () => {
    const other = new Wallet(key(8), provider)
    const first = await other.sendTransaction({ to: SINK, value: 1n })
    await mined(first)
    const used = { to: SINK, value: 2n, nonce: first.nonce }
    await expect(other.sendTransaction(used)).rejects.toMatchObject({ code: 'NONCE_EXPIRED' })
    const waiting = { to: SINK, nonce: first.nonce + 5 }
    await other.sendTransaction({ ...waiting, value: 1n })
    await expect(other.sendTransaction({ ...waiting, value: 2n })).rejects.toMatchObject({
      code: 'REPLACEMENT_UNDERPRICED',
    })
    const poor = Wallet.createRandom(provider)
    await expect(
      poor.sendTransaction({ to: SINK, value: 1n, gasLimit: 21_000n, gasPrice: RESTING_GAS_PRICE }),
    ).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    await expect(other.sendTransaction({ to: SINK, type: 0, gasPrice: 24n * GWEI })).rejects.toThrow(/underpriced/)
  })

  test('calls of one tick travel as one batch', async () => {
    const sent: number[] = []
    const batching = new JsonRpcProvider(node.http, node.chainId, { staticNetwork: true })
    await batching.on('debug', ({ action, payload }: { action: string; payload?: unknown }) => {
      if (action === 'sendRpcPayload') sent.push(Array.isArray(payload) ? payload.length : 1)
    })
    const accounts = node.accounts.map(({ address }) => address)
    const balances = await Promise.all(accounts.map(address => batching.getBalance(address)))
    expect(balances.every(balance => balance > 0n)).toBe(true)
    expect(sent).toContain(accounts.length)
    batching.destroy()
  })
})

describe('ethers 6 over WebSocket', () => {
  test('subscribes to heads, logs and pending transactions', async () => {
    const socket = new WebSocketProvider(node.ws)
    const watched = new Contract(await ledger.getAddress(), ABI, new Wallet(key(0), socket))
    const head = signal<number>('head')
    const log = signal<bigint>('log')
    const pending = signal<string>('pending transaction')
    await socket.on('block', head.arrived)
    await socket.on('pending', pending.arrived)
    await watched.on('Transfer', (_from, _to, value: bigint) => log.arrived(value))
    // ethers does not tell when a subscription stands.
    await eventually(
      'three subscriptions',
      async () => (await scrape(node.metrics)).get('rpc_active_subscriptions') ?? 0,
      count => count >= 3,
    )
    const response: ContractTransactionResponse = await watched.getFunction('transfer').send(SINK, 23n)
    expect(await pending.promise).toBe(response.hash)
    expect(await log.promise).toBe(23n)
    expect(await head.promise).toBeGreaterThan(deployedAt)
    expect((await mined(response)).status).toBe(1)
    await socket.destroy()
  })
})
