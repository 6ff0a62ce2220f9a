import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AbiItem, type TransactionReceipt, Web3 } from 'web3'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import {
  type CompiledLedger,
  compileLedger,
  GWEI,
  RESTING_BASE_FEE,
  RESTING_GAS_PRICE,
  SINK,
  signal,
} from './clients-ledger.ts'

/** Part of web3's contract that this test calls: its own types want the ABI as a literal. */
interface Contract {
  readonly options: { readonly address?: string }
  readonly methods: Record<string, (...args: unknown[]) => Method>
  readonly events: Record<string, () => Subscription>
  deploy(options: { data: string; arguments: unknown[] }): { send(options: object): Promise<Contract> }
  getPastEvents(name: string, filter: object): Promise<{ returnValues: { value: bigint } }[]>
}
interface Method {
  call(options?: object): Promise<unknown>
  send(options: object): Promise<TransactionReceipt>
  estimateGas(options: object): Promise<bigint>
}
interface Subscription {
  on(event: 'data', listener: (data: { returnValues: { value: bigint } }) => void): void
  on(event: 'connected', listener: () => void): void
  unsubscribe(): Promise<void>
}

let node: RunningNode
let compiled: CompiledLedger
let web3: Web3
let from: string
let ledger: Contract

const contractAt = (client: Web3, address?: string): Contract =>
  new client.eth.Contract(compiled.abi as AbiItem[], address) as unknown as Contract
const method = (name: string, ...args: unknown[]): Method => {
  const found = ledger.methods[name]
  if (!found) throw new Error(`no method ${name}`)
  return found(...args)
}

beforeAll(async () => {
  compiled = compileLedger()
  node = await startDevnet(['--block-time', '0.25'])
  web3 = new Web3(node.http)
  // Otherwise it goes on asking for 24 of them after each transaction, also after the test.
  web3.eth.transactionConfirmationBlocks = 2
  from = web3.eth.accounts.wallet.add(node.accounts[3]?.privateKey as string).get(0)?.address as string
  web3.eth.transactionPollingInterval = 100
})

afterAll(async () => {
  await node?.stop()
})

describe('web3 4 over HTTP', () => {
  test('deploys with default fees', async () => {
    const deployed = await contractAt(web3)
      .deploy({ data: compiled.bytecode, arguments: [1_000_000] })
      .send({ from })
    ledger = contractAt(web3, deployed.options.address)
    expect(await web3.eth.getCode(deployed.options.address as string)).toBe(compiled.runtime)
  })

  test('sends with its own fixed tip of 2.5 gwei, which is paid', async () => {
    const receipt = await method('transfer', SINK, 1).send({ from })
    expect(receipt).toMatchObject({ status: 1n, type: 2n, effectiveGasPrice: RESTING_BASE_FEE + 25n * 10n ** 8n })
  })

  test('sends a legacy transaction', async () => {
    const gasPrice = await web3.eth.getGasPrice()
    expect(gasPrice).toBe(RESTING_GAS_PRICE)
    const receipt = await method('transfer', SINK, 1).send({ from, gasPrice: String(gasPrice) })
    expect(receipt).toMatchObject({ status: 1n, type: 0n, effectiveGasPrice: RESTING_GAS_PRICE })
  })

  test('sends value, and counts confirmations', async () => {
    const confirmed = signal<bigint>('two confirmations')
    const sending = web3.eth.sendTransaction({ from, to: SINK, value: 5n })
    void sending.on('confirmation', ({ confirmations }) => {
      if (confirmations >= 2n) confirmed.arrived(confirmations)
    })
    expect((await sending).status).toBe(1n)
    expect(await confirmed.promise).toBeGreaterThanOrEqual(2n)
  })

  test('calls and estimates', async () => {
    expect(await method('balanceOf', SINK).call()).toBe(2n)
    expect(await method('transfer', SINK, 1).estimateGas({ from })).toBeGreaterThan(21_000n)
    expect(await web3.eth.getTransactionCount(from)).toBe(4n)
  })

  test('shows why a call reverts', async () => {
    await expect(method('refuse').call()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/refused as asked/) },
    })
    const poor = method('transfer', SINK, 10n ** 30n).call({ from })
    await expect(poor).rejects.toMatchObject({ cause: { errorName: 'InsufficientBalance' } })
    await expect(method('refuse').estimateGas({ from })).rejects.toThrow()
    await expect(method('refuse').send({ from })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/refused as asked/) },
    })
  })

  test('finds past events and logs', async () => {
    const events = await ledger.getPastEvents('Transfer', { fromBlock: 0 })
    expect(events.map(({ returnValues }) => returnValues.value)).toEqual([1_000_000n, 1n, 1n])
    const logs = await web3.eth.getPastLogs({
      fromBlock: '0x0',
      toBlock: 'latest',
      address: ledger.options.address as string,
    })
    expect(logs).toHaveLength(3)
  })

  test('a batch of requests', async () => {
    const batch = new web3.BatchRequest()
    const answers = node.accounts.map(({ address }, id) =>
      batch.add({ jsonrpc: '2.0', id: id + 1, method: 'eth_getBalance', params: [address, 'latest'] }),
    )
    await batch.execute()
    expect(await Promise.all(answers)).toContain(`0x${(10_000n * 10n ** 18n).toString(16)}`)
  })

  test.each(['safe', 'finalized'])('refuses the tag %s', async tag => {
    await expect(web3.eth.getBlock(tag)).rejects.toMatchObject({ cause: { code: -32602 } })
  })

  test('reads the pending block and the fee history', async () => {
    const pending = await web3.eth.getBlock('pending')
    expect(pending.baseFeePerGas).toBe(RESTING_BASE_FEE)
    const history = await web3.eth.getFeeHistory(2, 'latest', [50])
    expect(history.baseFeePerGas).toContainEqual(RESTING_BASE_FEE)
    expect(await web3.eth.calculateFeeData()).toMatchObject({ gasPrice: RESTING_GAS_PRICE, baseFeePerGas: 25n * GWEI })
  })
})

describe('web3 4 over WebSocket', () => {
  test('subscribes to heads, logs and pending transactions', async () => {
    const socket = new Web3(node.ws)
    const head = signal<unknown>('head')
    const log = signal<bigint>('log')
    const pending = signal<unknown>('pending transaction')
    const heads = await socket.eth.subscribe('newBlockHeaders')
    heads.on('data', head.arrived)
    const transactions = await socket.eth.subscribe('newPendingTransactions')
    transactions.on('data', pending.arrived)
    const transfers = contractAt(socket, ledger.options.address).events['Transfer']?.() as Subscription
    await new Promise<void>(resolve => transfers.on('connected', resolve))
    transfers.on('data', ({ returnValues }) => log.arrived(returnValues.value))
    const receipt = await method('transfer', SINK, 31).send({ from })
    expect(await pending.promise).toBe(receipt.transactionHash)
    expect(await log.promise).toBe(31n)
    await head.promise
    socket.currentProvider?.disconnect()
  })
})
