import { type BlobParams, ETHEREUM_BLOBS } from '../blobs.ts'
import type { BlobFork, Fork } from '../forks.ts'
import type { Genesis, GenesisStyle } from '../genesis.ts'
import { type NetworkParams, UNBOUNDED_GAS } from '../networks.ts'

/** Of a recorded header what forks and limits depend on. */
export interface RecordedHeader {
  readonly number: number
  readonly timestamp: number
  readonly difficulty: bigint
  readonly gasLimit: bigint
}

export type GethStyle = Extract<GenesisStyle, { readonly format: 'geth' }>

/** The first recorded block at or after a time. */
const heightAt = (headers: readonly RecordedHeader[], time: number): number | null =>
  headers.find(({ timestamp }) => timestamp >= time)?.number ?? null

/** The first block whose parent has reached the difficulty at which proof of work ends (EIP-3675). */
const mergeHeight = (headers: readonly RecordedHeader[], terminal: bigint | null): number | null => {
  if (terminal === null) return null
  let total = 0n
  for (const { number, difficulty } of headers) {
    if (total >= terminal) return number
    total += difficulty
  }
  return null
}

/** Figures that a genesis does not name are Ethereum's own. */
const blobForksOf = (
  { timeForks, blobSchedule }: Pick<GethStyle, 'timeForks' | 'blobSchedule'>,
  headers: readonly RecordedHeader[],
): readonly BlobFork[] =>
  timeForks.flatMap(({ name, time }) => {
    const known: Readonly<Record<string, BlobParams>> = ETHEREUM_BLOBS
    const figures = blobSchedule.get(name) ?? known[name]
    const height = heightAt(headers, time)
    return figures === undefined || height === null ? [] : [{ height, ...figures }]
  })

/**
 * The rules of a recorded chain, of which `headers` are all headers from genesis on: forks that a genesis gives by difficulty or by
 * time begin at the block where the record reaches them, so that everything that executes goes by height alone.
 */
export const paramsFromRecord = (
  { params }: Pick<Genesis, 'params'>,
  style: Pick<GethStyle, 'timeForks' | 'terminalTotalDifficulty' | 'blobSchedule'>,
  headers: readonly RecordedHeader[],
): NetworkParams => {
  const { timeForks, terminalTotalDifficulty } = style
  const byTime = new Map(timeForks.map(({ name, time }) => [name, heightAt(headers, time)]))
  const heightOf = ({ name, height }: Fork): number | null => {
    if (name === 'paris') return mergeHeight(headers, terminalTotalDifficulty)
    return byTime.get(name) ?? height
  }
  const blockGasLimit = headers.at(-1)?.gasLimit ?? params.blockGasLimit
  return {
    ...params,
    forks: params.forks.map(fork => ({ name: fork.name, height: heightOf(fork) })),
    blobForks: blobForksOf(style, headers),
    blockGasLimit,
    maxTxExecutionGas: blockGasLimit,
    maxBlockExecutionGas: UNBOUNDED_GAS,
    baseFee: { ...params.baseFee, gasTarget: blockGasLimit / 2n, maxBlockGasUsed: blockGasLimit },
  }
}
