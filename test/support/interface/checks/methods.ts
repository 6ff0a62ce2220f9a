import { expect } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import type { Endpoint } from '../endpoint.ts'
import { DISABLED, HELD, NOBODY, PAYER, type TestInterface, type TestNetwork } from '../networks.ts'
import type { InterfaceRow } from '../rows.ts'
import { typeProblem } from '../types.ts'
import { type Check, expectOutcome, notServed, type SectionChecks } from './check.ts'

const FEES = { gas: '0x5208', gasPrice: '0x6fc23ac00' }

/** Value of a parameter, by its name in the table. */
const argumentOf = (name: string, method: string, network: TestNetwork): unknown => {
  const values: Readonly<Record<string, unknown>> = {
    address: method === 'eth_sign' ? HELD : PAYER,
    block: 'latest',
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

/** Values beyond their types. */
const VALUES: Readonly<Record<string, (result: unknown, network: TestNetwork) => void>> = {
  net_version: (result, { name }) => expect(result).toBe(String(NETWORKS[name].networkId)),
  eth_chainId: (result, { name }) => expect(Number(result)).toBe(NETWORKS[name].chainId),
  eth_coinbase: (result, { coinbase }) => {
    expect(result).toBe(coinbase)
    expect(BigInt(result as string)).not.toBe(0n)
  },
  eth_syncing: result => expect(result).toBe(false),
  eth_mining: result => expect(result).toBe(false),
  eth_hashrate: result => expect(result).toBe('0x0'),
  eth_accounts: result => expect(result).toEqual([]),
  eth_gasPrice: result => expect(result).toBe('0x66720b300'),
  native_gasPrice: result => expect(result).toBe('0x66720b300'),
  eth_maxPriorityFeePerGas: result => expect(result).toBe('0x0'),
  native_maxPriorityFeePerGas: result => expect(result).toBe('0x0'),
  native_lowerBoundGasPrice: result => expect(result).toBe('0x5d21dba00'),
  native_upperBoundGasPrice: result => expect(result).toBe('0xae9f7bcc00'),
  eth_getCode: result => expect(result).toBe('0x'),
  native_getCode: result => expect(result).toBe('0x'),
  eth_getStorageAt: result => expect(result).toBe(`0x${'0'.repeat(64)}`),
  eth_estimateGas: result => expect(result).toBe('0x5208'),
  eth_call: result => expect(result).toBe('0x'),
  eth_getTransactionByHash: (result, { legacy }) => expect(result).toMatchObject({ hash: legacy }),
  eth_getTransactionReceipt: (result, { legacy }) =>
    expect(result).toMatchObject({ transactionHash: legacy, status: '0x1' }),
  eth_getBlockByHash: (result, { blockHash }) => expect(result).toMatchObject({ hash: blockHash }),
  native_clientVersion: result => expect(result).toMatch(/^tandem\/\d+\.\d+\.\d+\/\w+-\w+\/node\d+/),
  native_getChainConfig: (result, { name }) => expect(result).toMatchObject({ chainId: NETWORKS[name].chainId }),
  native_getBlockWithConsensusInfoRange: result => expect(result).toHaveLength(2),
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
  const { result, error } = await endpoint.ask(method, args(params.length))
  expect(error, `${endpoint.name}: ${method}`).toBeUndefined()
  expect(typeProblem(cells['result'] ?? '', result), `${endpoint.name}: ${method}`).toBeUndefined()
  if (isPublic) VALUES[method]?.(result, network)
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

const checkFurther: Check = async ({ endpoints }: TestInterface, { key }) => {
  const method = exampleOf(key)
  for (const endpoint of endpoints) {
    const { error } = await endpoint.ask(method, [])
    const what = `${endpoint.name}: ${method}`
    if (!isServed(endpoint, method)) expect(error, what).toMatchObject({ code: -32601 })
    else if (method === DISABLED && endpoint.network === 'devnet') expect(error, what).toMatchObject({ code: -32075 })
    else expect(error?.code, what).not.toBe(-32601)
  }
}

export const METHOD_CHECKS: Readonly<Record<string, SectionChecks>> = {
  'Standard methods': { '*': checkMethod },
  'Native methods': { '*': checkMethod },
  'Further methods': { '*': checkFurther },
}
