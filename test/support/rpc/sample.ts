import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockRewards } from '../../../src/chain/block/economy.ts'
import { Impersonation } from '../../../src/chain/dev/impersonation.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import type {
  DevPort,
  EconomyPort,
  MiningPort,
  PeersPort,
  ProofChainPort,
  TraceAnswer,
  TracePort,
} from '../../../src/rpc/ports.ts'
import { MemoryChain, signedTransaction } from './memory-chain.ts'
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

export const NODE_ID = 'ab'.repeat(32)
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

/** Block of a chain with one transaction, as built and not committed. */
const trial: DevPort['trial'] = async () => {
  const block = new MemoryChain().append({ transactions: [signedTransaction({ nonce: 0 })] })
  return { block, execution: { fees: { miner: 5n } } } as unknown as Awaited<ReturnType<DevPort['trial']>>
}

/** Helpers that do nothing and answer as if they had: golden answers and schemas of their methods. */
const dev: DevPort = {
  impersonation: new Impersonation(),
  mode: { automine: true, intervalMs: 0 },
  throwsOnRevert: false,
  snapshot: async () => 1,
  revert: async id => id === 1,
  reset: async () => {},
  mine: async () => {},
  setMode: () => {},
  increaseTime: seconds => seconds,
  setTime: () => -5,
  setNextTimestamp: async () => {},
  setTimestampInterval: seconds => seconds === undefined,
  setNextBaseFee: () => {},
  setCoinbase: () => {},
  setGasLimit: () => {},
  edit: async () => {},
  dropTransactions: async () => true,
  dropAllTransactions: async () => true,
  dump: async () => Uint8Array.of(0x1f, 0x8b),
  load: async () => {},
  trial,
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
    dev,
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
