import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { Transaction, verifyMessage } from 'ethers'
import { expect } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import { NETWORK_PROTOCOL_VERSION } from '../../../../src/network/messages/messages.ts'
import type { Endpoint } from '../endpoint.ts'
import { DISABLED, HELD, NOBODY, PAYER, type TestInterface, type TestNetwork } from '../networks.ts'
import type { InterfaceRow } from '../rows.ts'
import { typeProblem } from '../types.ts'
import { type Check, expectOutcome, notServed, type SectionChecks } from './check.ts'

const FEES = { gas: '0x5208', gasPrice: '0x6fc23ac00' }

/** Methods about what a block holds: they are asked about the block of the first transaction. */
const OF_A_BLOCK =
  /_get(Block|BlockByNumber|BlockTransactionCount|BlockTransactionCountByNumber|BlockReceipts|BlockWithConsensusInfo|TransactionByBlockNumberAndIndex)$/

/** Value of a parameter, by its name in the table. */
const argumentOf = (name: string, method: string, network: TestNetwork): unknown => {
  const values: Readonly<Record<string, unknown>> = {
    address: method === 'eth_sign' ? HELD : PAYER,
    block: OF_A_BLOCK.test(method) ? network.blockNumber : 'latest',
    'block hash': network.blockHash,
    position: '0x0',
    message: '0x1234',
    // No key is held on the devnet.
    call: {
      from: network.name === 'devnet' ? network.node.accounts[0]?.address : HELD,
      to: NOBODY,
      value: '0x1',
      ...FEES,
    },
    full: true,
    hash: network.legacy,
    index: '0x0',
    from: '0x0',
    to: '0x1',
  }
  if (name === 'transaction') return network.fresh()
  if (!Object.hasOwn(values, name)) throw new Error(`docs/interface.md has a parameter without a value here: ${name}`)
  return values[name]
}

interface Param {
  readonly name: string
  readonly isOptional: boolean
}

const paramsOf = ({ cells }: InterfaceRow): readonly Param[] =>
  (cells['params'] ?? '')
    .split(', ')
    .filter(name => name !== '')
    .map(name => ({ name: name.replace('?', ''), isOptional: name.endsWith('?') }))

const SIGNING = ['eth_sign', 'eth_signTransaction', 'eth_sendTransaction']

/** Checks a result beyond its type. */
type ValueCheck = (result: unknown, network: TestNetwork, args: readonly unknown[]) => unknown

const is =
  (value: unknown): ValueCheck =>
  result =>
    expect(result).toEqual(value)
const isNotBelowKnownBlock: ValueCheck = (result, { blockNumber }) =>
  expect(Number(result)).toBeGreaterThanOrEqual(Number(blockNumber))
const isTransaction: ValueCheck = (result, { legacy, blockHash, blockNumber }) =>
  expect(result).toMatchObject({ hash: legacy, blockHash, blockNumber, transactionIndex: '0x0' })
const isReceipt: ValueCheck = (result, { legacy, blockHash, blockNumber }) =>
  expect(result).toMatchObject({ transactionHash: legacy, blockHash, blockNumber, status: '0x1', gasUsed: '0x5208' })
const isBlock: ValueCheck = (result, { blockHash, blockNumber, legacy }) => {
  expect(result).toMatchObject({ hash: blockHash, number: blockNumber })
  expect((result as { transactions: readonly object[] }).transactions[0]).toMatchObject({ hash: legacy, blockHash })
}
/** As the block itself says. */
const isTransactionCount: ValueCheck = async (result, { http, blockHash }) => {
  const block = await http.ask('eth_getBlockByHash', [blockHash, false])
  const { transactions } = block.result as { transactions: readonly string[] }
  expect(transactions.length).toBeGreaterThan(0)
  expect(Number(result)).toBe(transactions.length)
}
/** The one validator, which is the operator's on the public networks. */
const isCouncil: ValueCheck = (result, { coinbase }) => expect(result).toEqual([coinbase])
const isHashOfSent: ValueCheck = (result, _, [raw]) => expect(result).toBe(keccak256Hex(hexToBytes(raw as Hex)))
/** Address without code, and the contract of the test. */
const isCode: ValueCheck = async (result, { http, contract }) => {
  expect(result).toBe('0x')
  await expectOutcome(http, 'eth_getCode', [contract, 'latest'], 'result "0x602a60005260206000f3"')
}

/** Values beyond their types, of every method. */
const VALUES: Readonly<Record<string, ValueCheck>> = {
  net_version: (result, { name }) => expect(result).toBe(String(NETWORKS[name].networkId)),
  net_listening: is(true),
  net_peerCount: is('0x0'),
  rpc_modules: result => expect(result).toMatchObject({ eth: '1.0', net: '1.0', rpc: '1.0' }),
  eth_chainId: (result, { name }) => expect(Number(result)).toBe(NETWORKS[name].chainId),
  eth_coinbase: (result, { coinbase }) => {
    expect(result).toBe(coinbase)
    expect(BigInt(result as string)).not.toBe(0n)
  },
  eth_syncing: is(false),
  eth_mining: is(false),
  eth_hashrate: is('0x0'),
  eth_accounts: is([]),
  eth_blockNumber: isNotBelowKnownBlock,
  native_blockNumber: isNotBelowKnownBlock,
  native_getBlockNumber: isNotBelowKnownBlock,
  eth_gasPrice: is('0x66720b300'),
  native_gasPrice: is('0x66720b300'),
  eth_maxPriorityFeePerGas: is('0x0'),
  native_maxPriorityFeePerGas: is('0x0'),
  native_lowerBoundGasPrice: is('0x5d21dba00'),
  native_upperBoundGasPrice: is('0xae9f7bcc00'),
  eth_getBalance: async (result, { name, http }) => {
    const funded = name === 'devnet' ? 0n : 1_000n * 10n ** 18n
    await expectOutcome(http, 'eth_getBalance', [PAYER, 'earliest'], `result "0x${funded.toString(16)}"`)
    if (funded === 0n) expect(result).toBe('0x0')
    else expect(BigInt(result as Hex) < funded).toBe(true)
  },
  eth_getTransactionCount: async (result, { name, http, blockNumber }) => {
    // The payer's first transaction is the first of its block.
    const before = `0x${(Number(blockNumber) - 1).toString(16)}`
    await expectOutcome(http, 'eth_getTransactionCount', [PAYER, before], 'result "0x0"')
    if (name === 'devnet') expect(result).toBe('0x0')
    else expect(Number(result)).toBeGreaterThanOrEqual(4)
  },
  eth_getCode: isCode,
  native_getCode: isCode,
  eth_getStorageAt: is(`0x${'0'.repeat(64)}`),
  eth_estimateGas: is('0x5208'),
  eth_call: is('0x'),
  eth_sendRawTransaction: isHashOfSent,
  eth_getTransactionByHash: isTransaction,
  eth_getTransactionByBlockHashAndIndex: isTransaction,
  eth_getTransactionByBlockNumberAndIndex: isTransaction,
  eth_getTransactionReceipt: isReceipt,
  eth_getBlockByHash: isBlock,
  eth_getBlockByNumber: isBlock,
  native_getBlock: isBlock,
  eth_getBlockTransactionCountByHash: isTransactionCount,
  eth_getBlockTransactionCountByNumber: isTransactionCount,
  native_getBlockTransactionCount: isTransactionCount,
  native_getBlockReceipts: async (result, network, args) => {
    const [first] = result as readonly unknown[]
    await isReceipt(first, network, args)
    await isTransactionCount((result as readonly unknown[]).length, network, args)
  },
  native_clientVersion: result => expect(result).toMatch(/^tandem\/\d+\.\d+\.\d+\/\w+-\w+\/node\d+/),
  native_protocolVersion: is(`0x${NETWORK_PROTOCOL_VERSION.toString(16)}`),
  native_getChainConfig: (result, { name }) => {
    const { chainId, blockTimeMs } = NETWORKS[name]
    const fork = { mainnet: 1_740_000, testnet: 327_400, devnet: 20 }[name]
    // The devnet of the test has a block time of its own.
    const blockTime = name === 'devnet' ? 0.2 : blockTimeMs / 1_000
    const proofChain = { algorithm: 'sha256d' }
    if (name === 'devnet') expect(result).toMatchObject({ chainId, blockTime, consensus: 'PBFT' })
    else expect(result).toEqual({ chainId, nativeHashForkBlock: fork, blockTime, consensus: 'PBFT', proofChain })
  },
  native_getBlockWithConsensusInfo: async (result, network, args) => {
    await isBlock(result, network, args)
    const validators = [network.coinbase]
    // A committee of one: one prepare and one commit.
    expect(result).toMatchObject({
      consensus: { round: expect.any(Number), prepareMsgNum: 1, commitMsgNum: 1, validators },
    })
  },
  native_getBlockWithConsensusInfoRange: result =>
    expect((result as readonly { number: string }[]).map(({ number }) => number)).toEqual(['0x0', '0x1']),
  native_getCommittee: isCouncil,
  native_getCouncil: isCouncil,
  native_getCommitteeSize: is(1),
  native_getCouncilSize: is(1),
}

/** Results of signing on the operator port: what another library reads from them. */
const SIGNED: Readonly<Record<string, ValueCheck>> = {
  eth_sign: (result, _, [, message]) =>
    expect(verifyMessage(hexToBytes(message as Hex), result as string).toLowerCase()).toBe(HELD),
  eth_signTransaction: (result, { name }) => {
    const { from, to, value, gasPrice, chainId } = Transaction.from(result as string)
    expect([from?.toLowerCase(), to?.toLowerCase(), value, gasPrice]).toEqual([HELD, NOBODY, 1n, 30_000_000_000n])
    expect(Number(chainId)).toBe(NETWORKS[name].chainId)
  },
  eth_sendTransaction: async (result, { http }) => {
    const { result: found } = await http.ask('eth_getTransactionByHash', [result])
    expect(found).toMatchObject({ hash: result, from: HELD, to: NOBODY, value: '0x1' })
  },
}

/** Checks one served method: every missing argument, and the type of its result. */
const checkServed = async (endpoint: Endpoint, network: TestNetwork, row: InterfaceRow): Promise<void> => {
  const { key: method, cells } = row
  const params = paramsOf(row)
  const args = (count: number) => params.slice(0, count).map(({ name }) => argumentOf(name, method, network))
  for (const [index, { isOptional }] of params.entries())
    if (!isOptional)
      await expectOutcome(endpoint, method, args(index), `-32602 missing value for required argument ${index + 1}`)
  const isPublic = endpoint.transport !== 'operator port'
  if (isPublic && SIGNING.includes(method))
    return expectOutcome(endpoint, method, args(params.length), '-32000 unknown account')
  const all = args(params.length)
  const { result, error } = await endpoint.ask(method, all)
  expect(error, `${endpoint.name}: ${method}`).toBeUndefined()
  expect(typeProblem(cells['result'] ?? '', result), `${endpoint.name}: ${method}`).toBeUndefined()
  const check = (isPublic ? VALUES : SIGNED)[method]
  expect(check, `${method} has no check of its value`).toBeDefined()
  await check?.(result, network, all)
}

const checkMethod: Check = async ({ endpoints, networks, of }, row) => {
  for (const endpoint of endpoints)
    if (endpoint.serves(row.key)) await checkServed(endpoint, of(endpoint.network), row)
    else await expectOutcome(endpoint, row.key, [], notServed(row.key))
  if (!SIGNING.includes(row.key)) return
  for (const network of networks)
    if (network.operator && network.name !== 'devnet') await checkServed(network.operator, network, row)
}

/** Parts of a node without which a method is not served on a public port of these networks. */
const MINING = /_(getWork|submitWork|submitHashrate)$/
const DEV_ONLY = /^(evm|hardhat|anvil)_|^eth_sendUnsignedTransaction$/

const isServed = (endpoint: Endpoint, method: string): boolean =>
  endpoint.serves(method) &&
  (endpoint.network === 'devnet' || !(MINING.test(method) || DEV_ONLY.test(method))) &&
  // Methods about peers need peers, and the operator port.
  !method.startsWith('admin_')

const exampleOf = (method: string): string => method.replace('evm_*', 'evm_snapshot').replace('*', 'metadata')

const FURTHER_ERRORS =
  /^($|missing value for required argument 1$|notifications not supported$|no mining work available yet$)/

const checkFurther: Check = async ({ endpoints }: TestInterface, { key }) => {
  const method = exampleOf(key)
  for (const endpoint of endpoints) {
    const { error } = await endpoint.ask(method, [])
    const what = `${endpoint.name}: ${method}`
    if (!isServed(endpoint, method)) expect(error, what).toMatchObject({ code: -32601 })
    else if (method === DISABLED && endpoint.network === 'devnet') expect(error, what).toMatchObject({ code: -32075 })
    else {
      expect(error?.code, what).not.toBe(-32601)
      // A method that takes arguments names the missing one; no method fails by itself.
      expect(error?.message ?? '', what).toMatch(FURTHER_ERRORS)
    }
  }
}

export const METHOD_CHECKS: Readonly<Record<string, SectionChecks>> = {
  'Standard methods': { '*': checkMethod },
  'Native methods': { '*': checkMethod },
  'Further methods': { '*': checkFurther },
}
