import type { Hex } from '@tandem/base/bytes.ts'
import { EVM_FORKS, type EvmFork, isForkSince } from '../../src/config/forks.ts'
import { GETH_HEADER_MEMBERS } from '../recorded/geth-genesis.ts'
import { forkFromName } from '../state-test/fork.ts'

/** Block of a test; the members used here. */
interface TestBlock {
  readonly rlp: Hex
  /** Alternatives joined by `|`: the block must be refused for one of them. */
  readonly expectException?: string
}

/** Public blockchain test (execution-spec-tests); the members used here. */
export interface BlockTest {
  readonly network: string
  readonly genesisBlockHeader: Readonly<Record<string, string>> & { readonly hash: Hex }
  readonly pre: Readonly<Record<string, object>>
  readonly blocks: readonly TestBlock[]
  readonly lastblockhash: Hex
  readonly config?: { readonly chainid?: string; readonly blobSchedule?: Readonly<Record<string, object>> }
}

/** Geth's names of the forks that start at a block. */
const BLOCK_NAMES: Partial<Readonly<Record<EvmFork, readonly string[]>>> = {
  homestead: ['homesteadBlock'],
  tangerineWhistle: ['eip150Block'],
  spuriousDragon: ['eip155Block', 'eip158Block'],
  byzantium: ['byzantiumBlock'],
  constantinople: ['constantinopleBlock'],
  petersburg: ['petersburgBlock'],
  istanbul: ['istanbulBlock'],
  berlin: ['berlinBlock'],
  london: ['londonBlock'],
}
/** End of the name of a network that changes its fork, after that fork. */
const TRANSITION = /AtTime(\d{1,6})k$/
/** Blob parameters alone change, at a time of their own. */
const BPO = /^BPO[1-5]$/

/** Members of a geth-style configuration for a fork and those before it. */
const forksUpTo = (fork: EvmFork, time: number): object => {
  const members: [string, number][] = []
  for (const name of EVM_FORKS) {
    if (!isForkSince(fork, name)) break
    if (name === 'paris') members.push(['terminalTotalDifficulty', 0])
    else if (isForkSince(name, 'shanghai')) members.push([`${name}Time`, name === fork ? time : 0])
    else for (const member of BLOCK_NAMES[name] ?? []) members.push([member, 0])
  }
  return Object.fromEntries(members)
}

/** undefined: unknown network. */
const forksOf = (network: string): object | undefined => {
  const [ending = '', thousands = '0'] = TRANSITION.exec(network) ?? []
  const last = ending === '' ? network : network.slice(network.indexOf('To') + 2, -ending.length)
  const time = Number(thousands) * 1_000
  if (BPO.test(last)) return { ...forksUpTo('osaka', 0), [`${last.toLowerCase()}Time`]: time }
  const fork = forkFromName(last)
  return fork && forksUpTo(fork, time)
}

const blobScheduleOf = ({ config }: BlockTest): object =>
  Object.fromEntries(
    Object.entries(config?.blobSchedule ?? {}).map(([name, values]) => [
      name.toLowerCase(),
      Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Number(value)])),
    ]),
  )

/** Geth-style genesis file of a test; undefined: unknown network. */
export const genesisTextOf = (test: BlockTest): string | undefined => {
  const forks = forksOf(test.network)
  if (forks === undefined) return undefined
  const header = test.genesisBlockHeader
  return JSON.stringify({
    config: { chainId: Number(test.config?.chainid ?? 1), ...forks, blobSchedule: blobScheduleOf(test) },
    ...Object.fromEntries(
      GETH_HEADER_MEMBERS.flatMap(name => (header[name] === undefined ? [] : [[name, header[name]]])),
    ),
    alloc: test.pre,
  })
}
