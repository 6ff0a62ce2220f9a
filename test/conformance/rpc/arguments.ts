import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import { SENDER, VALIDATORS } from '../../support/rpc/memory-chain.ts'
import type { Rig } from '../../support/rpc/rig.ts'
import { NODE_ID, SAMPLE, TOKEN, TOPIC } from '../../support/rpc/sample.ts'

const ACCOUNT: Hex = `0x${'ab'.repeat(20)}`
const WORD: Hex = `0x${'00'.repeat(31)}07`

const onBothNames = (rest: Readonly<Record<string, readonly unknown[]>>): Record<string, readonly unknown[]> =>
  Object.fromEntries(
    Object.entries(rest).flatMap(([name, args]) => [
      [`hardhat_${name}`, args],
      [`anvil_${name}`, args],
    ]),
  )

const DEV_ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  ...onBothNames({
    setBalance: [ACCOUNT, '0xde0b6b3a7640000'],
    setCode: [ACCOUNT, '0x5f'],
    setNonce: [ACCOUNT, '0x5'],
    setStorageAt: [ACCOUNT, '0x0', WORD],
    impersonateAccount: [ACCOUNT],
    stopImpersonatingAccount: [ACCOUNT],
    dropTransaction: [WORD],
    mine: ['0x3', '0x3c'],
    reset: [{ forking: { blockNumber: null } }],
    setNextBlockBaseFeePerGas: ['0x5d21dba00'],
    setCoinbase: [ACCOUNT],
    setLoggingEnabled: [true],
    loadState: ['0x1f8b'],
  }),
  evm_revert: ['0x1'],
  evm_mine: [{ timestamp: 1_800_000_000, blocks: 2 }],
  evm_increaseTime: [3_600],
  evm_setTime: [1_735_689_600],
  evm_setNextBlockTimestamp: ['0x6b49d200'],
  evm_setAutomine: [false],
  evm_setIntervalMining: [5_000],
  evm_setBlockGasLimit: ['0x1c9c380'],
  anvil_revert: ['0x2'],
  anvil_increaseTime: ['60'],
  anvil_setTime: [1_735_689_600_000],
  anvil_setNextBlockTimestamp: [1_800_000_000],
  anvil_setAutomine: [true],
  anvil_setBlockGasLimit: [30_000_000],
  anvil_setIntervalMining: [5],
  anvil_setBlockTimestampInterval: [12],
  anvil_autoImpersonateAccount: [false],
  anvil_removePoolTransactions: [ACCOUNT],
  testing_buildBlockV1: [
    WORD,
    { timestamp: '0x6b49d200', prevRandao: WORD, suggestedFeeRecipient: ACCOUNT, withdrawals: [] },
    [],
    '0x746573745f6e616d65',
  ],
}

const TYPED = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'chainId', type: 'uint256' },
    ],
    Mail: [
      { name: 'to', type: 'address' },
      { name: 'text', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: { name: 'Post', chainId: 1_998_999 },
  message: { to: TOKEN, text: 'hello' },
}

/** Arguments with which every method gives a result (but for those that need a socket or an id made before). */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = (() => {
  const { creation, dynamic, pending } = SAMPLE
  const call = { from: SENDER, to: TOKEN, input: '0x0102', value: '0x1' }
  const eth: Record<string, readonly unknown[]> = {
    getBalance: [SENDER, 'latest'],
    getTransactionCount: [SENDER, 'pending'],
    getCode: [TOKEN, '0x1'],
    getStorageAt: [TOKEN, '0x0', { blockNumber: '0x2' }],
    getProof: [TOKEN, ['0x0', TOPIC], 'latest'],
    getBlockByNumber: ['0x1', true],
    getHeaderByNumber: ['latest'],
    getBlockTransactionCountByNumber: ['0x1'],
    getBlockReceipts: ['0x1'],
    getUncleCountByBlockNumber: ['0x1'],
    getUncleByBlockNumberAndIndex: ['0x1', '0x0'],
    getTransactionByHash: [dynamic.hash],
    getTransactionByBlockNumberAndIndex: ['0x1', '0x2'],
    getRawTransactionByHash: [pending.hash],
    getRawTransactionByBlockNumberAndIndex: ['0x1', '0x1'],
    getTransactionReceipt: [creation.hash],
    sendRawTransaction: [`0x${Buffer.from(dynamic.raw).toString('hex')}`],
    sendRawTransactionSync: [`0x${Buffer.from(dynamic.raw).toString('hex')}`, 500],
    fillTransaction: [{ ...call, gas: '0x5208' }],
    getStorageValues: [{ [TOKEN]: ['0x0', TOPIC] }, 'latest'],
    call: [call, 'latest', { [SENDER]: { balance: '0x1' } }],
    estimateGas: [call],
    createAccessList: [call, 'latest'],
    feeHistory: ['0x3', 'latest', [10, 50]],
    getLogs: [{ fromBlock: '0x0', address: TOKEN, topics: [TOPIC] }],
    newFilter: [{ address: TOKEN }],
    sign: [SENDER, '0xdeadbeef'],
    signTransaction: [{ ...call, gas: '0x5208', gasPrice: '0x5d21dba00', nonce: '0x0' }],
    sendTransaction: [{ ...call, gas: '0x5208', gasPrice: '0x5d21dba00', nonce: '0x9' }],
    resend: [{ from: SENDER, to: VALIDATORS[0], value: '0x1', nonce: '0x3' }, '0x826299e00'],
    submitWork: ['0x0000000000000001', TOPIC, TOPIC],
    submitHashrate: ['0x64', TOPIC],
  }
  const simulation = {
    blockStateCalls: [
      {
        blockOverrides: { number: '0x9', time: '0xffffffff', baseFeePerGas: '0x7', feeRecipient: TOKEN },
        stateOverrides: { [TOKEN]: { code: '0x00', stateDiff: { [TOPIC]: TOPIC } } },
        calls: [
          { ...call, gas: '0x7530', maxFeePerGas: '0x9' },
          { ...call, gasPrice: '0x9', nonce: '0x7' },
        ],
      },
    ],
    traceTransfers: true,
    returnFullTransactions: true,
  }
  const both = Object.entries(eth).flatMap(([name, args]) => [
    [`eth_${name}`, args],
    [`native_${name}`, args],
  ])
  return {
    ...Object.fromEntries(both),
    eth_simulateV1: [simulation, 'latest'],
    eth_signTypedData: [SENDER, TYPED],
    eth_signTypedData_v3: [SENDER, TYPED],
    eth_signTypedData_v4: [SENDER, JSON.stringify(TYPED)],
    personal_sign: ['0xdeadbeef', SENDER, 'password'],
    native_getBlock: ['latest', false],
    native_getBlockTransactionCount: ['0x1'],
    native_isContractAccount: [TOKEN, 'latest'],
    native_getBlockWithConsensusInfo: ['0x1', true],
    native_getBlockWithConsensusInfoByNumber: ['latest', false],
    native_getBlockWithConsensusInfoRange: ['0x0', '0x3'],
    native_getCertificate: ['0x1'],
    native_getRewardShares: ['0x1', '0x2'],
    native_getProofHeader: ['0x1'],
    native_getProofHeaderRange: ['0x1', '0x2'],
    native_getInternalTransfers: ['0x1'],
    native_getFailedTransactions: ['0x1'],
    native_forkStatus: ['0x1'],
    web3_sha3: ['0x68656c6c6f'],
    debug_getRawBlock: ['0x1'],
    debug_getRawHeader: ['0x0'],
    debug_getRawReceipts: ['0x1'],
    debug_getRawTransaction: [dynamic.hash],
    debug_traceTransaction: [dynamic.hash, { tracer: 'callTracer' }],
    debug_traceBlockByNumber: ['0x1'],
    debug_storageRangeAt: ['0x1', 0, TOKEN, '0x', 10],
    debug_accountRange: ['latest', '0x01', 5, true, true, true],
    debug_getModifiedAccountsByNumber: ['0x1', '0x2'],
    debug_traceCall: [call, 'latest', { timeout: '1s', txIndex: '0x0' }],
    txpool_contentFrom: [SENDER],
    admin_addPeer: [`tandem://${NODE_ID}@192.0.2.7:30303`],
    admin_removePeer: [`tandem://${NODE_ID}@[2001:db8::7]:30303`],
    eth_sendUnsignedTransaction: [{ ...call, gas: '0x5208', gasPrice: '0x5d21dba00', nonce: '0x9' }],
    ...DEV_ARGUMENTS,
  }
})()

/** Arguments of a method on the sample; the hash of block 1 where a method wants one; the hash exists once the chain is built. */
export const argumentsFor = (name: string, rig: Rig): readonly unknown[] => {
  const blockHash = rig.chain.blocks[1]?.hash
  const rest = name.slice(name.indexOf('_') + 1)
  if (['getBlockByHash', 'getBlockWithConsensusInfoByHash'].includes(rest)) return [blockHash, false]
  if (
    [
      'getHeaderByHash',
      'getBlockTransactionCountByHash',
      'getUncleCountByBlockHash',
      'traceBlockByHash',
      'getModifiedAccountsByHash',
    ].includes(rest)
  )
    return [blockHash]
  if (rest === 'traceBlock') return [bytesToHex(encodeBlock(rig.chain.head()))]
  if (/ByBlockHashAndIndex$/.test(rest)) return [blockHash, '0x1']
  return ARGUMENTS[name] ?? []
}
