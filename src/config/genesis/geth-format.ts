import { EMPTY_BYTES, type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { type BlobParams, EVM_FORKS, type EvmFork, type Fork, isActive, isForkSince } from '../forks.ts'
import { ethereumGas, INITIAL_BASE_FEE, NETWORKS, type NetworkParams, UNBOUNDED_GAS } from '../networks.ts'
import { GENESIS_BOUNDS } from '../protocol-bounds.ts'
import { readAlloc } from './alloc.ts'
import type { GenesisValue } from './json-reader.ts'
import type { Genesis, GenesisHeaderFields, TimeFork } from './types.ts'

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

/** Parses geth's genesis file (also Hardhat's, Besu's and the test suites'), for chains of other clients. Throws GENESIS_INVALID. */
export const parseGethGenesis = (root: GenesisValue): Genesis => {
  root.only(MEMBERS)
  const config = root.required('config')
  const timeForks = readTimeForks(config)
  const total = config.optional('terminalTotalDifficulty')?.looseAmount() ?? null
  const params = readParams(root, config, total)
  return {
    style: {
      format: 'geth',
      extraData: root.optional('extraData')?.data(GENESIS_BOUNDS.extraDataBytes) ?? EMPTY_BYTES,
      terminalTotalDifficulty: total,
      timeForks,
      blobSchedule: readBlobSchedule(config),
      depositContract: config.optional('depositContractAddress')?.address() ?? MAINNET_DEPOSITS,
      document: root.value,
    },
    params,
    header: readHeader(root, params, timeForks),
    alloc: readAlloc(root.required('alloc'), { loose: true }),
    council: [],
    foundation: ZERO_ADDRESS,
  }
}

const readParams = (root: GenesisValue, config: GenesisValue, total: bigint | null): NetworkParams => {
  const chainId = Number(config.required('chainId').looseAmount(BigInt(Number.MAX_SAFE_INTEGER)))
  const blockGasLimit = root.required('gasLimit').looseAmount(2n ** 63n - 1n)
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

const height = (value: GenesisValue): number => Number(value.looseAmount(BigInt(Number.MAX_SAFE_INTEGER)))

const readHeader = (root: GenesisValue, params: NetworkParams, timeForks: readonly TimeFork[]): GenesisHeaderFields => {
  const amount = (key: string): bigint | undefined => {
    const member = root.optional(key)
    return member === undefined || member.isNull() ? undefined : member.looseAmount()
  }
  const number = Number(amount('number') ?? 0n)
  const baseFeePerGas =
    amount('baseFeePerGas') ?? (isActive(params.forks, 'london', number) ? INITIAL_BASE_FEE : undefined)
  const timestamp = Number(amount('timestamp') ?? 0n)
  const blobs = timeForks.some(fork => fork.name === 'cancun' && fork.time <= timestamp)
  return {
    parentHash: root.optional('parentHash')?.word() ?? ZERO_HASH,
    miner: root.optional('coinbase')?.word(20) ?? ZERO_ADDRESS,
    difficulty: amount('difficulty') ?? 0n,
    number,
    gasLimit: params.blockGasLimit,
    gasUsed: amount('gasUsed') ?? 0n,
    timestamp,
    mixHash: root.optional('mixHash')?.word() ?? ZERO_HASH,
    nonce: root.optional('nonce')?.word(8) ?? '0x0000000000000000',
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    ...(blobs && { blobGasUsed: amount('blobGasUsed') ?? 0n, excessBlobGas: amount('excessBlobGas') ?? 0n }),
  }
}
