import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import { METHODS } from '../../../src/rpc/methods.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { SENDER, signedTransaction, VALIDATORS } from '../../support/rpc/memory-chain.ts'
import type { Rig } from '../../support/rpc/rig.ts'
import { SAMPLE, startSample, TOKEN, TOPIC } from '../../support/rpc/sample.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startSample()
})
afterAll(() => rig.stop())

const UNKNOWN: Hex = `0x${'ab'.repeat(32)}`
type Json = Record<string, unknown>

describe('state', () => {
  test('is named by number, tag, hash or object', async () => {
    const hash = rig.chain.blocks[1]?.hash
    for (const at of ['latest', 'earliest', 'pending', '0x1', 1, hash, { blockHash: hash }, { blockNumber: '0x2' }])
      expect(await rig.result('eth_getBalance', [SENDER, at])).toBe('0xde0b6b3a7640000')
  })
  test('of old blocks gives its snapshot back, also after an error', async () => {
    const before = rig.chain.released
    await rig.result('eth_getBalance', [SENDER, '0x1'])
    await rig.result('eth_getStorageAt', [TOKEN, '0x0', '0x1'])
    expect(rig.chain.released).toBe(before + 2)
  })
  test('of blocks that do not exist is an error', async () => {
    expect(await rig.failure('eth_getBalance', [SENDER, '0xffff'])).toBe(
      '-32000 the header does not exist (block number: 65535)',
    )
    expect(await rig.failure('eth_getCode', [SENDER, UNKNOWN])).toBe('-32000 header for hash not found')
    expect(await rig.failure('eth_call', [{}, '0xffff'])).toBe('-32000 the header does not exist (block number: 65535)')
  })
  test('counts the pool in a pending nonce', async () => {
    expect(await rig.result('eth_getTransactionCount', [SENDER, 'latest'])).toBe('0x5')
    expect(await rig.result('eth_getTransactionCount', [SENDER, 'pending'])).toBe('0x6')
  })
  test('proves slots under the key that was asked', async () => {
    const proof = await rig.result<{ storageProof: { key: string }[] }>('eth_getProof', [
      SENDER,
      ['0x00', TOPIC, '0x1'],
      'latest',
    ])
    expect(proof.storageProof.map(({ key }) => key)).toEqual(['0x0', TOPIC, '0x1'])
    const many = Array.from({ length: RPC_LIMITS.proofKeys + 1 }, () => '0x0')
    expect(await rig.failure('eth_getProof', [SENDER, many, 'latest'])).toMatch(
      /^-32602 invalid argument 2: too many keys/,
    )
  })
})

describe('blocks', () => {
  test('have exactly the members of the interface', async () => {
    const block = await rig.result<Json>('eth_getBlockByNumber', ['0x1', false])
    const members =
      'number hash parentHash proposer miner nonce mixHash sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot difficulty totalDifficulty baseFeePerGas extraData size gasLimit gasUsed timestamp transactions uncles'
    expect(Object.keys(block).sort()).toEqual(members.split(' ').sort())
    expect(block).toMatchObject({
      proposer: VALIDATORS[1],
      difficulty: '0x1',
      totalDifficulty: '0x2',
      gasLimit: '0xe8d4a50fff',
    })
  })
  test('that are unknown are null', async () => {
    for (const [method, params] of [
      ['eth_getBlockByNumber', ['0xffff', true]],
      ['eth_getBlockByHash', [UNKNOWN, true]],
      ['eth_getBlockReceipts', ['0xffff']],
      ['eth_getBlockReceipts', [UNKNOWN]],
      ['eth_getHeaderByHash', [UNKNOWN]],
      ['eth_getBlockTransactionCountByHash', [UNKNOWN]],
      ['eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x99']],
      ['eth_getTransactionByHash', [UNKNOWN]],
      ['eth_getRawTransactionByHash', [UNKNOWN]],
      ['eth_getTransactionReceipt', [UNKNOWN]],
      ['native_getBlock', [UNKNOWN, false]],
      ['native_getBlockWithConsensusInfo', ['0xffff', false]],
    ] as const)
      expect([method, await rig.result(method, params)]).toEqual([method, null])
  })
  test('pending: neither number nor hash, and its transactions have no place', async () => {
    const block = await rig.result<Json & { transactions: Json[] }>('eth_getBlockByNumber', ['pending', true])
    expect(block).toMatchObject({ number: null, hash: null, nonce: '0x0000000000000000' })
    expect(block.transactions[0]).toMatchObject({
      hash: SAMPLE.pending.hash,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
    expect(await rig.result('eth_getBlockTransactionCountByNumber', ['pending'])).toBe('0x1')
  })
  test('are the same text from the cache', async () => {
    const body = '{"id":1,"method":"eth_getBlockByNumber","params":["0x1",true]}'
    expect(await rig.post(body)).toBe(await rig.post(body))
  })
})

describe('transactions', () => {
  test('show what they paid once they are in a block', async () => {
    const { hash } = SAMPLE.dynamic
    expect(await rig.result('eth_getTransactionByHash', [hash])).toMatchObject({
      type: '0x2',
      gasPrice: '0x5d21dba01',
      maxFeePerGas: '0x6fc23ac00',
      maxPriorityFeePerGas: '0x1',
      chainId: '0x134fe69',
      accessList: [{ address: TOKEN, storageKeys: [TOPIC] }],
    })
    rig.pool.add(signedTransaction({ nonce: 44, type: 2, maxPriorityFeePerGas: 1n }))
    const waiting = signedTransaction({ nonce: 44, type: 2, maxPriorityFeePerGas: 1n }).hash
    expect(await rig.result('eth_getTransactionByHash', [waiting])).toMatchObject({
      gasPrice: '0x6fc23ac00',
      blockHash: null,
    })
    expect(await rig.result('eth_getTransactionReceipt', [waiting])).toBeNull()
  })
  test('number the logs of a block, not of a receipt', async () => {
    const receipts = await rig.result<{ logs: { logIndex: string }[] }[]>('eth_getBlockReceipts', ['0x1'])
    expect(receipts.map(({ logs }) => logs.map(({ logIndex }) => logIndex))).toEqual([['0x0'], [], ['0x1', '0x2']])
    expect(await rig.result('eth_getTransactionReceipt', [SAMPLE.listed.hash])).toEqual(receipts[2])
  })
})

describe('calls', () => {
  test('carry the block, the overrides and the fees', async () => {
    rig.calls.requests = []
    await rig.result('eth_call', [
      { to: TOKEN, maxFeePerGas: '0x5' },
      'pending',
      { [TOKEN]: { nonce: '0x1' } },
      { time: '0x9' },
    ])
    await rig.result('eth_estimateGas', [{ to: TOKEN }])
    expect(rig.calls.requests).toMatchObject([
      {
        number: 3,
        pending: true,
        message: { to: TOKEN, maxFeePerGas: 5n },
        overrides: { [TOKEN]: { nonce: 1 } },
        blockOverrides: { timestamp: 9 },
      },
      { number: 3, message: { to: TOKEN } },
    ])
  })
})

describe('fee history', () => {
  test('weighs the tips by gas and adds the next base fee', async () => {
    expect(await rig.result('eth_feeHistory', ['0x2', '0x1', [0, 50, 100]])).toEqual({
      oldestBlock: '0x0',
      baseFeePerGas: ['0x5d21dba00', '0x5d21dba00', '0x5d21dba00'],
      gasUsedRatio: [0, 63_000 / 60_000_000],
      reward: [
        ['0x0', '0x0', '0x0'],
        ['0x1', '0x12a05f200', '0x12a05f200'],
      ],
    })
    expect(await rig.result('eth_feeHistory', [0, 'latest'])).toEqual({
      oldestBlock: '0x0',
      baseFeePerGas: [],
      gasUsedRatio: [],
    })
    expect(await rig.failure('eth_feeHistory', [1, '0xff'])).toBe(
      '-32000 request beyond head block: requested 255, head 3',
    )
    expect(await rig.failure('eth_feeHistory', [1, 'latest', [50, 10]])).toBe(
      '-32000 invalid reward percentile: #0:50 >= #1:10',
    )
    expect(await rig.failure('eth_feeHistory', [1, 'latest', [101]])).toBe('-32000 invalid reward percentile: 101')
  })
})

describe('consensus', () => {
  const consensusOf = async (ref: string): Promise<unknown> =>
    (await rig.result<{ consensus: unknown }>('native_getBlockWithConsensusInfo', [ref, false])).consensus

  test('comes from the next block, at the head from this node, and is empty in genesis', async () => {
    expect(await consensusOf('0x0')).toEqual({ round: 0, prepareMsgNum: 0, commitMsgNum: 0, validators: VALIDATORS })
    expect(await consensusOf('0x1')).toMatchObject({ round: 1, prepareMsgNum: 3, commitMsgNum: 3 })
    expect(await consensusOf('latest')).toMatchObject({ round: 0, prepareMsgNum: 3, commitMsgNum: 3 })
    expect(await consensusOf('0x1')).toMatchObject({ validators: [...VALIDATORS.slice(1), VALIDATORS[0]] })
    expect(await rig.failure('native_getBlockWithConsensusInfo', ['pending', false])).toBe(
      '-32000 pending is not allowed',
    )
  })
  test('of a range is ascending, both ends included, and bounded', async () => {
    const range = (from: unknown, to: unknown, full?: boolean) =>
      rig.failure('native_getBlockWithConsensusInfoRange', [from, to, full])
    const blocks = await rig.result<{ number: string; transactions: unknown[] }[]>(
      'native_getBlockWithConsensusInfoRange',
      ['0x1', 'latest'],
    )
    expect(blocks.map(({ number }) => number)).toEqual(['0x1', '0x2', '0x3'])
    expect(typeof blocks[0]?.transactions[0]).toBe('string')
    expect(await range('0x1', '0x65')).toBe('-32602 block range too large: at most 100 blocks')
    expect(await range('0x1', '0x64')).toBe('-32000 the header does not exist (block number: 100)')
    expect(await range('0x2', '0x1')).toBe('-32602 invalid block range: from is after to')
  })
  test('names the committee of the next block, and sizes as numbers', async () => {
    expect(await rig.result('native_getCommittee')).toEqual(await rig.chain.committee(4))
    expect(await rig.result('native_getCommittee', ['0x1'])).toEqual(await rig.chain.committee(1))
    expect(await rig.result('native_getCommitteeSize')).toBe(4)
    expect(await rig.result('native_getCouncilSize')).toBe(4)
    expect(await rig.failure('native_getCouncil', ['0xff'])).toBe(
      '-32000 the header does not exist (block number: 255)',
    )
  })
})

describe('the network', () => {
  test('says which algorithm comes next', async () => {
    // The sample's proof chain stands at 19; the fork of this network is at 20.
    expect(await rig.result('native_getChainConfig')).toEqual({
      chainId: 1_998_999,
      nativeHashForkBlock: 20,
      blockTime: 1,
      consensus: 'PBFT',
      proofChain: { algorithm: 'nativeHash' },
    })
    const status = await rig.result<Record<string, { active: boolean }>>('native_forkStatus')
    expect(status).toMatchObject({ cancun: { height: 0, active: true }, prague: { height: null, active: false } })
    expect(status['nativeHash']).toEqual({ height: 20, active: false })
  })
  test('repeats the standard methods under its own prefix', async () => {
    for (const name of [
      'blockNumber',
      'gasPrice',
      'getBlockByNumber',
      'call',
      'getLogs',
      'estimateGas',
      'accounts',
      'sign',
    ])
      expect(METHODS[`native_${name}`]?.handler).toBe(METHODS[`eth_${name}`]?.handler)
    expect(await rig.result('native_getBlock', ['0x1', true])).toEqual(
      await rig.result('eth_getBlockByNumber', ['0x1', true]),
    )
  })
})
