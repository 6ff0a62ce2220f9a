import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { BlockRewards } from '../../../src/chain/block/economy.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import type {
  EconomyPort,
  MiningPort,
  PeersPort,
  ProofChainPort,
  TraceAnswer,
  TracePort,
} from '../../../src/rpc/ports.ts'
import { DEV_ARGUMENTS, SAMPLE_DEV } from './dev.ts'
import { SENDER, signedTransaction, VALIDATORS } from './memory-chain.ts'
import { Rig } from './rig.ts'
import { hashOf, ONE_KEY } from './services.ts'

export const TOKEN: Hex = `0x${'cc'.repeat(20)}`
export const TOPIC: Hex = hashOf('Transfer')
const ALL_NAMESPACES = [
  'eth',
  'net',
  'rpc',
  'native',
  'web3',
  'debug',
  'txpool',
  'admin',
  'evm',
  'personal',
  'hardhat',
  'anvil',
  'testing',
]

const rewards: BlockRewards = {
  minted: 1n,
  totalFee: 100n,
  burntFee: 50n,
  proposer: 20n,
  miner: 20n,
  foundation: 10n,
  rewards: new Map([[TOKEN, 51n]]),
}
const economy: EconomyPort = {
  rewards: async () => rewards,
  shares: async number => ({
    hash: hashOf(`block ${number}`),
    cycle: 0,
    minted: 3n,
    totalFee: 100n,
    fees: { proposer: 20n, miner: 20n, foundation: 10n, burnt: 50n },
    union: 1n,
    miners: [{ address: TOKEN, amountWei: 2n, role: 'miner' }],
  }),
  schedule: () => ({
    genesisWei: 3n,
    maxWei: 7n,
    periods: [{ index: 0, fromBlock: 1, toBlock: 8, cycles: 2, rewardWei: 2n, mintedWei: 4n }],
  }),
  supply: async number => ({ number, totalSupply: 3n, totalMinted: 4n, totalBurnt: 1n }),
}
const proofChain: ProofChainPort = {
  height: () => 19,
  header: async ref =>
    ref === 1
      ? {
          number: 1,
          id: hashOf('id'),
          parent: hashOf('parent'),
          miner: TOKEN,
          algorithm: 'sha256d',
          target: hashOf('target'),
          anchorNumber: 7,
          anchorHash: hashOf('anchor'),
          extraNonce: '0x01',
          nonce: '0x0000000000000001',
          mixHash: '0x',
          timestamp: 1_700_000_000,
          includedIn: null,
        }
      : undefined,
}
const mining: MiningPort = {
  onWork: () => () => {},
  running: () => true,
  hashrate: () => 500n,
  work: () => [hashOf('seal'), hashOf('seed'), hashOf('target'), '0x2'],
  submitWork: async nonce => nonce === '0x0000000000000001',
  submitHashrate: () => true,
}
const streamOf = (...pieces: readonly string[]): TraceAnswer => {
  const left = pieces.map(piece => Buffer.from(piece))
  return { next: async () => left.shift(), cancel: () => {} }
}
const STRUCT_LOGS =
  '{"structLogs":[{"pc":0,"op":"STOP","gas":9,"gasCost":0,"depth":1,"stack":[]}],"gas":21000,"failed":false,"returnValue":"0x"}'
const trace: TracePort = {
  transaction: (_, index) => streamOf('{"type":', `"CALL","gas":"0x${index}"}`),
  block: ({ hash }) => streamOf(`[{"txHash":"${hash}","result":`, `${STRUCT_LOGS}}]`),
  call: () => streamOf(STRUCT_LOGS),
  storageRange: (_, { start }) =>
    streamOf(`{"storage":{"${start}":{"key":null,"value":"${TOPIC}"}},"nextKey":"${TOPIC}"}`),
  accountRange: (_, { start }) =>
    streamOf(
      '{"root":"00","accounts":{',
      `"pre(${start})":{"balance":"1","nonce":0,"root":"${TOPIC}","codeHash":"${TOPIC}","key":"${start}"}},"next":"AA=="}`,
    ),
  modifiedAccounts: (_, credited) => streamOf(JSON.stringify(credited)),
}

const NODE_ID = 'ab'.repeat(32)
const peers: PeersPort = {
  peers: () => [
    {
      id: NODE_ID,
      client: 'tandem/0.1.0/linux-x64/node26.0.0',
      url: `tandem://${NODE_ID}@192.0.2.7:30303`,
      localAddress: '192.0.2.1',
      remoteAddress: '192.0.2.7',
      inbound: true,
      place: 'reserved',
      isStatic: false,
      validator: TOKEN,
      head: { number: 3, hash: hashOf('head') },
      earliest: 0,
      score: -12.3456,
      rttMs: 0.4567,
      connectedAtMs: 1_700_000_000_123,
      receivedBytes: 1_024,
      sentBytes: 2_048,
    },
  ],
  self: () => ({
    id: 'cd'.repeat(32),
    client: 'tandem/0.1.0/linux-x64/node26.0.0',
    url: null,
    listening: { host: '0.0.0.0', port: 30_303 },
    validator: null,
    protocolVersion: 1,
  }),
  addPeer: () => {},
  removePeer: id => id === NODE_ID,
}

/** Transactions of every type, in block 1. */
export const SAMPLE = {
  creation: signedTransaction({ nonce: 0, to: null, data: Uint8Array.of(0x60, 0x00) }),
  dynamic: signedTransaction({
    nonce: 1,
    type: 2,
    to: TOKEN,
    maxPriorityFeePerGas: 1n,
    accessList: [{ address: TOKEN, storageKeys: [TOPIC] }],
  }),
  listed: signedTransaction({ nonce: 2, type: 1, to: TOKEN, accessList: [{ address: TOKEN, storageKeys: [] }] }),
  pending: signedTransaction({ nonce: 3 }),
} as const

/** A node with every optional part and a small chain: what golden answers and schema checks run against. */
export const startSample = async (): Promise<Rig> => {
  const rig = await Rig.start({
    network: NETWORKS.devnet,
    namespaces: { http: ALL_NAMESPACES, ws: ALL_NAMESPACES },
    wallet: ONE_KEY,
    economy,
    proofChain,
    mining,
    trace,
    peers,
    dev: SAMPLE_DEV,
  })
  const { chain, pool } = rig
  const log = { address: TOKEN, topics: [TOPIC], data: Uint8Array.of(1, 2) }
  chain.codes.set(TOKEN, Uint8Array.of(0x60, 0x00))
  chain.slots.set(`${TOKEN}0x${'0'.repeat(64)}`, hashOf('value'))
  chain.append({
    transactions: [SAMPLE.creation, SAMPLE.dynamic, SAMPLE.listed],
    logs: [[log], [], [log, { ...log, topics: [] }]],
  })
  chain.append()
  chain.append()
  chain.pendingTransactions = [SAMPLE.pending]
  pool.add(SAMPLE.pending)
  return rig
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

/** The same with the hash of block 1 where a method wants one; the hash exists once the chain is built. */
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
