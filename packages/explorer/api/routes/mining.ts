import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { proofForkHeight, secondsOf } from '../../chain/rules.ts'
import { checksumAddress } from '../../keccak.ts'
import type { BlockRow } from '../../store/sql/rows.ts'
import { type ApiContext, type ApiRoute, tandemOf } from '../api-route.ts'
import { percentOf, roundTo, tokensFromWei } from '../format.ts'
import {
  ADDRESS,
  type ApiSchema,
  arrayOf,
  DECIMAL,
  HASH,
  INTEGER,
  NUMBER,
  nullable,
  shape,
  TEXT,
} from '../json-schema.ts'
import { minersPart, nextHalving, periodOf, rewardOfPeriod } from './economy.ts'
import { proofStats } from './proof-stats.ts'

/** Main blocks the aggregate looks back over. */
const WINDOW_BLOCKS = 3_600
const TOP = 20

const ESTIMATE: Readonly<Record<string, ApiSchema>> = { rewardPerCycle: NUMBER, perDay: NUMBER }

const MINING_SHAPE = shape({
  topMiners: arrayOf(
    shape({
      address: ADDRESS,
      label: nullable(TEXT),
      blocks: INTEGER,
      share: NUMBER,
      rewards: NUMBER,
      rewardsWei: DECIMAL,
      lastBlock: INTEGER,
    }),
  ),
  recentBlocks: arrayOf(
    shape({
      height: INTEGER,
      hash: HASH,
      miner: ADDRESS,
      timestamp: INTEGER,
      difficulty: DECIMAL,
      nonce: TEXT,
      algorithm: TEXT,
      reward: NUMBER,
      mainBlock: INTEGER,
    }),
  ),
  networkStats: shape({
    totalMiners: INTEGER,
    averageBlockTime: nullable(NUMBER),
    height: INTEGER,
    difficulty: nullable(DECIMAL),
    hashrate: nullable(DECIMAL),
    algorithm: TEXT,
    forkBlock: INTEGER,
    blocksToFork: INTEGER,
  }),
  distribution: arrayOf(shape({ address: TEXT, blocks: INTEGER, percent: NUMBER })),
  hourlyProduction: arrayOf(shape({ hour: INTEGER, blocks: INTEGER })),
  blockTimeDist: arrayOf(shape({ bucket: TEXT, from: INTEGER, to: nullable(INTEGER), count: INTEGER })),
  dailyMiners: arrayOf(shape({ date: TEXT, miners: INTEGER, blocks: INTEGER })),
  hashrateTrend: arrayOf(shape({ timestamp: INTEGER, hashrate: DECIMAL, difficulty: DECIMAL })),
  rewardEstimates: shape({
    ...ESTIMATE,
    minerShare: NUMBER,
    perCycle: NUMBER,
    perHour: NUMBER,
    perBlockAverage: NUMBER,
    perHeader: NUMBER,
    nextHalvingBlock: INTEGER,
    after: shape(ESTIMATE),
  }),
})

interface Mined {
  blocks: number
  rewardsWei: bigint
  lastBlock: number
}

/** Blocks and earnings by miner, over blocks newest first. */
const minedBy = (blocks: readonly BlockRow[]): ReadonlyMap<Hex, Mined> => {
  const miners = new Map<Hex, Mined>()
  const minedAt = (address: Hex, number: number): Mined =>
    getOrMake(miners, address, () => ({ blocks: 0, rewardsWei: 0n, lastBlock: number }))
  for (const { miner, minerWei, minerCredits, number } of blocks) {
    for (const { address, amountWei } of minerCredits) minedAt(address, number).rewardsWei += amountWei
    if (miner === ZERO_ADDRESS) continue
    const mined = minedAt(miner, number)
    mined.blocks++
    mined.rewardsWei += minerWei
  }
  return miners
}

const SECONDS_PER_DAY = 86_400
const HOURS_PER_DAY = 24

const estimates = (number: number, context: ApiContext) => {
  const { rewards, proofChain } = tandemOf(context)
  const cyclesPerDay = SECONDS_PER_DAY / secondsOf(rewards.cycleBlocks, context.rules)
  const { nextBlock, nextWei } = nextHalving(number, rewards)
  const cycleWei = rewardOfPeriod(periodOf(number, rewards), rewards)
  const perCycle = tokensFromWei(minersPart(cycleWei, rewards))
  const perDay = (wei: bigint): number => roundTo(tokensFromWei(minersPart(wei, rewards)) * cyclesPerDay, 6)
  return {
    rewardPerCycle: tokensFromWei(cycleWei),
    perDay: perDay(cycleWei),
    minerShare: Number(rewards.minersPercent) / 100,
    perCycle,
    perHour: roundTo(perDay(cycleWei) / HOURS_PER_DAY, 6),
    perBlockAverage: roundTo(perCycle / rewards.cycleBlocks, 6),
    perHeader: roundTo((perCycle / rewards.cycleBlocks) * proofChain.spacingBlocks, 6),
    nextHalvingBlock: nextBlock,
    after: { rewardPerCycle: tokensFromWei(nextWei), perDay: perDay(nextWei) },
  }
}

export const miningBody = async (context: ApiContext) => {
  const { index, rules, source } = context
  const tandem = tandemOf(context)
  const head = (await source.headNumber()) ?? 0
  const { items } = await index.blocks({ limit: WINDOW_BLOCKS, offset: 0, after: null })
  const miners = [...minedBy(items)].sort(([a, x], [b, y]) => y.blocks - x.blocks || (a < b ? -1 : 1))
  const blocks = miners.reduce((sum, [, mined]) => sum + mined.blocks, 0)
  const share = (count: number): number => percentOf(BigInt(count), BigInt(blocks))
  const top = miners.slice(0, TOP)
  const others = miners.slice(TOP).reduce((sum, [, mined]) => sum + mined.blocks, 0)
  const rewardEstimates = estimates(head, context)
  const proofs = await proofStats(context, {
    head: { number: head, timestamp: items[0]?.timestamp ?? 0 },
    rewardPerHeader: rewardEstimates.perHeader,
    spacingSeconds: secondsOf(tandem.proofChain.spacingBlocks, rules),
  })
  const height = proofs.newest?.height ?? 0
  const fork = proofForkHeight(tandem)
  const forkBlock = fork ?? 0
  return {
    topMiners: await Promise.all(
      top.map(async ([address, mined]) => ({
        address: checksumAddress(address),
        label: (await index.label(address)) ?? null,
        blocks: mined.blocks,
        share: share(mined.blocks),
        rewards: tokensFromWei(mined.rewardsWei),
        rewardsWei: mined.rewardsWei.toString(),
        lastBlock: mined.lastBlock,
      })),
    ),
    recentBlocks: proofs.recentBlocks,
    networkStats: {
      totalMiners: miners.length,
      averageBlockTime: proofs.averageBlockTime,
      height,
      difficulty: proofs.newest?.difficulty.toString() ?? null,
      hashrate: proofs.hashrate,
      algorithm:
        proofs.newest?.algorithm ?? (fork !== null && fork <= 1 ? tandem.proofChain.after : tandem.proofChain.before),
      forkBlock,
      blocksToFork: Math.max(0, forkBlock - height),
    },
    distribution: [
      ...top.map(([address, mined]) => ({
        address: checksumAddress(address),
        blocks: mined.blocks,
        percent: share(mined.blocks),
      })),
      ...(others > 0 ? [{ address: 'others', blocks: others, percent: share(others) }] : []),
    ],
    hourlyProduction: proofs.hourlyProduction,
    blockTimeDist: proofs.blockTimeDist,
    dailyMiners: proofs.dailyMiners,
    hashrateTrend: proofs.hashrateTrend,
    rewardEstimates,
  }
}

export const miningRoutes: readonly ApiRoute[] = [
  {
    path: '/api/mining',
    summary: 'Beneficiaries of the newest blocks, estimates of their rewards, and statistics of the proof chain',
    result: MINING_SHAPE,
    needsIndex: true,
    handler: context => miningBody(context),
  },
]
