import { EMPTY_BYTES, type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { MAX_UINT64, uint64FromBigint } from '@tandem/base/uint64.ts'
import { type BlobParams, EVM_FORKS, type EvmFork, type Fork, isActive, isForkSince } from '../../src/config/forks.ts'
import { readContract } from '../../src/config/genesis/alloc.ts'
import type { GenesisAccount } from '../../src/config/genesis/genesis.ts'
import { GenesisValue } from '../../src/config/genesis/json-reader.ts'
import { INITIAL_BASE_FEE, NETWORKS, type NetworkParams, UNBOUNDED_GAS } from '../../src/config/networks.ts'
import { type Block, blockFromParts } from '../../src/primitives/block.ts'
import { EMPTY_LIST_HASH, type Header } from '../../src/primitives/header.ts'
import { EMPTY_BLOOM } from '../../src/primitives/receipt/bloom.ts'
import { EMPTY_ROOT } from '../../src/state/account.ts'
import { ethereumGas } from '../ethereum-params.ts'
import { FIXTURE_LIMITS } from '../limits.ts'

/** Fork that starts at a time. */
interface TimeFork {
  readonly name: string
  /** Unix seconds. */
  readonly time: number
}

/** Header members of block 0; the others follow from the state and the forks. */
type GenesisHeader = Omit<
  Header,
  'sha3Uncles' | 'stateRoot' | 'transactionsRoot' | 'receiptsRoot' | 'logsBloom' | 'withdrawalsRoot' | 'requestsHash'
>

/** Validated genesis file of geth. */
export interface GethGenesis {
  readonly params: NetworkParams
  readonly header: GenesisHeader
  readonly alloc: ReadonlyMap<Hex, GenesisAccount>
  /** null: never, or from the start when `paris` is in the forks. */
  readonly terminalTotalDifficulty: bigint | null
  /** Ascending by time. */
  readonly timeForks: readonly TimeFork[]
  /** Blob parameters by fork, where the file sets them (EIP-7840). */
  readonly blobSchedule: ReadonlyMap<string, BlobParams>
  /** Contract whose logs are deposits (EIP-6110). */
  readonly depositContract: Hex
}

const MEMBERS = [
  'config',
  'nonce',
  'timestamp',
  'extraData',
  'gasLimit',
  'difficulty',
  'mixHash',
  'coinbase',
  'alloc',
  'number',
  'gasUsed',
  'parentHash',
  'baseFeePerGas',
  'excessBlobGas',
  'blobGasUsed',
]

/** Members of the header of block 0. */
export const GETH_HEADER_MEMBERS = MEMBERS.filter(name => name !== 'config' && name !== 'alloc')

/** Forks by block under geth's names. The bomb delays and the DAO fork have no effect visible to the EVM. */
const BLOCK_FORKS: Readonly<Record<string, EvmFork | null>> = {
  homesteadBlock: 'homestead',
  daoForkBlock: null,
  eip150Block: 'tangerineWhistle',
  eip155Block: null,
  eip158Block: 'spuriousDragon',
  byzantiumBlock: 'byzantium',
  constantinopleBlock: 'constantinople',
  petersburgBlock: 'petersburg',
  istanbulBlock: 'istanbul',
  muirGlacierBlock: null,
  berlinBlock: 'berlin',
  londonBlock: 'london',
  arrowGlacierBlock: null,
  grayGlacierBlock: null,
  mergeNetsplitBlock: 'paris',
}
/** Ethereum's own deposit contract, which geth assumes for a chain that names none. */
const MAINNET_DEPOSITS: Hex = '0x00000000219ab540356cbb839cbe05303d7705fa'
/** Milliseconds between two blocks from the merge on. */
const SLOT_MS = 12_000
const MAX_BLOBS = 10_000
const TIME_FORKS: ReadonlySet<string> = new Set([
  ...EVM_FORKS.filter(name => isForkSince(name, 'shanghai')),
  ...[1, 2, 3, 4, 5].map(at => `bpo${at}`),
])
/** undefined: no fork by time. */
const timeForkOf = (key: string): string | undefined => {
  const name = key.slice(0, -'Time'.length)
  return key.endsWith('Time') && TIME_FORKS.has(name) ? name : undefined
}
const FORK_LIKE = /(Block|Time)$/
/** SHA-256 of the empty string: the hash of no requests (EIP-7685). */
const EMPTY_REQUESTS_HASH: Hex = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const OWN_FORM =
  'a recorded chain follows a genesis in the form of geth (with "config"); for one with "format": "tandem/1" use "tandem start"'

/** Parses geth's genesis file (also Hardhat's, Besu's and the test suites'), for chains of other clients. Throws GENESIS_INVALID. */
export const parseGethGenesis = (text: string): GethGenesis => {
  const root = GenesisValue.fromText(text)
  if (root.optional('format') !== undefined) root.fail(OWN_FORM)
  root.only(MEMBERS)
  const config = root.required('config')
  const timeForks = readTimeForks(config)
  const total = readTotalDifficulty(config)
  const params = readParams(root, config, total)
  return {
    params,
    header: readHeader(root, params, timeForks),
    alloc: readAlloc(root.required('alloc')),
    terminalTotalDifficulty: total,
    timeForks,
    blobSchedule: readBlobSchedule(config),
    depositContract: config.optional('depositContractAddress')?.address() ?? MAINNET_DEPOSITS,
  }
}

/** Block 0 of a genesis, given the state root of its accounts. */
export const gethGenesisBlock = ({ header, timeForks }: GethGenesis, stateRoot: Hex): Block => {
  const active = (name: string): boolean => startsWith(timeForks, header.timestamp, name)
  return blockFromParts(
    {
      ...header,
      sha3Uncles: EMPTY_LIST_HASH,
      stateRoot,
      transactionsRoot: EMPTY_ROOT,
      receiptsRoot: EMPTY_ROOT,
      logsBloom: EMPTY_BLOOM,
      ...(active('shanghai') && { withdrawalsRoot: EMPTY_ROOT }),
      ...(active('cancun') && { parentBeaconBlockRoot: ZERO_HASH }),
      ...(active('prague') && { requestsHash: EMPTY_REQUESTS_HASH }),
    },
    {
      transactions: [],
      proofHeaders: [],
      evidence: [],
      ethereum: {
        uncles: [],
        withdrawals: active('shanghai') ? [] : undefined,
        totalDifficulty: header.difficulty,
      },
    },
  )
}

/** True when a fork is active from block 0 on. */
const startsWith = (forks: readonly TimeFork[], timestamp: number, name: string): boolean =>
  forks.some(fork => fork.name === name && fork.time <= timestamp)

const ADDRESS = /^(?:0x)?([0-9a-f]{40})$/

/** Reads accounts as other clients write them: also addresses without 0x, and amounts as JSON numbers. */
const readAlloc = (value: GenesisValue): ReadonlyMap<Hex, GenesisAccount> => {
  const alloc = new Map<Hex, GenesisAccount>()
  for (const [key, entry] of value.entries()) {
    const [, digits] = ADDRESS.exec(key.toLowerCase()) ?? entry.fail('want an address as the key: 40 hex digits')
    entry.only(['balance', 'nonce', 'code', 'storage', 'secretKey'])
    const nonce = entry.optional('nonce')
    alloc.set(`0x${digits}`, {
      balance: looseAmount(entry.required('balance')),
      nonce: nonce === undefined ? 0 : uint64FromBigint(looseAmount(nonce, MAX_UINT64)),
      ...readContract(entry),
    })
  }
  return alloc
}

const readTotalDifficulty = (config: GenesisValue): bigint | null => {
  const total = config.optional('terminalTotalDifficulty')
  return total === undefined ? null : looseAmount(total)
}

/** Amount that may be a JSON number too. */
const looseAmount = (value: GenesisValue, max?: bigint): bigint =>
  typeof value.value === 'number' ? BigInt(value.integer(0)) : value.amount(max)

const readParams = (root: GenesisValue, config: GenesisValue, total: bigint | null): NetworkParams => {
  const chainId = height(config.required('chainId'))
  const blockGasLimit = looseAmount(root.required('gasLimit'), 2n ** 63n - 1n)
  return {
    ...NETWORKS.devnet,
    devHelpers: false,
    chainId,
    networkId: chainId,
    forks: readBlockForks(config, total),
    blockTimeMs: SLOT_MS,
    ...ethereumGas(blockGasLimit),
    maxBlockExecutionGas: UNBOUNDED_GAS,
    feeShares: { proposerPercent: 0n, minerPercent: 0n, foundationPercent: 0n },
    tips: 'coinbase',
  }
}

const readBlockForks = (config: GenesisValue, total: bigint | null): readonly Fork[] => {
  const heights = new Map<EvmFork, number>()
  for (const [key, value] of config.entries()) {
    if (!FORK_LIKE.test(key) || timeForkOf(key) !== undefined || value.isNull()) continue
    const fork = BLOCK_FORKS[key]
    if (fork === undefined) value.fail('a fork this binary does not know: use a newer one, or take the line out')
    if (fork) heights.set(fork, height(value))
  }
  // A chain that started after the merge sets no block for it.
  if (total === 0n && !heights.has('paris')) heights.set('paris', 0)
  // geth assumes Petersburg together with Constantinople when it is not set.
  const constantinople = heights.get('constantinople')
  if (constantinople !== undefined && !heights.has('petersburg')) heights.set('petersburg', constantinople)
  return EVM_FORKS.slice(1).map(name => ({ name, height: heights.get(name) ?? null }))
}

const readTimeForks = (config: GenesisValue): readonly TimeFork[] => {
  const forks: TimeFork[] = []
  for (const [key, value] of config.entries()) {
    const name = timeForkOf(key)
    if (name !== undefined && !value.isNull()) forks.push({ name, time: height(value) })
  }
  return forks.sort((a, b) => a.time - b.time)
}

const readBlobSchedule = (config: GenesisValue): ReadonlyMap<string, BlobParams> =>
  new Map(
    (config.optional('blobSchedule')?.entries() ?? []).map(([name, value]) => {
      value.only(['target', 'max', 'baseFeeUpdateFraction'])
      const target = value.required('target').integer(0, MAX_BLOBS)
      const max = value.required('max').integer(Math.max(1, target), MAX_BLOBS)
      const fraction = value.required('baseFeeUpdateFraction').integer(1)
      return [name, { target, max, baseFeeUpdateFraction: BigInt(fraction) }]
    }),
  )

const height = (value: GenesisValue): number => Number(looseAmount(value, BigInt(Number.MAX_SAFE_INTEGER)))

const readHeader = (root: GenesisValue, params: NetworkParams, timeForks: readonly TimeFork[]): GenesisHeader => {
  const amount = (key: string): bigint | undefined => {
    const member = root.optional(key)
    return member === undefined || member.isNull() ? undefined : looseAmount(member)
  }
  const number = Number(amount('number') ?? 0n)
  const baseFeePerGas =
    amount('baseFeePerGas') ?? (isActive(params.forks, 'london', number) ? INITIAL_BASE_FEE : undefined)
  const timestamp = Number(amount('timestamp') ?? 0n)
  const blobs = startsWith(timeForks, timestamp, 'cancun')
  return {
    parentHash: root.optional('parentHash')?.word() ?? ZERO_HASH,
    miner: root.optional('coinbase')?.word(20) ?? ZERO_ADDRESS,
    difficulty: amount('difficulty') ?? 0n,
    number,
    gasLimit: params.blockGasLimit,
    gasUsed: amount('gasUsed') ?? 0n,
    timestamp,
    extraData: root.optional('extraData')?.data(FIXTURE_LIMITS.extraDataBytes) ?? EMPTY_BYTES,
    mixHash: root.optional('mixHash')?.word() ?? ZERO_HASH,
    nonce: root.optional('nonce')?.word(8) ?? '0x0000000000000000',
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    ...(blobs && { blobGasUsed: amount('blobGasUsed') ?? 0n, excessBlobGas: amount('excessBlobGas') ?? 0n }),
  }
}
