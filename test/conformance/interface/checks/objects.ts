import { expect } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import type { Endpoint } from '../endpoint.ts'
import { NOBODY, PAYER, type TestNetwork } from '../networks.ts'
import { memberAt, memberProblem } from '../types.ts'
import { type Check, expectOutcome, onAll, type SectionChecks } from './check.ts'

type Json = Readonly<Record<string, unknown>>

/** Reads examples of an object from an endpoint; the first of them is in a block. */
type Examples = (endpoint: Endpoint, network: TestNetwork) => Promise<readonly Json[]>

const read = async (endpoint: Endpoint, method: string, params: readonly unknown[]): Promise<Json> => {
  const { result, error } = await endpoint.ask(method, params)
  expect(error, `${endpoint.name}: ${method}`).toBeUndefined()
  return result as Json
}

const ZERO_WORD = `0x${'0'.repeat(64)}`
const isPending = (object: Json): boolean => object['hash'] === null || object['blockHash'] === null

/** Values of members beyond their types, by section and member. */
const VALUES: Readonly<Record<string, (value: unknown, object: Json, network: TestNetwork) => void>> = {
  'Block number': (value, block) => expect(value === null).toBe(isPending(block)),
  'Block hash': (value, block) => expect(value === null).toBe(isPending(block)),
  'Block proposer': (value, block, { name, coinbase }) => {
    if (name !== 'devnet' && !isPending(block)) expect(value).toBe(coinbase)
  },
  'Block nonce': value => expect(value).toBe('0x0000000000000000'),
  'Block mixHash': value => expect(value).toBe(ZERO_WORD),
  'Block sha3Uncles': value => expect(value).toBe(keccak256Hex(Uint8Array.of(0xc0))),
  'Block difficulty': value => expect(value).toBe('0x1'),
  'Block totalDifficulty': (value, block) => {
    if (!isPending(block)) expect(Number(value)).toBe(Number(block['number']) + 1)
  },
  'Block gasLimit': value => expect(Number(value)).toBe(999_999_999_999),
  'Block uncles': value => expect(value).toEqual([]),
  'Transaction from': (value, { hash }, { legacy, name }) => {
    if (hash === legacy && name !== 'devnet') expect(value).toBe(PAYER)
  },
  'Transaction to': (value, { hash }, { creation }) => expect(value).toBe(hash === creation ? null : NOBODY),
  'Transaction v': (value, { type }, { name }) => {
    if (type !== '0x0') return
    const { chainId } = NETWORKS[name]
    expect([2 * chainId + 35, 2 * chainId + 36]).toContain(Number(value))
  },
  'Transaction type': (value, { hash }, { listed, dynamic }) =>
    expect(value).toBe(hash === dynamic ? '0x2' : hash === listed ? '0x1' : '0x0'),
  'Transaction accessList': (value, { type }) => expect(value === undefined).toBe(type === '0x0'),
  'Transaction yParity': (value, { type }) => expect(value === undefined).toBe(type === '0x0'),
  'Transaction maxFeePerGas': (value, { type }) => expect(value === undefined).toBe(type !== '0x2'),
  'Transaction maxPriorityFeePerGas': (value, { type }) => expect(value === undefined).toBe(type !== '0x2'),
  'Transaction blockHash': (value, { hash }, { waiting }) => expect(value === null).toBe(hash === waiting),
  'Transaction blockNumber': (value, { hash }, { waiting }) => expect(value === null).toBe(hash === waiting),
  'Transaction blockTimestamp': (value, { hash }, { waiting }) => expect(value === null).toBe(hash === waiting),
  'Transaction transactionIndex': (value, { hash }, { waiting }) => expect(value === null).toBe(hash === waiting),
  'Receipt contractAddress': (value, { transactionHash }, { creation, contract }) =>
    expect(value).toBe(transactionHash === creation ? contract : null),
  'Receipt to': (value, { transactionHash }, { creation }) => expect(value === null).toBe(transactionHash === creation),
  'Receipt status': value => expect(value).toBe('0x1'),
  'Receipt logs': (value, { transactionHash }, { creation }) =>
    expect(value).toHaveLength(transactionHash === creation ? 1 : 0),
  'Receipt cumulativeGasUsed': (value, { gasUsed }) => expect(Number(value)).toBeGreaterThanOrEqual(Number(gasUsed)),
  'Consensus block consensus.validators': (value, _, { name, coinbase }) => {
    if (name !== 'devnet') expect(value).toEqual([coinbase])
  },
  'Chain configuration chainId': (value, _, { name }) => expect(value).toBe(NETWORKS[name].chainId),
}

const EXAMPLES: Readonly<Record<string, readonly [string, Examples]>> = {
  Block: [
    'eth_getBlockByNumber',
    async (endpoint, { blockHash }) => [
      await read(endpoint, 'eth_getBlockByHash', [blockHash, true]),
      await read(endpoint, 'eth_getBlockByNumber', ['latest', false]),
      await read(endpoint, 'eth_getBlockByNumber', ['pending', true]),
    ],
  ],
  Transaction: [
    'eth_getTransactionByHash',
    async (endpoint, { legacy, creation, listed, dynamic, waiting }) =>
      Promise.all(
        [legacy, creation, listed, dynamic, waiting].map(hash => read(endpoint, 'eth_getTransactionByHash', [hash])),
      ),
  ],
  Receipt: [
    'eth_getTransactionReceipt',
    async (endpoint, { legacy, creation, listed, dynamic }) =>
      Promise.all([legacy, creation, listed, dynamic].map(hash => read(endpoint, 'eth_getTransactionReceipt', [hash]))),
  ],
  'Consensus block': [
    'native_getBlockWithConsensusInfo',
    async (endpoint, { blockNumber }) =>
      Promise.all(
        [blockNumber, 'earliest', 'latest', 'pending'].map(at =>
          read(endpoint, 'native_getBlockWithConsensusInfo', [at, false]),
        ),
      ),
  ],
  'Chain configuration': [
    'native_getChainConfig',
    async endpoint => [await read(endpoint, 'native_getChainConfig', [])],
  ],
}

const checkMember: Check = async (at, row) => {
  const [method, examples] = EXAMPLES[row.section] as readonly [string, Examples]
  await onAll(at, method, async endpoint => {
    const network = at.of(endpoint.network)
    for (const object of await examples(endpoint, network)) {
      expect(memberProblem(object, row), endpoint.name).toBeUndefined()
      VALUES[`${row.section} ${row.key}`]?.(memberAt(object, row.key), object, network)
    }
  })
}

/** A member of a call object is decoded: a wrong value is refused by its name, in every method that takes a call. */
const checkCallMember: Check = async (at, { key, cells }) => {
  const wrong = cells['type'] === 'QUANTITY' ? '0x00' : '0x123'
  const reason = cells['type'] === 'QUANTITY' ? 'hex number with leading zero digits' : 'hex string of odd length'
  for (const [method, more] of [
    ['eth_call', ['latest']],
    ['eth_estimateGas', []],
    ['eth_sendTransaction', []],
    ['eth_signTransaction', []],
  ] as const)
    await onAll(at, method, endpoint =>
      expectOutcome(
        endpoint,
        method,
        [{ to: NOBODY, [key]: wrong }, ...more],
        `-32602 invalid argument 1: ${key}: ${reason}`,
      ),
    )
}

const checkTo: Check = async (at, row) => {
  await checkCallMember(at, row)
  await onAll(at, 'eth_call', async endpoint => {
    for (const call of [{}, { input: '0x' }, { from: PAYER, value: '0x0' }])
      await expectOutcome(
        endpoint,
        'eth_call',
        [call, 'latest'],
        '-32602 invalid argument 1: to: required unless input or data holds the code of a contract',
      )
    await expectOutcome(endpoint, 'eth_call', [{ data: '0x602a60005260206000f3' }, 'latest'], /^result "0x0{62}2a"$/)
    await expectOutcome(endpoint, 'eth_estimateGas', [{}], /^result "0x/)
  })
}

const checkFrom: Check = async (at, row) => {
  await checkCallMember(at, row)
  await onAll(at, 'eth_sendTransaction', async endpoint => {
    await expectOutcome(endpoint, 'eth_sendTransaction', [{ to: NOBODY }], '-32000 unknown account')
    await expectOutcome(endpoint, 'eth_call', [{ to: NOBODY }, 'latest'], 'result "0x"')
  })
}

export const OBJECT_CHECKS: Readonly<Record<string, SectionChecks>> = {
  ...Object.fromEntries(Object.keys(EXAMPLES).map(section => [section, { '*': checkMember }])),
  Call: { '*': checkCallMember, to: checkTo, from: checkFrom },
}
