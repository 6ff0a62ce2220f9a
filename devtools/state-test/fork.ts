import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { type BlobParams, EVM_FORKS, type EvmFork, isForkSince } from '../../src/config/forks.ts'
import { type ChainParams, NETWORKS } from '../../src/config/networks.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import type { BlobEnv, BlockEnv } from '../../src/evm/block-env.ts'
import { blobBaseFee } from '../../src/rules/money/blob-fee.ts'
import { ETHEREUM_BLOBS, ethereumGas, forksAtGenesis } from '../ethereum-params.ts'
import type { Fixture } from './fixture.ts'

/** Names of forks in the suites that differ from this node's. Those that only change blob parameters use Osaka's rules. */
const FORK_NAMES: Readonly<Record<string, EvmFork>> = {
  EIP150: 'tangerineWhistle',
  EIP158: 'spuriousDragon',
  ConstantinopleFix: 'petersburg',
  Merge: 'paris',
  BPO1: 'osaka',
  BPO2: 'osaka',
}

/** undefined: unknown fork. */
export const forkFromName = (name: string): EvmFork | undefined => {
  const own = name.charAt(0).toLowerCase() + name.slice(1)
  return FORK_NAMES[name] ?? EVM_FORKS.find(fork => fork === own)
}

const params = new Map<EvmFork, ChainParams>()

/** Ethereum's own rules at a fork: chain id 1, calldata and precompiles at the fork's prices, no bound on one transaction, no fee shares. */
export const ethereumParams = (fork: EvmFork): ChainParams => {
  let found = params.get(fork)
  if (found === undefined) {
    found = {
      ...NETWORKS.devnet,
      chainId: 1,
      forks: forksAtGenesis(fork),
      ...ethereumGas(NETWORKS.devnet.blockGasLimit),
      maxBlockExecutionGas: 2n ** 65n,
      feeShares: { proposerPercent: 0n, minerPercent: 0n, foundationPercent: 0n },
      tips: 'coinbase',
    }
    params.set(fork, found)
  }
  return found
}

/** Parameters from the file, else Ethereum's; undefined before Cancun. */
const blobParamsOf = ({ config }: Fixture, forkName: string): BlobParams | undefined => {
  const named = config?.blobSchedule?.[forkName]
  if (named === undefined)
    return new Map<string, BlobParams>(Object.entries(ETHEREUM_BLOBS)).get(forkName.toLowerCase())
  const { target, max, baseFeeUpdateFraction } = named
  return { target: Number(target), max: Number(max), baseFeeUpdateFraction: BigInt(baseFeeUpdateFraction) }
}

const blobsOf = (fixture: Fixture, forkName: string): BlobEnv | undefined => {
  const blobs = blobParamsOf(fixture, forkName)
  if (blobs === undefined) return undefined
  const excess = BigInt(fixture.env.currentExcessBlobGas ?? 0)
  return { baseFeePerGas: blobBaseFee(excess, blobs), maxPerBlock: blobs.max }
}

/** Returns the block environment of a test at a fork. */
export const envFromTest = (fixture: Fixture, forkName: string, fork: EvmFork): BlockEnv => {
  const { env } = fixture
  const miner = env.currentCoinbase.toLowerCase() as Hex
  const randao = isForkSince(fork, 'paris') ? env.currentRandom : env.currentDifficulty
  const blobs = blobsOf(fixture, forkName)
  return {
    params: ethereumParams(fork),
    number: Number(BigInt(env.currentNumber)),
    timestamp: Number(BigInt(env.currentTimestamp)),
    gasLimit: BigInt(env.currentGasLimit),
    baseFeePerGas: isForkSince(fork, 'london') ? BigInt(env.currentBaseFee ?? 0) : 0n,
    miner,
    proposerReward: miner,
    foundation: miner,
    prevRandao: toWord(BigInt(randao ?? 0)),
    ...(blobs !== undefined && { blobs }),
    // By the suites' convention: the hash of the number's decimal text.
    blockHash: number => keccak256Hex(Buffer.from(String(number))),
  }
}
