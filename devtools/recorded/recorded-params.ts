import { type BlobFork, type BlobParams, ETHEREUM_BLOBS, type Fork } from '../../src/config/forks.ts'
import type { Genesis, GenesisStyle } from '../../src/config/genesis/genesis.ts'
import { ethereumGas, type NetworkParams, UNBOUNDED_GAS } from '../../src/config/networks.ts'

/** Fields of a recorded header that determine forks and limits. */
export interface RecordedHeader {
  readonly number: number
  readonly timestamp: number
  readonly difficulty: bigint
  readonly gasLimit: bigint
}

export type GethStyle = Extract<GenesisStyle, { readonly format: 'geth' }>

/** First recorded block at or after a time. */
const heightAt = (headers: readonly RecordedHeader[], time: number): number | null =>
  headers.find(({ timestamp }) => timestamp >= time)?.number ?? null

/** First block whose parent has reached the terminal difficulty of proof of work (EIP-3675). */
const mergeHeight = (headers: readonly RecordedHeader[], terminal: bigint | null): number | null => {
  if (terminal === null) return null
  let total = 0n
  for (const { number, difficulty } of headers) {
    if (total >= terminal) return number
    total += difficulty
  }
  return null
}

/** Values that a genesis does not set are Ethereum's own. */
const blobForksOf = (
  { timeForks, blobSchedule }: Pick<GethStyle, 'timeForks' | 'blobSchedule'>,
  headers: readonly RecordedHeader[],
): readonly BlobFork[] =>
  timeForks.flatMap(({ name, time }) => {
    const known: Readonly<Record<string, BlobParams>> = ETHEREUM_BLOBS
    const blobParams = blobSchedule.get(name) ?? known[name]
    const height = heightAt(headers, time)
    return blobParams === undefined || height === null ? [] : [{ height, ...blobParams }]
  })

/**
 * Rules of a recorded chain, with `headers` from genesis on: forks that a genesis sets by difficulty or by time start at the block
 * where the record reaches them, so that execution depends on height alone.
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
    ...ethereumGas(blockGasLimit),
    maxBlockExecutionGas: UNBOUNDED_GAS,
  }
}
