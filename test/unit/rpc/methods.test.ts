import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import { METHODS } from '../../../src/rpc/methods/methods.ts'
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
    expect(await rig.failure('eth_call', [{ to: TOKEN }, '0xffff'])).toBe(
      '-32000 the header does not exist (block number: 65535)',
    )
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
      blockTimestamp: null,
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
  test('have no receipt while they are pending', async () => {
    const { hash } = SAMPLE.pending
    for (const namespace of ['eth', 'native']) {
      expect(await rig.result(`${namespace}_getTransactionReceipt`, [hash])).toBeNull()
      expect(await rig.result(`${namespace}_getBlockReceipts`, ['pending'])).toBeNull()
    }
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

describe('a call without a recipient', () => {
  const refusal = '-32602 invalid argument 1: to: required unless input or data holds the code of a contract'
  test.each([{}, { from: SENDER }, { to: null }, { input: '0x' }, { data: '0x', value: '0x0' }])(
    'is refused without code: %j',
    async call => {
      expect(await rig.failure('eth_call', [call, 'latest'])).toBe(refusal)
      expect(await rig.failure('native_call', [call, 'latest'])).toBe(refusal)
    },
  )
  test('creates a contract with code', async () => {
    expect(await rig.result('eth_call', [{ data: '0x6000' }, 'latest'])).toBe('0x6000')
    expect(await rig.result('eth_call', [{ input: '0x6000' }, 'latest'])).toBe('0x6000')
  })
  test('may be estimated, since all members are optional there', async () => {
    expect(await rig.result('eth_estimateGas', [{}])).toBe('0x5208')
  })
})

describe('quantities', () => {
  const WRONG = [
    ['0x', 'hex string "0x"'],
    ['0x00', 'hex number with leading zero digits'],
    ['0x0400', 'hex number with leading zero digits'],
    ['ff', 'hex string without 0x prefix'],
    ['', 'empty hex string'],
  ] as const
  /** Every position of a QUANTITY: [method, argument counted from 1, arguments with `value` there, place inside the argument]. */
  const POSITIONS: readonly (readonly [string, number, (value: string) => readonly unknown[], string?])[] = [
    ['eth_getBalance', 2, value => [SENDER, value]],
    ['eth_getCode', 2, value => [SENDER, value]],
    ['eth_getTransactionCount', 2, value => [SENDER, value]],
    ['eth_getStorageAt', 2, value => [SENDER, value, 'latest']],
    ['eth_getStorageAt', 3, value => [SENDER, '0x0', value]],
    ['eth_getBlockByNumber', 1, value => [value, false]],
    ['eth_getBlockTransactionCountByNumber', 1, value => [value]],
    ['eth_getBlockReceipts', 1, value => [value]],
    ['eth_getTransactionByBlockNumberAndIndex', 1, value => [value, '0x0']],
    ['eth_getTransactionByBlockNumberAndIndex', 2, value => ['0x0', value]],
    ['eth_getTransactionByBlockHashAndIndex', 2, value => [UNKNOWN, value]],
    ['eth_getUncleByBlockHashAndIndex', 2, value => [UNKNOWN, value]],
    ['eth_call', 2, value => [{ to: TOKEN }, value]],
    ...['gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'value', 'nonce'].flatMap(
      name =>
        [
          ['eth_call', 1, (value: string) => [{ to: TOKEN, [name]: value }, 'latest'], `${name}: `],
          ['eth_estimateGas', 1, (value: string) => [{ [name]: value }], `${name}: `],
          ['eth_signTransaction', 1, (value: string) => [{ [name]: value }], `${name}: `],
          ['eth_sendTransaction', 1, (value: string) => [{ [name]: value }], `${name}: `],
        ] as const,
    ),
    ['eth_feeHistory', 2, value => ['0x1', value]],
    ['eth_getLogs', 1, value => [{ fromBlock: value }]],
    ['eth_getFilterChanges', 1, value => [value]],
    ['native_getBlockWithConsensusInfo', 1, value => [value, false]],
    ['native_getBlockWithConsensusInfoRange', 1, value => [value, '0x1']],
    ['native_getBlockWithConsensusInfoRange', 2, value => ['0x0', value]],
    ['native_getCommittee', 1, value => [value]],
    ['native_getProofHeader', 1, value => [value]],
    ['native_getParams', 1, value => [value]],
  ]
  test.each(POSITIONS.map(position => [`${position[0]} ${position[1]}${position[3] ?? ''}`, position] as const))(
    'are compact: %s',
    async (_, [method, at, args, place = '']) => {
      for (const [value, reason] of WRONG)
        expect(await rig.failure(method, args(value))).toBe(`-32602 invalid argument ${at}: ${place}${reason}`)
    },
  )
  test('of a storage position may be a whole word, as the hash of a mapping entry is', async () => {
    const zero = `0x${'0'.repeat(64)}`
    expect(await rig.result('eth_getStorageAt', [TOKEN, zero, 'latest'])).toBe(
      await rig.result('eth_getStorageAt', [TOKEN, '0x0', 'latest']),
    )
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
  })
  test('of the pending block has no votes yet, and the committee that will decide it', async () => {
    const block = await rig.result<Json>('native_getBlockWithConsensusInfo', ['pending', true])
    expect(block).toMatchObject({ number: null, hash: null, transactions: [{ hash: SAMPLE.pending.hash }] })
    expect(block['consensus']).toEqual({
      round: 0,
      prepareMsgNum: 0,
      commitMsgNum: 0,
      validators: rig.chain.committee(4),
    })
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
    expect(await range('pending', '0x1')).toBe('-32000 pending is not allowed')
    const shares = (from: unknown, to: unknown) => rig.failure('native_getRewardShares', [from, to])
    expect(await shares('0x1', '0x65')).toBe('-32602 block range too large: at most 100 blocks')
    expect(await shares('0x1', '0x64')).toBe('-32000 the header does not exist (block number: 100)')
    expect(await shares('0x2', '0x1')).toBe('-32602 invalid block range: from is after to')
  })
  test('names the committee of the next block, and sizes as numbers', async () => {
    expect(await rig.result('native_getCommittee')).toEqual(await rig.chain.committee(4))
    expect(await rig.result('native_getCommittee', ['0x1'])).toEqual(await rig.chain.committee(1))
    expect(await rig.result('native_getCommitteeSize')).toBe(4)
    // The fourth member of the sample is inactive.
    expect(await rig.result('native_getCouncil')).toEqual(VALIDATORS.slice(0, 3))
    expect(await rig.result('native_getCouncilSize')).toBe(3)
    expect(await rig.result('native_getCouncilTolerance')).toBe(0)
    expect(await rig.result('native_getStakingInfo')).toHaveLength(4)
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
    expect(status).toMatchObject({ cancun: { height: 0, active: true }, osaka: { height: 0, active: true } })
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
