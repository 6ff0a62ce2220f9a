import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { METHODS } from '../../../src/rpc/methods/methods.ts'
import { SENDER, signedTransaction } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'
import { startSample, TOKEN, TOPIC } from '../../support/rpc/sample.ts'

/** Methods of the OpenRPC document of ethereum/execution-apis at 033ca6e6, and those merged since (#797, #801: 5eb49869). */
const EXECUTION_APIS: readonly string[] = [
  'debug_getBadBlocks',
  'debug_getRawBlock',
  'debug_getRawBlockAccessList',
  'debug_getRawHeader',
  'debug_getRawReceipts',
  'debug_getRawTransaction',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
  'eth_accounts',
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_capabilities',
  'eth_chainId',
  'eth_coinbase',
  'eth_config',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_fillTransaction',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockAccessList',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_getLogs',
  'eth_getProof',
  'eth_getStorageAt',
  'eth_getStorageValues',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_newBlockFilter',
  'eth_newFilter',
  'eth_newPendingTransactionFilter',
  'eth_sendRawTransaction',
  'eth_sendTransaction',
  'eth_sign',
  'eth_signTransaction',
  'eth_simulateV1',
  'eth_subscribe',
  'eth_syncing',
  'eth_uninstallFilter',
  'eth_unsubscribe',
  'net_version',
  'testing_buildBlockV1',
  'testing_commitBlockV1',
  'txpool_content',
  'txpool_contentFrom',
  'txpool_status',
]

test('each method of execution-apis is served, or refused with a reason in docs/design/rpc.md', () => {
  const page = readFileSync(new URL('../../../docs/design/rpc.md', import.meta.url), 'utf8')
  const [, section] = page.split("## Ethereum's methods") as [string, string]
  const refused = [...(section.split('## ')[0] as string).matchAll(/^\| (`.*?) \| \S/gm)].flatMap(([, names]) =>
    (names as string).split(', ').map(name => name.slice(1, -1)),
  )
  expect(EXECUTION_APIS.length).toBeGreaterThan(50)
  expect(EXECUTION_APIS.filter(name => !Object.hasOwn(METHODS, name)).toSorted()).toEqual(
    refused.filter(name => !name.endsWith('*')).toSorted(),
  )
})

const sampled = async (): Promise<Rig> => {
  const rig = await startSample()
  onTestFinished(() => rig.stop())
  return rig
}

test('capabilities name the oldest block and state', async () => {
  const rig = await sampled()
  rig.chain.prunedBelow = 2
  rig.chain.earliest = () => 1
  const { header, hash } = rig.chain.head()
  const blocks = { disabled: false, oldestBlock: '0x1' }
  const states = { disabled: false, oldestBlock: '0x2' }
  expect(await rig.result('eth_capabilities')).toEqual({
    head: { number: `0x${header.number.toString(16)}`, hash },
    ...{ blocks, tx: blocks, logs: blocks, receipts: blocks, state: states, stateproofs: states },
  })
})

test('storage values come by account, in the order of their positions', async () => {
  const rig = await sampled()
  const word = `0x${'0'.repeat(63)}7` as const
  rig.chain.slots.set(TOKEN + TOPIC, word)
  const zero = `0x${'0'.repeat(64)}`
  expect(await rig.result('eth_getStorageValues', [{ [TOKEN]: ['0x1', TOPIC], [SENDER]: [] }, 'latest'])).toEqual({
    [TOKEN]: [zero, word],
    [SENDER]: [],
  })
  const failures = [{}, { '0x1': [] }, { [TOKEN]: Array(1_025).fill('0x0') }, { [TOKEN]: ['1'] }]
  const texts = await Promise.all(failures.map(request => rig.failure('eth_getStorageValues', [request, 'latest'])))
  expect(texts).toEqual([
    '-32602 empty request',
    '-32602 invalid argument 1: hex string of odd length',
    '-32602 invalid argument 1: too many positions, at most 1024',
    `-32602 invalid argument 1: position 0 of ${TOKEN}: hex string without 0x prefix`,
  ])
})

test('a transaction is filled for any sender', async () => {
  const rig = await sampled()
  const call = { from: SENDER, to: TOKEN, value: '0x1', gas: '0x5208' }
  const filled = await rig.result<{ raw: string; tx: object }>('eth_fillTransaction', [call])
  expect(filled.tx).toMatchObject({ ...call, type: '0x2', nonce: '0x6', maxFeePerGas: '0x66720b300' })
  const legacy = await rig.result<{ tx: object }>('eth_fillTransaction', [{ ...call, gasPrice: '0x1' }])
  expect(legacy.tx).toMatchObject({ type: '0x0', gasPrice: '0x1' })
  const typed = await rig.result<{ raw: string; tx: object }>('eth_fillTransaction', [
    { ...call, maxFeePerGas: '0x10', maxPriorityFeePerGas: '0x2' },
  ])
  expect(typed.tx).toMatchObject({ type: '0x2', maxFeePerGas: '0x10', maxPriorityFeePerGas: '0x2', accessList: [] })
  expect(typed.raw.startsWith('0x02')).toBe(true)
})

test('a transaction sent in sync has its receipt once it is in a block', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  const transaction = signedTransaction({ nonce: 5 })
  const raw = `0x${Buffer.from(transaction.raw).toString('hex')}`
  const sent = rig.result<{ transactionHash: string }>('eth_sendRawTransactionSync', [raw, 10_000])
  await expect.poll(() => rig.pool.get(transaction.hash)).toBeDefined()
  rig.chain.append()
  rig.chain.append({ transactions: [transaction], logs: [[]] })
  expect(await sent).toMatchObject({ transactionHash: transaction.hash, blockNumber: '0x2' })
  // It is in a block already.
  expect(await rig.result('eth_sendRawTransactionSync', [raw, '0x64'])).toMatchObject({ blockNumber: '0x2' })
})

test('a transaction sent in sync again waits for the same receipt, and has it when it is in a block', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  const transaction = signedTransaction({ nonce: 5 })
  const raw = `0x${Buffer.from(transaction.raw).toString('hex')}`
  rig.pool.add(transaction)
  rig.pool.refusal = { code: 'ALREADY_KNOWN' }
  const again = rig.result('eth_sendRawTransactionSync', [raw, 10_000])
  await rig.result('eth_blockNumber')
  rig.chain.append({ transactions: [transaction], logs: [[]] })
  expect(await again).toMatchObject({ blockNumber: '0x1' })
  rig.pool.remove(transaction.hash)
  rig.pool.refusal = { code: 'NONCE_TOO_LOW' }
  expect(await rig.result('eth_sendRawTransactionSync', [raw])).toMatchObject({ blockNumber: '0x1' })
  const other = `0x${Buffer.from(signedTransaction({ nonce: 4 }).raw).toString('hex')}`
  expect(await rig.failure('eth_sendRawTransactionSync', [other])).toContain('nonce too low')
})

test('a transaction sent in sync that leaves the pool without a block is told so with the next one', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  const transaction = signedTransaction({ nonce: 5 })
  const raw = `0x${Buffer.from(transaction.raw).toString('hex')}`
  const sent = rig.call('eth_sendRawTransactionSync', [raw, 10_000])
  await expect.poll(() => rig.pool.get(transaction.hash)).toBeDefined()
  rig.pool.remove(transaction.hash)
  rig.chain.append()
  const message = 'the transaction left the pool without a block: it was replaced or dropped'
  expect((await sent).error).toEqual({ code: 4, message, data: transaction.hash })
})

test('a transaction sent in sync that is in no block is error 4, one behind a gap 5, both with the hash', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  const send = (nonce: number, timeout?: unknown) => {
    const { raw, hash } = signedTransaction({ nonce })
    const params = [`0x${Buffer.from(raw).toString('hex')}`, ...(timeout === undefined ? [] : [timeout])]
    return rig
      .call('eth_sendRawTransactionSync', params)
      .then(({ error }) => ({ ...error, isIts: error?.data === hash }))
  }
  expect(await send(5, 1)).toMatchObject({
    code: 4,
    message: 'the transaction is in the pool but was in no block within 0.001 s',
    isIts: true,
  })
  expect(await send(9, '0x1')).toMatchObject({
    code: 5,
    message: expect.stringContaining('the transaction waits in the pool for one with nonce '),
    isIts: true,
  })
  // No time within the limits: the default.
  for (const timeout of [undefined, 0, '0x989680'])
    expect(await send(5, timeout)).toMatchObject({ code: 4, message: expect.stringContaining('within 2 s') })
  expect(await send(5, 'soon')).toMatchObject({ code: -32602 })
})
